"""``python -m overlay simulate``: a specification in, what came of it out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from overlay.__main__ import main
from overlay.experiment.definition import checked
from overlay.experiment.files import parse_definition
from overlay.experiment.inline import separated
from overlay.journal.journal import read_journal
from tests.thorough import examples, thoroughly

LONG = ("scale", "radiator-faults")
EXAMPLES = [
    pytest.param(path, marks=thoroughly if path.stem in LONG else (), id=path.stem)
    for path in sorted((Path(__file__).parents[2] / "docs" / "examples").glob("*.yaml"))
]
SPEC = {
    "topology": {"kind": "ring", "brokers": 5, "params": {"delay_ms": 2}},
    "settings": {"replication": "none"},
    "workload": {
        "providers": 1,
        "consumers": 10,
        "update_interval_s": 1,
        "request_interval_s": 1,
        "duration_s": 5,
        "stagger_ms": 10,
    },
    "simulation": {"service_times": "none"},
}


SMALL = {
    "brokers": examples(600),
    "providers": examples(600),
    "scopes": examples(600),
    "consumers": 5,
    "clients": examples(200),
    "nodes": examples(200),
    "subscribers": examples(200),
    "queries": 2_400,
}


def written(directory: Path, spec: object) -> str:
    path = directory / "spec.yaml"
    path.write_text(yaml.safe_dump(spec))
    return str(path)


def test_the_table_says_what_came_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", written(tmp_path, SPEC)]) == 0
    shown = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()[1:])
    assert shown["requests"].strip() == "50"
    assert shown["answered"].strip() == "50"
    assert "per answer" in shown["hops"]
    assert len(shown["digest"].strip()) == 32


@pytest.mark.parametrize(
    ("workload", "asked"),
    [({"queries": 20}, True), ({"kind": "stream", "queries": 0, "subscriptions": 5, "notifications": 20}, False)],
)
def test_the_table_has_what_a_system_measures_beyond_requests(
    workload: dict[str, object], asked: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = {"providers": 2, "consumers": 2, "scopes": 2, "rate_per_s": 20, "stagger_ms": 10, **workload}
    spec = {"system": "federation", "workload": few, "simulation": {"service_times": "none"}}
    assert main(["simulate", written(tmp_path, spec)]) == 0
    shown = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()[1:])
    assert (shown["lost"], shown["duplicates"]) == ("0", "0")
    assert int(shown["owed"]) > 0
    assert ("requests" in shown, "satisfied" in shown) == (asked, True)


def test_seeds_and_replicates_are_other_runs_and_repeat_exactly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def digest(*flags: str) -> str:
        assert main(["simulate", written(tmp_path, SPEC), "--json", *flags]) == 0
        return str(json.loads(capsys.readouterr().out)["digest"])

    assert digest() == digest("--replicate", "0") == digest("--seed", "0")
    assert len({digest(), digest("--seed", "1"), digest("--replicate", "1")}) == 3


def test_the_body_of_a_live_experiment_is_simulated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def told(**changes: object) -> dict:
        assert main(["simulate", written(tmp_path, {**SPEC, **changes}), "--json"]) == 0
        return dict(json.loads(capsys.readouterr().out))

    assert told(engine="live", report_when_done=True)["digest"] == told()["digest"]


def test_journal_and_summary_are_kept_where_wanted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", written(tmp_path, SPEC), "--out", str(tmp_path / "out"), "--json"]) == 0
    assert json.loads((tmp_path / "out" / "summary.json").read_text()) == json.loads(capsys.readouterr().out)
    assert list(read_journal(tmp_path / "out" / "journal" / "simulation.journal"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"workload": {"consumers": [1, 2]}}, "python -m telemetry sweep"),
        ({"engine": "quantum"}, "engine: must be one of "),
        ({"record_mb": ""}, "record_mb: "),
        ({"topology": {"kind": "knot", "brokers": 3}}, "topology.kind: "),
        ({"workload": {"customers": 3}}, "workload.customers: "),
        ({"colour": 3}, "colour: is not known"),
        ({"seed": -1}, "seed: "),
    ],
)
def test_what_is_wrong_is_one_line(
    tmp_path: Path, changes: dict, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["simulate", written(tmp_path, {**SPEC, **changes})])
    shown = capsys.readouterr()
    assert (ended.value.code, shown.out, shown.err.count("\n")) == (2, "", 1)
    assert words in shown.err


def test_a_file_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["simulate", str(tmp_path / "nothing.yaml")])
    assert ended.value.code == 2
    assert "nothing.yaml: No such file" in capsys.readouterr().err


def test_a_run_that_fails_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deaf = {"kind": "ring", "brokers": 3, "params": {"loss": 1}}
    assert main(["simulate", written(tmp_path, {**SPEC, "topology": deaf})]) == 1
    assert "could not join" in capsys.readouterr().err


@pytest.mark.parametrize("path", EXAMPLES)
def test_every_example_is_right_and_those_of_one_configuration_run(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = parse_definition(path.read_bytes())
    topology = spec.get("topology", {})
    if isinstance(topology, dict):
        for size in (spec["workload"], topology):  # of those that are large, in little
            size |= {name: min(size[name], most) for name, most in SMALL.items() if name in size}
    _, found = checked(*separated({"name": path.stem, "engine": "simulated", **spec}))
    if len(found) > 1:
        return
    spec["simulation"] = {"service_times": "none"}
    assert main(["simulate", written(tmp_path, spec), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    without_requests = ("pairs_delivered", "satisfied", "deliveries")
    delivered = [found["measures"].get(name) for name in without_requests]
    assert found["answered"] > 0 or any(delivered)
