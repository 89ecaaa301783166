"""Studies: that each is whole, that its definition runs, and what the command says of one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from overlay.systems.registry import SYSTEMS
from telemetry.__main__ import main
from telemetry.cli.study import orders_of
from telemetry.errors import TelemetryError
from telemetry.measures import COMMON, declared
from telemetry.statistics.intervals import COUNT
from telemetry.studies import judging, telling
from telemetry.studies.criteria import NOT_JUDGED, REPRODUCED, UNKNOWN, VERDICTS, are_at_least
from telemetry.studies.drawing import charts
from telemetry.studies.study import PAPER, QUICK, SCALES, Claim, Plot, Row, Rows, Source, Study, X, mean, where
from telemetry.sweep.batch import Batch
from telemetry.sweep.processes import in_processes
from telemetry.systems.registry import measures_of, studies, study_called

HERE = Path(__file__).parent
EXPECTED = ("4.3", "4.4", "4.5", "4.6", "4.7", *(f"E0.{number}" for number in range(1, 11)))
LARGE = ("E0.1", "E0.8")
"""Whose whole takes long to draw."""
SPEC = """
name: Rings
engine: simulated
settings: {replication: none}
simulation: {service_times: none}
workload: {providers: 2, consumers: 4, request_interval_s: 1, duration_s: 20, stagger_ms: 10, assignment: random}
topology: {kind: ring, brokers: 3, params: {delay_ms: 1}}
replicates: 3
seed: 3
blocks:
  - topology: [{kind: ring, brokers: 3, params: {delay_ms: 1}}, {kind: ring, brokers: 5, params: {delay_ms: 1}}]
quick: {replicates: 2, workload: {duration_s: 5}}
quick_is: Five seconds.
"""


def _asked(rows: Rows) -> Mapping[str, float]:
    return {f"{row.brokers} brokers": row.measures["requests"] for row in rows}


def _response(rows: Rows) -> Mapping[tuple[str, X], float]:
    return {("ring", float(row.brokers)): row.measures["mean"] for row in rows}


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    """A small one, known to the command."""
    path = tmp_path / "rings.yaml"
    path.write_text(SPEC)
    table = (Row("ring", 3, {}, {}, {"mean": 1234.0, "answer_ratio": 1.0, "requests": 1000}),)
    made = Study(
        "T.1",
        "Rings",
        "Are rings asked?",
        path,
        (Plot("response", "Response time", {"label": "Brokers"}, {"label": "Response", "unit": "µs"}, _response),),
        (
            Claim(
                "answers",
                "They do.",
                "At least 20 requests are made.",
                "At least 10.",
                _asked,
                are_at_least(20, 10),
                "2026-11-25",
                "requests",
                COUNT,
                source=Source("Table 1"),
            ),
        ),
        published=lambda: table,
        system="context-broker",
    )
    monkeypatch.setattr("telemetry.systems.registry.studies", lambda: {made.id: made})
    return made


def test_every_study_of_seed_000_is_there() -> None:
    assert tuple(one.id for one in studies().values() if SYSTEMS[one.system].seed == "000") == EXPECTED


@pytest.mark.parametrize("study", studies().values(), ids=studies())
def test_no_study_names_a_place_of_its_paper_twice(study: Study) -> None:
    assert len(set(study.sources)) == len(study.sources)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_study_says_what_it_asks_and_when_its_criteria_were_written(name: str) -> None:
    study = studies()[name]
    assert study.question.endswith("?")
    assert study.claims and study.plots
    assert study.says and study.sources
    assert study.quick_differs.endswith(".")
    for claim in study.claims:
        assert all(text for text in (claim.id, claim.unit, claim.written))
        assert all(text.endswith(".") for text in (claim.claim, claim.criterion, claim.shape))


@pytest.mark.parametrize("name", EXPECTED)
def test_its_definition_is_accepted_and_quick_is_the_smaller_one(name: str) -> None:
    study = studies()[name]
    quick = orders_of(study, QUICK)
    assert {order.configuration["engine"] for order in quick} == {"simulated"}
    assert len({order.replicate for order in quick}) >= 3, "an interval of two seeds says little"
    if name not in LARGE:
        assert len(orders_of(study, PAPER)) > len(quick)


def test_the_table_is_run_whole_at_the_scale_of_the_paper() -> None:
    orders = orders_of(studies()["E0.1"], PAPER)
    usual = {order.run.split("-")[0] for order in orders if order.configuration["workload"]["duration_s"] == 180}
    assert len(usual) == 251
    assert len({order.replicate for order in orders}) == 10


def test_nothing_run_says_not_known_next_to_the_published_values() -> None:
    for study in studies().values():
        document = telling.document(judging.judge(study, QUICK, (), 1), "")
        assert {row["verdict"] for row in document["claims"]} <= {UNKNOWN, NOT_JUDGED}
        assert all(row["id"] and row["quantity"].endswith(")") for row in document["claims"])
        assert len({row["id"] for row in document["claims"]}) == len(document["claims"])


def test_the_command_runs_a_study_and_says_it_twice_the_same(
    study: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = ["study", "T.1", "--json", "--var", str(tmp_path / "var")]
    assert main(told) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["study"], found["scale"], found["seeds"]) == ("T.1", "quick", 2)
    assert [(row["id"], row["published"], row["verdict"]) for row in found["claims"]] == [
        ("answers/3-brokers", 1000, REPRODUCED),
        ("answers/5-brokers", None, REPRODUCED),
        ("response/ring/3", 1234.0, NOT_JUDGED),
        ("response/ring/5", None, NOT_JUDGED),
    ]
    for row in found["claims"]:
        assert row["low"] <= row["value"] <= row["high"]
        assert row["n"] == 2
    assert found["claims"][2]["quantity"] == "Response, ring, 3 brokers (µs)"
    assert main(told) == 0
    again = json.loads(capsys.readouterr().out)
    assert again == found, "of what was kept the same comes out"
    assert len(found["digest"]) == 32


def test_the_command_prints_values_next_to_the_published_ones(
    study: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["study", "T.1", "--var", str(tmp_path / "var")]) == 0
    text = capsys.readouterr().out
    assert "REPRODUCED: They do." in text
    assert "criterion: At least 20 requests are made." in text
    assert "1,234" in text and "Five seconds." in text

    assert main(["study", "T.1", "--markdown", "--var", str(tmp_path / "var")]) == 0
    page = capsys.readouterr().out
    assert page.startswith(
        "## T.1: Rings\n\nAre rings asked?\n\nScale quick, 2 seeds, simulated, not measured live, digest `"
    )
    (judged,) = [line for line in page.splitlines() if line.startswith("| They do. | **reproduced** | 3 brokers: ")]
    assert judged.endswith(" | 1,000 |")
    assert "| Response time | Response, ring, 3 brokers (µs) | " in page


def test_the_command_lists_studies_and_refuses_an_id_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed][: len(EXPECTED)] == list(EXPECTED)
    assert main(["study", "9.9"]) == 2
    assert "there is none with the id or name '9.9'; the nearest are E4.9, E2.9, E0.9" in capsys.readouterr().err
    assert main(["study", "something else"]) == 2
    assert "'something else'; there are 4.3, 4.4, " in capsys.readouterr().err


def test_a_study_has_the_names_of_its_contract(capsys: pytest.CaptureFixture[str]) -> None:
    assert study_called("E2.4") == study_called("silbops-change-network")
    assert {study_called(name).id for name in ("E1.1-loaded", "E1.1-queries")} == {"E1.1"}
    assert study_called("E1.1-saturation").id == "E1.1-calibrated"
    assert main(["study"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("E4.1 ")]
    assert line.endswith("? (E4.1-inbound, E4.1-time)")
    assert main(["study", "--json"]) == 0
    listed = {one["study"]: one["names"] for one in json.loads(capsys.readouterr().out)}
    assert (listed["E2.3"], listed["4.3"]) == (["silbops-change-width"], [])


def test_two_systems_cannot_have_one_id(monkeypatch: pytest.MonkeyPatch) -> None:
    class Twin(type(SYSTEMS["context-broker"])):  # type: ignore[misc]
        name = "twin"
        telemetry = "telemetry.systems.context_broker.system:ContextBrokerTelemetry"

    monkeypatch.setitem(SYSTEMS, "twin", Twin())
    with pytest.raises(TelemetryError, match=r"both have a study 4\.3"):
        studies()


def test_a_chart_has_a_published_and_a_simulated_series(study: Study) -> None:
    rows = [
        Row("ring", n, {}, {}, {"mean": 1000.0 + seed, "answer_ratio": 1.0, "requests": 29}, seed, str(n))
        for seed in (1, 2)
        for n in (3, 5)
    ]
    (chart,) = charts(judging.judge(study, QUICK, rows, 2))
    assert [(one["name"], one["role"], len(one["points"])) for one in chart["series"]] == [
        ("ring, published", "published", 1),
        ("ring, simulated", "simulated", 2),
    ]


def test_rows_are_chosen_by_their_fields_and_lack_what_was_not_measured() -> None:
    rows = [Row("ring", 3, {"search": "walk"}, {"providers": n}, {"mean": 10.0 * n}) for n in (1, 2, 3)]
    assert mean(where(rows, search="walk", providers=(1, 3)), "mean") == 20.0
    with pytest.raises(KeyError):
        mean(where(rows, providers=9), "mean")
    with pytest.raises(KeyError):
        mean(rows, "hops")


def test_systems_declare_their_measures_and_a_simulated_run_has_the_same_names() -> None:
    from overlay.sim.summary import MEASURES

    assert tuple(one.declared for one in COMMON.values()) != ()
    for system in SYSTEMS.values():
        names = {one.declared for one in measures_of(system.name).values()}
        assert names == {*MEASURES, *system.measure_names}
        assert all(one.definition.endswith(".") for one in measures_of(system.name).values())
    assert set(VERDICTS) >= {REPRODUCED} and SCALES == (QUICK, PAPER)
    assert declared({"mean": 3.0}, COMMON.values())["mean_us"] == 3.0
    assert declared({}, COMMON.values())["p95_us"] is None


def test_a_study_that_is_stopped_prints_no_values_and_goes_on_later(
    study: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = ["study", "T.1", "--json", "--var", str(tmp_path / "var")]

    def stopped(batch: Batch) -> None:
        batch.stop(batch.runs[0])
        in_processes(batch)

    monkeypatch.setattr("telemetry.cli.sweep.in_processes", stopped)
    assert main(told) == 130
    output = capsys.readouterr()
    assert output.out == ""
    assert "Stopped with 3 of 4 runs done" in output.err
    monkeypatch.undo()
    monkeypatch.setattr("telemetry.systems.registry.studies", lambda: {study.id: study})
    assert main(told) == 0
    assert json.loads(capsys.readouterr().out)["seeds"] == 2
