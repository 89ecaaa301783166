"""The studies of seed 002: definitions are accepted, and made-up runs meet their claims or do not."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from math import log10
from pathlib import Path
from typing import Any

import pytest

from brokerweb.studies.services import offer
from overlay.core.engines import SIMULATED
from overlay.deployment.deployment import Deployment, run_document
from overlay.experiment.definition import checked
from overlay.experiment.inline import separated
from overlay.sim.engine import simulate
from telemetry.__main__ import main
from telemetry.studies.criteria import NOT, REPRODUCED, SHAPE_ONLY, UNKNOWN
from telemetry.studies.judging import Result, judge
from telemetry.studies.study import PAPER, QUICK, SCALES, Row
from telemetry.systems.registry import studies
from telemetry.systems.silbops.in_process.measuring import WORK

OF_SYSTEM = {id: study for id, study in studies().items() if study.system == "silbops"}
Measures = Callable[[Any], dict[str, float]]


def runs(id: str, measures: Measures, scale: str) -> tuple[list[Row], int]:
    """Made-up runs of all its configurations, with three seeds."""
    body, find = separated(OF_SYSTEM[id].at(scale))
    configurations = checked(body, find)[1]
    rows = [
        Row(one["topology"]["kind"], 5, one["settings"], one["workload"], measures(one), seed, f"{number}")
        for number, one in enumerate(configurations)
        for seed in range(3)
    ]
    return rows, len(configurations)


def result(id: str, measures: Measures, scale: str = QUICK) -> Result:
    return judge(OF_SYSTEM[id], scale, *runs(id, measures, scale))


def verdicts(id: str, measures: Measures, scale: str = QUICK) -> list[str]:
    return [one.verdict for one in result(id, measures, scale).judged]


def changed(silbops_us: Callable[[Any], float], siena_us: Callable[[Any], float]) -> Measures:
    """Made-up times of a change, by workload."""
    arms = {"silbops": silbops_us, "siena": siena_us}
    return lambda one: {"change_core": arms[one["settings"]["arm"]](one["workload"])}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("id", OF_SYSTEM)
def test_its_definition_is_accepted_and_has_enough_replicates(id: str, scale: str) -> None:
    body, find = separated(OF_SYSTEM[id].at(scale))
    assert checked(body, find)[1]
    assert body["replicates"] == {QUICK: 3, PAPER: 1 if id == "E2.5-million" else 10}[scale]


def test_there_is_one_for_each_figure_and_each_part_of_future_work() -> None:
    assert list(OF_SYSTEM) == [
        *(f"E2.{number}" for number in range(1, 6)),
        "E2.5-million",
        *(f"E2.{number}" for number in range(6, 11)),
    ]


def test_a_handover_may_lose_what_is_not_kept_and_nothing_else() -> None:
    def measures(one: Any) -> dict[str, float]:
        return {"due": 9, "lost": 0, "lost_kept": 0 if one["settings"]["keep_messages"] else 7}

    assert verdicts("E2.9", measures) == [REPRODUCED, REPRODUCED]
    assert verdicts("E2.9", lambda one: {"due": 9, "lost": 1, "lost_kept": 1}) == [NOT, NOT]


def test_only_siena_that_removes_first_may_lose_in_the_gap() -> None:
    def measures(one: Any) -> dict[str, float]:
        settings = one["settings"]
        is_gap = settings["arm"] == "siena" and settings["siena_change"] == "remove-first"
        return {"due": 9, "lost": 3 * is_gap, "context_changes": 1_000}

    assert verdicts("E2.10", measures) == [REPRODUCED]
    assert verdicts("E2.10", lambda one: {"due": 9, "lost": 0, "context_changes": 1_000}) == [NOT]


def test_publisher_scope_saves_messages_and_changes_no_delivery() -> None:
    def measures(one: Any) -> dict[str, float]:
        is_on = one["settings"]["publisher_scope"]
        return {"deliveries": 50, "messages_per_publication": 1.5 if is_on else 3.0}

    assert verdicts("E2.7", measures) == [REPRODUCED, REPRODUCED]
    assert verdicts("E2.7", lambda one: {"deliveries": 50, "messages_per_publication": 3.0}) == [REPRODUCED, NOT]


def test_moving_cameras_lose_nothing() -> None:
    assert verdicts("E2.8", lambda one: {"due": 9, "lost": 0}) == [REPRODUCED]
    assert verdicts("E2.8", lambda one: {"due": 9, "lost": 2}) == [NOT]


def test_where_nothing_is_due_nothing_is_shown() -> None:
    none = {"due": 0, "lost": 0, "lost_kept": 0, "deliveries": 0, "context_changes": 1, "messages_per_publication": 1}
    for id in ("E2.7", "E2.8", "E2.9", "E2.10"):
        assert verdicts(id, lambda one: none)[0] == UNKNOWN


# ---- E2.1 to E2.3


def test_a_change_is_reproduced_if_it_costs_a_thousand_times_as_much_whoever_changes() -> None:
    assert verdicts("E2.1", changed(lambda _: 0.2, lambda _: 210)) == [REPRODUCED] * 4
    assert verdicts("E2.1", changed(lambda _: 1, lambda _: 20)) == [SHAPE_ONLY] * 4
    assert verdicts("E2.1", changed(lambda _: 1, lambda load: load["changing_subscribers"])) == [NOT] * 4
    said = OF_SYSTEM["E2.1"].tell(result("E2.1", changed(lambda _: 1, lambda _: 20)))
    assert said[0] == "By counting, as published, one filter of a subscriber: a change costs SIENA 20 times as much."


def test_changes_do_not_depend_on_subscriptions_or_a_little() -> None:
    def by_size(factor: float) -> Measures:
        return changed(lambda load: factor ** log10(load["subscriptions"]), lambda _: 0)

    assert verdicts("E2.2", by_size(1.1)) == [REPRODUCED] * 2
    assert verdicts("E2.2", by_size(1.5)) == [SHAPE_ONLY] * 2
    assert verdicts("E2.2", by_size(3)) == [NOT] * 2


def test_a_change_grows_with_filters_in_siena_alone() -> None:
    def by_width(per_filter: float) -> Measures:
        return changed(lambda _: 0.2, lambda load: per_filter * load["filters_max"])

    assert verdicts("E2.3", by_width(210)) == [REPRODUCED] * 2
    assert verdicts("E2.3", by_width(2)) == [SHAPE_ONLY] * 2
    assert verdicts("E2.3", changed(lambda _: 0.2, lambda _: 2)) == [NOT] * 2


# ---- E2.4


def settled(speed_up: float, *, has_bends: bool) -> Measures:
    """Times until settled: SIENA bends at 200 changes, SilboPS at 1,000."""

    def measures(one: Any) -> dict[str, float]:
        changes, is_siena = one["workload"]["changes"], one["settings"]["arm"] == "siena"
        beyond = max(0, changes - (200 if is_siena else 1_000)) if has_bends else 0
        return {"changes_settled": (speed_up / (4.2 if has_bends else 1) if is_siena else 1) * (changes + 4 * beyond)}

    return measures


def test_a_network_is_reproduced_about_five_times_as_fast_with_both_bends() -> None:
    """Chain and star are for the paper's scale."""
    assert verdicts("E2.4", settled(5, has_bends=True)) == [REPRODUCED] * 2 + [UNKNOWN] * 4
    assert verdicts("E2.4", settled(5, has_bends=False))[:2] == [SHAPE_ONLY] * 2
    assert verdicts("E2.4", settled(20, has_bends=True))[:2] == [SHAPE_ONLY] * 2
    assert verdicts("E2.4", settled(1, has_bends=True))[:2] == [NOT] * 2


# ---- E2.5 and E2.6


@pytest.mark.parametrize("arm", ["silbops", "siena"])
def test_the_profile_changes_no_time_of_a_network(tmp_path: Path, arm: str) -> None:
    """No cost of the model depends on the index, so the study has one profile."""
    ended = []
    for profile in ("seed", "improved"):
        body = studies()["E2.4"].at(QUICK)
        workload = {**body["workload"], "subscribers": 50, "change_scope": "one", "changes": 10, "duration_s": 10}
        body |= {"blocks": [], "settings": {"profile": profile, "arm": arm}, "workload": workload}
        _, (configuration,) = checked(*separated(body))
        document = run_document(configuration, run="r1", seed=1, directory=str(tmp_path / profile))
        ended.append(simulate(Deployment.from_json(json.loads(json.dumps(document)), SIMULATED)).digest)
    assert ended[0] == ended[1]


def throughput(loss: float) -> Measures:
    """That of SIENA rises to 1,000/s; SilboPS loses a share of it."""

    def measures(one: Any) -> dict[str, float]:
        rising = 1_000 * (1 - 5 / one["workload"]["notifications"])
        kept = 1 - loss if one["settings"]["arm"] == "silbops" else 1
        return {"notification_core": 1e6 / (rising * kept), "deliveries": 7}

    return measures


def test_throughput_may_be_a_little_less_and_more_is_called_reversed() -> None:
    assert verdicts("E2.5", throughput(0.08)) == [REPRODUCED] * 4
    assert verdicts("E2.5", throughput(0.15)) == [SHAPE_ONLY] * 4
    assert verdicts("E2.5", throughput(0.3)) == [NOT] * 4
    found = result("E2.5", throughput(-0.3))
    assert {(one.verdict, one.called) for one in found.judged} == {(NOT, "reversed")}
    assert OF_SYSTEM["E2.5"].tell(found)[0] == (
        "Counting: SilboPS gains 30 % at 10,000 and gains 30 % at 80,000 subscriptions: reversed."
    )


def test_one_replicate_of_a_million_shows_values_and_judges_nothing() -> None:
    rows, configurations = runs("E2.5-million", throughput(0.3), PAPER)
    found = judge(OF_SYSTEM["E2.5-million"], PAPER, [row for row in rows if row.seed == 0], configurations)
    assert {one.verdict for one in found.judged} == {UNKNOWN}
    assert OF_SYSTEM["E2.5-million"].tell(found)[0] == "Counting: SilboPS loses 30 % at 1,000,000 subscriptions."
    found = result("E2.5-million", throughput(-3))
    assert OF_SYSTEM["E2.5-million"].tell(found)[0] == (
        "Counting: SilboPS has 4.0 times as much at 120,000 subscriptions: reversed."
    )
    assert verdicts("E2.5-million", throughput(0.08)) == [SHAPE_ONLY] + [REPRODUCED] * 3, "20 are no plateau here"


def costs(change: tuple[float, float], notification: tuple[float, float]) -> Measures:
    """Of SilboPS and SIENA; a change costs SIENA so much for each filter."""

    def measures(one: Any) -> dict[str, float]:
        load, is_siena = one["workload"], one["settings"]["arm"] == "siena"
        each = change[is_siena] * (load["filters_max"] if is_siena else 1)
        work = each * load["changes"] + notification[is_siena] * load["notifications"]
        return {"change_core": each, "notification_core": notification[is_siena], WORK: work}

    return measures


def test_break_even_is_as_published_elsewhere_or_nowhere() -> None:
    assert verdicts("E2.6", costs((0.2, 210), (1_000, 915))) == [REPRODUCED, UNKNOWN], (
        "80,000 are for the paper's scale"
    )
    assert verdicts("E2.6", costs((0.2, 210), (1_000, 915)), PAPER) == [REPRODUCED] * 2
    assert verdicts("E2.6", costs((1.36, 5.19), (119, 84)), PAPER) == [SHAPE_ONLY] * 2
    found = result("E2.6", costs((1.36, 5.19), (84, 119)), PAPER)
    assert {(one.verdict, one.called) for one in found.judged} == {(NOT, "dominates")}
    said = OF_SYSTEM["E2.6"].tell(found)
    assert said[0].startswith("At 10,000 subscriptions SilboPS never costs more with 1 filter")
    assert said[-1].startswith("Published is 1.23, from one message of a change; with both it is 2.47 with 1")


def test_break_even_follows_from_the_printed_costs() -> None:
    found = judge(OF_SYSTEM["E2.6"], QUICK, (), 1)
    drawn = {place: one.published for each in found.drawn for place, one in each.values.items()}
    assert drawn["one message", 1.0] == pytest.approx(1.23, abs=0.005)
    assert drawn["both messages", 1.0] == pytest.approx(2.47, abs=0.005)
    assert drawn["both messages", 10.0] == pytest.approx(24.7, abs=0.05)


# ---- in process


def test_the_command_measures_it_in_process_and_pages_do_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made_up = throughput(-0.3)
    study = replace(OF_SYSTEM["E2.5"], measure=lambda all, _: ((one, made_up(one)) for one in all))
    monkeypatch.setattr("telemetry.systems.registry.studies", lambda: {"E2.5": study})
    assert main(["study", "E2.5"]) == 0
    said = capsys.readouterr().out
    assert "NOT, REVERSED: SilboPS loses little throughput" in said
    assert "in process, 95 % interval" in said
    assert "simulated" not in said
    assert "python -m telemetry study E2.5 --scale paper" in offer(study, PAPER).refused
