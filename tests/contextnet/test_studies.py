"""The studies of seed 004: definitions are accepted, and made-up runs meet their claims or do not."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, cycle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.experiment.definition import checked
from overlay.experiment.inline import separated
from telemetry.studies.criteria import NOT, REPRODUCED, UNKNOWN
from telemetry.studies.judging import judge
from telemetry.studies.study import PAPER, QUICK, SCALES, Row
from telemetry.systems.contextnet.studies.disconnections import VARIANTS
from telemetry.systems.contextnet.studies.expiry import exceeding
from telemetry.systems.contextnet.studies.factorial import explained, load
from telemetry.systems.registry import studies

OF_SYSTEM = {id: study for id, study in studies().items() if study.system == "contextnet"}
Measures = Callable[[dict[str, Any], dict[str, Any]], dict[str, float]]


def runs(id: str, measures: Measures, seeds: int = 3, scale: str = QUICK) -> tuple[list[Row], int]:
    """Made-up runs of all its configurations."""
    body, find = separated(OF_SYSTEM[id].at(scale))
    configurations = checked(body, find)[1]
    rows = [
        Row(
            "contextnet", 1, one["settings"], one["workload"], measures(one["settings"], one["workload"]), seed, f"{at}"
        )
        for at, one in enumerate(configurations)
        for seed in range(seeds)
    ]
    return rows, len(configurations)


def verdicts(id: str, measures: Measures) -> dict[str, str]:
    found = judge(OF_SYSTEM[id], QUICK, *runs(id, measures)).judged
    return {one.claim.id: one.verdict for one in found}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("id", OF_SYSTEM)
def test_its_definition_is_accepted(id: str, scale: str) -> None:
    body, find = separated(OF_SYSTEM[id].at(scale))
    assert checked(body, find)[1]


@pytest.mark.parametrize("id", OF_SYSTEM)
def test_nothing_is_known_without_runs(id: str) -> None:
    assert {one.verdict for one in judge(OF_SYSTEM[id], QUICK, [], 1).judged} == {UNKNOWN}


def inbound(settings: dict[str, Any], workload: dict[str, Any]) -> dict[str, float]:
    """As the paper has it, but for configuration 8."""
    parallel = 0.8 if workload["brokers"] == 3 else 1
    times = {"rtt_mean": 49_455 if workload["app_pause_s"] else 14_000 * parallel, "share_over_100ms": 9.6}
    steady = {"rtt_drift": 0.1, "rtt_trend_p": 0.5, "app_queue_slope": 40 * (workload["nodes"] == 1_500)}
    return {"te": 99.99, "share_within_50ms": 95} | times | steady


def test_inbound_messages() -> None:
    found = verdicts("E4.1", inbound)
    assert {id for id, verdict in found.items() if verdict != REPRODUCED} == {"largest"}
    assert found["largest"] == NOT
    slow = verdicts(
        "E4.1", lambda settings, workload: inbound(settings, workload) | {"rtt_mean": 2e6, "rtt_drift": 900}
    )
    assert (slow["short"], slow["parallel"], slow["steady"]) == (NOT, NOT, NOT)


def disconnecting(settings: dict[str, Any], workload: dict[str, Any]) -> dict[str, float]:
    """As the paper has it."""
    is_stored, is_outbound = settings["mtd_enabled"], workload["direction"] == "outbound"
    return {
        "te": 99.93,
        "te_disconnecting": 99.96 if is_stored else 85.25,
        "nodes_with_all_share": 99.3 if is_stored else 0,
        "share_over_2s_disconnecting": 14.7 if is_stored else 0,
        "share_1s_to_2s_disconnecting": 0.04,
        "rtt_disconnecting_mean": 3_862_000 if is_stored else 24_000,
        "rtt_disconnecting_sd": 10_095_000,
        "share_within_20ms": 91.7 if is_outbound else 75.9,
        "rtt_mean": 14_000 if is_outbound else 49_000,
    }


def test_disconnections() -> None:
    found = verdicts("E4.2", disconnecting)
    assert found.pop("nodes-without") == UNKNOWN, "at the paper's scale only"
    assert set(found.values()) == {REPRODUCED}, found
    alike = verdicts("E4.2", lambda *given: disconnecting(*given) | {"share_within_20ms": 100, "rtt_mean": 5_000})
    assert alike["direction"] == NOT


def test_variants_of_disconnections_are_shown_at_the_scale_of_the_paper() -> None:
    rows, configurations = runs("E4.2", disconnecting, scale=PAPER)
    (te, _) = judge(OF_SYSTEM["E4.2"], PAPER, rows, configurations).drawn
    shown = {name for name, _ in te.values}
    assert shown == {"with the store", "without", *VARIANTS}
    assert sum(name in VARIANTS for name, _ in te.values) == 12, "four configurations of each"


def balanced(settings: dict[str, Any], workload: dict[str, Any]) -> dict[str, float]:
    moves = 0.1 if settings["smoothing"] < 1 else 1_600
    return {"seconds_to_even": 140, "handovers_per_min": moves, "moves_apart": 301, "te": 100, "reopened": 40}


def test_balancing() -> None:
    found = verdicts("E4.3", balanced)
    assert set(found.values()) == {REPRODUCED}, found
    restless = verdicts("E4.3", lambda *given: balanced(*given) | {"moves_apart": 20.0, "handovers_per_min": 30})
    assert (restless["hold"], restless["damping"]) == (NOT, NOT)


def delivering(settings: dict[str, Any], workload: dict[str, Any]) -> dict[str, float]:
    is_graceful = workload["disconnect"] == "graceful"
    is_sure = settings["delivery"] == "exact" or is_graceful
    expected = max(0, workload["rate_per_min"] / 60 * 13 - 2)
    measures = {"lost": 0 if is_sure else 90, "lost_per_break": 0 if is_sure else 1.1 * expected, "duplicates": 0}
    return measures | {"detect_mean": 13, "te_disconnecting": 99}


def test_delivery() -> None:
    assert set(verdicts("E4.6", delivering).values()) == {REPRODUCED}
    leaky = verdicts("E4.6", lambda *given: delivering(*given) | {"lost": 1, "lost_per_break": 50, "duplicates": 1})
    assert set(leaky.values()) == {NOT}


@given(st.floats(0, 60), st.floats(1, 40), st.just(0.0) | st.floats(1, 40))
def test_the_probability_that_two_waits_are_longer_than_a_lifetime(bound: float, one: float, other: float) -> None:
    steps = 60
    pairs = [(one * (at + 0.5) / steps, other * (to + 0.5) / steps) for at in range(steps) for to in range(steps)]
    counted = sum(first + second > bound for first, second in pairs) / len(pairs)
    assert abs(exceeding(bound, one, other) - counted) < 0.05


def expiring(settings: dict[str, Any], workload: dict[str, Any]) -> dict[str, float]:
    share = exceeding(settings["ttl_default_s"], workload["off_s"], settings["ping_period_s"])
    return {"expired": 1_000 * share, "due_while_off": 1_000, "stored_longest": settings["ttl_default_s"]}


def test_expiry() -> None:
    assert set(verdicts("E4.8", expiring).values()) == {REPRODUCED}
    late = verdicts("E4.8", lambda *given: expiring(*given) | {"stored_longest": 70, "expired": 500})
    assert set(late.values()) == {NOT}


def test_factors_explain_all_of_what_they_make() -> None:
    def measures(settings: dict[str, Any], workload: dict[str, Any]) -> dict[str, float]:
        slower = 10 if workload["app_service_ms"] else 1
        return {"te": 100 if slower == 1 or workload["nodes"] < 500 else 60, "rtt_mean": 1_000 * slower}

    rows, _ = runs("E4.5", measures, seeds=1)
    shares = explained(rows)
    assert shares.pop("app_service_ms") == pytest.approx(100)
    assert max(shares.values()) < 1e-6
    assert max(load(row) for row in rows) == pytest.approx(0.5)
    with pytest.raises(KeyError, match="31 runs"):
        explained(rows[1:])
    assert explained(rows, lambda row: 100.0) == {}, "of what never varies nothing is explained"


def overloaded(settings: dict[str, Any], workload: dict[str, Any]) -> dict[str, float]:
    """A gateway that answers 8,000 messages a second."""
    offered = workload["nodes"] * workload["rate_per_min"] / 60
    sent = offered * workload["duration_s"]
    found = {"sent": sent, "delivered": sent, "refused": 0.0, "te": 100.0, "repeats": 0.1 * sent}
    return found | {"goodput_per_s": min(offered, 8_000) * (0.9 if offered > 8_000 else 1)}


def test_overload() -> None:
    found = verdicts("E4.10", overloaded)
    assert set(found.values()) == {REPRODUCED}, found
    poor = verdicts(
        "E4.10",
        lambda settings, workload: (
            overloaded(settings, workload)
            | {"repeats": 1e6, "te": 50.0}
            | ({"goodput_per_s": 800.0} if workload["rate_per_min"] > 480 else {})
        ),
    )
    assert set(poor.values()) == {NOT}, poor
    unbounded = verdicts(
        "E4.10",
        lambda settings, workload: (
            overloaded(settings, workload)
            | ({} if settings["bound_repeats"] else {"repeats": 1e6, "goodput_per_s": 1.0})
        ),
    )
    assert set(unbounded.values()) == {REPRODUCED}, "the other arm is shown, and not judged"


def test_both_directions_roaming_groups_and_restarts() -> None:
    fine = {"te": 100, "rtt_mean": 5_000, "rtt_p50": 5_000, "lost": 0, "path_extra": 4, "group_wrong": 0}
    poor = fine | {"lost": 10_000, "path_extra": 400, "group_wrong": 3}
    numbers = count(1)
    for id in ("E4.4", "E4.9", "E4.11", "E4.12"):
        assert set(verdicts(id, lambda *_: fine).values()) == {REPRODUCED}, id
    for id in ("E4.9", "E4.11", "E4.12"):
        assert set(verdicts(id, lambda *_: poor).values()) == {NOT}, id
    mixed = verdicts("E4.4", lambda *_: fine | {"te": 100 - 10 * (next(numbers) % 9 < 4)})
    assert mixed["rtt"] == REPRODUCED


def test_what_is_to_hold_in_each_run_is_judged_by_each() -> None:
    """The interval of a mean may exceed what no run exceeds, and hide one that does."""
    shares = cycle((0.5, 0.9, 1.0))
    found = verdicts(
        "E4.8", lambda *given: expiring(*given) | {"stored_longest": next(shares) * given[0]["ttl_default_s"]}
    )
    assert found["in-time"] == REPRODUCED
    wrong = count()
    assert verdicts("E4.11", lambda *_: {"group_wrong": float(not next(wrong))})["right"] == NOT
    probabilities = cycle((0.02, 0.5, 0.9))
    found = verdicts("E4.1", lambda *given: inbound(*given) | {"rtt_trend_p": next(probabilities)})
    assert found["no-trend"] == REPRODUCED
