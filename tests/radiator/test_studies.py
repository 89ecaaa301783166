"""The studies of Radiator: their definitions are accepted, and published values are judged as reproduced."""

from __future__ import annotations

import pytest

from overlay.experiment.sweeps import configuration_hash
from telemetry.cli.study import orders_of
from telemetry.studies.criteria import INCONCLUSIVE, NOT, NOT_JUDGED, REPRODUCED, SHAPE_ONLY, UNKNOWN
from telemetry.studies.judging import judge, verdicts
from telemetry.studies.study import PAPER, QUICK, Row
from telemetry.studies.telling import document
from telemetry.systems.radiator.studies.arms import length, volume
from telemetry.systems.radiator.system import RadiatorTelemetry

STUDIES = {study.id: study for study in RadiatorTelemetry.studies}
CRITERIA = {
    "E3.1": {
        *(f"{id}-{arm}" for id in ("R1", "R2", "R3") for arm in ("equal", "saturated")),
        *("R4-equal", "R4-1.1", "R4-1.5", "R5-1.1", "R5-1.5", "R6", "R14"),
    },
    "E3.2": {
        *(f"{id}-{arm}" for id in ("R7", "R8", "R9") for arm in ("equal", "1.1", "1.5")),
        *("R10-1.1", "R10-1.5", "R11"),
    },
    "E3.3": {"R12-0.5", "R12-1.1", "R12-1.5"},
    "E3.4": {"R13-0", "R13-1.1", "R13-1.5"},
}


def published(row):
    """Measures as printed: bytes per pair of 1,000 without anything, lag in seconds."""
    of_volume = {1: 1.0, 20: 1 - 0.077, 50: 1 - 0.398}[volume(row)]
    lag = {1: 42, 20: 34, 50: 36}[volume(row)] if row.settings["codec"] == "gzip" else 41
    return {
        "bytes_per_pair": 1_000 * (1 if row.settings["codec"] == "none" else 0.756) * of_volume,
        "lag_mean": lag * 1e6,
        "outbound_cv": {1: 0.1, 20: 0.4, 50: 0.9}[volume(row)],
        "pairs_due": 1_000,
        "pairs_delivered": 1_000 if row.settings["flush"] == "deadline" else 900,
        "pairs_retained": 0 if row.settings["flush"] == "deadline" else 100,
    }


def published_chains(row):
    shares = {0: 1.0, 12: 0.74, 30: 0.5, 60: 0.3, 600: 0.044, 3_000: 0.02, 6_000: 0.01}
    lags = {0: 42, 12: 50, 30: 60, 60: 70, 600: 74, 3_000: 223, 6_000: 295}
    return {"bytes_per_pair": 800 * shares[length(row)], "lag_mean": lags[length(row)] * 1e6}


def published_both(row):
    return {"lag_mean": {1: 74, 20: 41, 50: 53}[volume(row)] * 1e6}


def published_headline(row):
    return {"bytes_per_pair": 1_000 if row.settings["codec"] == "none" else 49, "lag_mean": 42e6}


PUBLISHED = {"E3.1": published, "E3.2": published_chains, "E3.3": published_both, "E3.4": published_headline}


def judged(name, scale, measures):
    """Verdicts on runs with these measures, each seed a little different."""
    study, rows, names = STUDIES[name], [], set()
    for order in orders_of(study, scale):
        settings, workload = order.configuration["settings"], order.configuration["workload"]
        names.add(configuration_hash(order.configuration))
        row = Row("custom", 1, settings, workload, {}, order.replicate, configuration_hash(order.configuration))
        found = {key: value * (1 + order.replicate / 1e4) for key, value in measures(row).items()}
        rows.append(Row(row.topology, 1, settings, workload, found, row.seed, row.configuration))
    return judge(study, scale, rows, len(names))


@pytest.mark.parametrize("name", STUDIES)
def test_each_says_what_it_asks_and_by_what_it_is_judged(radiator, name):
    study = STUDIES[name]
    assert study.question.endswith("?")
    assert study.says and study.sources and study.plots
    assert study.quick_differs.endswith(".")
    assert {claim.id for claim in study.claims} == CRITERIA[name]
    for claim in study.claims:
        assert all(text.endswith(".") for text in (claim.claim, claim.criterion, claim.shape)), claim.id


@pytest.mark.parametrize("name", STUDIES)
def test_its_definition_is_accepted_at_both_scales(radiator, name):
    quick, paper = (orders_of(STUDIES[name], scale) for scale in (QUICK, PAPER))
    assert {order.configuration["system"] for order in (*quick, *paper)} == {"radiator"}
    assert len({order.replicate for order in quick}) == 3
    assert len(paper) > len(quick)


@pytest.mark.parametrize("name", STUDIES)
def test_the_published_values_are_reproduced(radiator, name):
    assert set(verdicts(judged(name, PAPER, PUBLISHED[name])).values()) == {REPRODUCED}


def test_what_was_not_run_at_the_quick_scale_stays_open(radiator):
    found = verdicts(judged("E3.2", QUICK, published_chains))
    assert (found["R9-equal"], found["R10-1.1"]) == (SHAPE_ONLY, INCONCLUSIVE)
    assert {found[id] for id in ("R7-equal", "R8-1.5", "R11")} == {REPRODUCED}


def test_the_last_step_may_save_nothing(radiator):
    """Longer lists of members can cost more than they save: the first step still saves more than the last."""

    def dearer(row):
        found = published_chains(row)
        return {**found, "bytes_per_pair": 40.0} if length(row) == 6_000 else found

    assert verdicts(judged("E3.2", PAPER, dearer))["R9-equal"] == REPRODUCED


def test_an_open_criterion_with_its_shape_shown_is_the_shape_only(radiator):
    """A factor of 20 whatever the lag, which differs from seed to seed."""

    def uneven(row):
        lag = 42e6 * (1 + (row.seed - 1) / 4) if row.settings["codec"] == "gzip" else 42e6
        return {**published_headline(row), "lag_mean": lag}

    assert set(verdicts(judged("E3.4", QUICK, uneven)).values()) == {SHAPE_ONLY}


def test_more_saved_than_published_is_the_shape_only(radiator):
    def cheaper(row):
        return {**published(row), "bytes_per_pair": published(row)["bytes_per_pair"] / volume(row)}

    found = verdicts(judged("E3.1", QUICK, cheaper))
    assert (found["R1-equal"], found["R2-equal"], found["R3-saturated"]) == (REPRODUCED, SHAPE_ONLY, SHAPE_ONLY)


def test_what_contradicts_the_paper_is_not_reproduced(radiator):
    found = verdicts(judged("E3.1", QUICK, lambda row: {**published(row), "bytes_per_pair": 500, "outbound_cv": 1}))
    assert {found[id] for id in ("R1-equal", "R2-saturated", "R6")} == {NOT}
    swapped = verdicts(judged("E3.3", QUICK, lambda row: {"lag_mean": volume(row) * 1e6}))
    assert set(swapped.values()) == {NOT}


def test_without_runs_nothing_is_known(radiator):
    for study in STUDIES.values():
        shown = document(judge(study, QUICK, (), 1), "")
        assert {row["verdict"] for row in shown["claims"]} <= {UNKNOWN, NOT_JUDGED}
        assert len({row["id"] for row in shown["claims"]}) == len(shown["claims"])
