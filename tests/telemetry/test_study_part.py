"""What a report says of the studies whose runs it has."""

from __future__ import annotations

from telemetry.lake.configurations import ChosenRun, choose
from telemetry.reports import study_part
from telemetry.reports.html import render
from telemetry.studies.criteria import REPRODUCED, UNKNOWN
from telemetry.studies.judging import NOTHING, Value


def run(consumers: int, seed: int, study: str = "4.7") -> ChosenRun:
    """One of four brokers in a ring, as the study has them; a little slower with each seed."""
    manifest = {
        "system": "context-broker",
        "engine": "simulated",
        "seed": seed,
        "topology": {"name": "ring-4", "kind": "ring", "brokers": 4},
        "settings": {"arm": "unstructured"},
        "workload": {"providers": 1, "consumers": consumers, "duration_s": 180.0},
        "summary": {"mean": 800.0 + seed},
    }
    return choose({"run": f"{consumers}-{seed}", "study": study, "scale": "quick"}, manifest)


def runs(seeds: int) -> list[ChosenRun]:
    return [run(consumers, seed) for consumers in (50, 150, 300) for seed in range(seeds)]


def test_runs_of_a_study_are_judged_by_it_in_their_report() -> None:
    found = study_part.results(runs(3))
    (document,) = study_part.documents(found)
    assert (document["study"], document["scale"], document["seeds"]) == ("4.7", "quick", 3)
    assert [row["verdict"] for row in document["criteria"]] == [REPRODUCED]
    (chart,) = study_part.charts(found)
    assert chart["id"] == "study-4.7-response"


def test_the_file_of_a_report_has_the_verdicts_values_and_chart_of_its_study() -> None:
    found = study_part.results(runs(3))
    result = {"title": "", "configurations": [], "notes": [], "provenance": {"runs": []}}
    file = render({**result, "charts": study_part.charts(found), "studies": study_part.documents(found)})
    assert "<h2>Study 4.7:" in file
    assert f'">{REPRODUCED}</span></td>' in file
    assert 'data-report-chart="study-4.7-response"' in file


def test_values_have_the_unit_of_their_size_for_readers_only() -> None:
    (document,) = study_part.documents(study_part.results(runs(3)))
    row = {**document["claims"][0], "quantity": "told (s)", "unit": "s", "value": 0.0026, "low": 0.0025, "high": 0.0027}
    row |= {"published": None}
    ((_, (shown,)),) = study_part.shown([{**document, "claims": [row]}])[0]["groups"]
    assert (shown["quantity"], round(shown["value"], 6), shown["published"]) == ("told (ms)", 2.6, None)
    value = Value("M", "told", "s", {**NOTHING, "value": 0.0026, "low": 0.0025, "high": 0.0027}, None, None)
    assert (value.in_its_size().unit, round(value.in_its_size().found["high"], 6)) == ("ms", 2.7)


def test_a_report_of_one_seed_says_not_known() -> None:
    (document,) = study_part.documents(study_part.results(runs(1)))
    assert [row["verdict"] for row in document["criteria"]] == [UNKNOWN]


def test_runs_of_no_study_or_of_one_that_is_gone_add_nothing() -> None:
    assert study_part.results([run(50, 1, study=""), run(50, 1, study="9.9")]) == []
