"""The studies of seed 002: definitions are accepted, and made-up runs meet their claims or do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from overlay.experiment.definition import checked
from overlay.experiment.inline import separated
from telemetry.studies.criteria import NOT, REPRODUCED, SHAPE_ONLY
from telemetry.studies.judging import judge
from telemetry.studies.study import PAPER, QUICK, SCALES, Row
from telemetry.systems.registry import studies

OF_SYSTEM = {id: study for id, study in studies().items() if study.system == "silbops"}
Measures = Callable[[Any], dict[str, float]]


def runs(id: str, measures: Measures) -> tuple[list[Row], int]:
    """Made-up runs of all its configurations at the quick scale, with three seeds."""
    body, find = separated(OF_SYSTEM[id].at(QUICK))
    configurations = checked(body, find)[1]
    rows = [
        Row("custom", 5, one["settings"], one["workload"], measures(one), seed, f"{number}")
        for number, one in enumerate(configurations)
        for seed in range(3)
    ]
    return rows, len(configurations)


def verdicts(id: str, measures: Measures) -> list[str]:
    result = judge(OF_SYSTEM[id], QUICK, *runs(id, measures))
    return [one.verdict for one in result.judged]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("id", OF_SYSTEM)
def test_its_definition_is_accepted_and_has_enough_replicates(id: str, scale: str) -> None:
    body, find = separated(OF_SYSTEM[id].at(scale))
    assert checked(body, find)[1]
    assert body["replicates"] == {QUICK: 3, PAPER: 10}[scale]


def test_there_is_one_for_the_network_and_each_part_of_future_work() -> None:
    assert list(OF_SYSTEM) == ["E2.4", "E2.7", "E2.8", "E2.9", "E2.10"]


def test_a_handover_may_lose_what_is_not_kept_and_nothing_else() -> None:
    def measures(one: Any) -> dict[str, float]:
        return {"lost": 0, "lost_kept": 0 if one["settings"]["keep_messages"] else 7}

    assert verdicts("E2.9", measures) == [REPRODUCED, REPRODUCED]
    assert verdicts("E2.9", lambda one: {"lost": 1, "lost_kept": 1}) == [NOT, NOT]


def test_only_siena_that_removes_first_may_lose_in_the_gap() -> None:
    def measures(one: Any) -> dict[str, float]:
        settings = one["settings"]
        is_gap = settings["arm"] == "siena" and settings["siena_change"] == "remove-first"
        return {"lost": 3 * is_gap, "context_changes": 1_000}

    assert verdicts("E2.10", measures) == [REPRODUCED]
    assert verdicts("E2.10", lambda one: {"lost": 0, "context_changes": 1_000}) == [NOT]


def test_publisher_scope_saves_messages_and_changes_no_delivery() -> None:
    def measures(one: Any) -> dict[str, float]:
        is_on = one["settings"]["publisher_scope"]
        return {"deliveries": 50, "messages_per_publication": 1.5 if is_on else 3.0}

    assert verdicts("E2.7", measures) == [REPRODUCED, REPRODUCED]
    assert verdicts("E2.7", lambda one: {"deliveries": 50, "messages_per_publication": 3.0}) == [REPRODUCED, NOT]


def test_moving_cameras_lose_nothing() -> None:
    assert verdicts("E2.8", lambda one: {"lost": 0}) == [REPRODUCED]
    assert verdicts("E2.8", lambda one: {"lost": 2}) == [NOT]


def test_the_speed_up_in_a_network_is_reproduced_near_five_and_alike_in_shape_beyond() -> None:
    def measures(one: Any) -> dict[str, float]:
        ratio = {"one": 5.0, "all": 20.0}[one["workload"]["change_scope"]]
        return {"changes_settled": 100.0 * (ratio if one["settings"]["arm"] == "siena" else 1)}

    assert verdicts("E2.4", measures) == [REPRODUCED, SHAPE_ONLY]
    assert verdicts("E2.4", lambda one: {"changes_settled": 100.0}) == [NOT, NOT]
