"""Measured in process: all contenders get the same work, and notify the same clients."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from overlay.experiment.definition import checked
from overlay.experiment.inline import separated
from overlay.systems.silbops.index import INDEXES
from overlay.systems.silbops.workload import Workload
from telemetry.systems.silbops.in_process import measuring
from telemetry.systems.silbops.in_process.brokers import ARMS, SIENA, Broker, Clients
from telemetry.systems.silbops.in_process.measuring import WORK, measured
from telemetry.systems.silbops.in_process.population import Population, evenly
from telemetry.systems.silbops.in_process.timing import Operation, in_turn

NARROW = {
    "attribute_names": 8,
    "attributes_max": 8,
    "string_values": 5,
    "int_values": 5,
    "square_km": 100,
    "radius_km": 30,
}
"""So that some are notified, with few subscriptions."""


def test_both_arms_and_all_indexes_notify_the_same_clients() -> None:
    """``in_turn`` raises if a block of operations notifies other clients in one of them."""
    population = Population(Workload(subscriptions=60, subscribers=12, **NARROW), 3)  # type: ignore[arg-type]
    contenders = {}
    for arm in ARMS:
        for index in INDEXES:
            if arm == SIENA or index != "cells":
                contenders[arm, index] = Clients(arm, Broker(index, scope_batch=3), population)
                contenders[arm, index].load()
    operations: list[Operation] = []
    for number in range(30):
        place, event = population.moved(number % 12), population.event()
        operations.append(lambda one, number=number, place=place: one.change(number % 12, place))  # type: ignore[misc]
        operations.append(lambda one, event=event: [one.publication(*event)])  # type: ignore[misc]
    spent_us = in_turn(contenders, operations, Random(1))
    assert all(one > 0 for one in spent_us.values())
    assert {one.broker.notified for one in contenders.values()} != {0}


def test_equal_seeds_draw_equal_populations() -> None:
    several = [Population(evenly(40), 5) for _ in range(2)]
    assert several[0].filters == several[1].filters
    assert len({str(one.event()) for one in several}) == 1
    assert several[0].moved(1) == several[1].moved(1) != several[0].places[1]


@pytest.mark.parametrize("together", [60, 59])
def test_each_configuration_has_what_was_done_and_the_time_of_it(
    monkeypatch: pytest.MonkeyPatch, together: int
) -> None:
    """Also if one is loaded at a time, as with more subscriptions than ``together``."""
    monkeypatch.setattr(measuring, "TOGETHER", together)
    body: dict[str, Any] = {
        "name": "small",
        "system": "silbops",
        "engine": "simulated",
        "topology": {"kind": "central", "brokers": 1},
        "settings": {"arm": ["silbops", "siena"]},
        "workload": {"subscribers": 12, "subscriptions": 60, **NARROW},
        "blocks": [
            {"workload": {"changes": 20, "changing_subscribers": 5}},
            {"workload": {"notifications": 30}},
            {"workload": {"changes": 10, "notifications": 30}},
        ],
    }
    configurations = checked(*separated(body))[1]
    found = [(one["workload"], measures) for one, measures in measured(configurations, 1)]
    assert len(found) == len(configurations) == 6
    assert len({str(workload) for workload, _ in found}) == 3
    for workload, measures in found:
        time = {(20, 0): "change_core", (0, 30): "notification_core", (10, 30): WORK}
        assert measures[time[workload["changes"], workload["notifications"]]] > 0
        assert measures["context_changes"] == workload["changes"]
    with_notifications = [measures["deliveries"] for workload, measures in found if workload["notifications"]]
    assert len(set(with_notifications)) <= 2, "both arms deliver the same"
    assert all(with_notifications)
