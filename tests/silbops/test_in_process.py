"""The experiments in process: all contenders get the same work, and notify the same clients."""

from __future__ import annotations

from random import Random

from overlay.systems.silbops.index import INDEXES
from telemetry.systems.silbops.in_process.brokers import ARMS, SIENA, Broker, Clients
from telemetry.systems.silbops.in_process.population import Content, Ground, Population, evenly, mixed
from telemetry.systems.silbops.in_process.timing import Operation, in_turn


def test_both_arms_and_all_indexes_notify_the_same_clients() -> None:
    """``in_turn`` raises if a block of operations notifies other clients in one of them."""
    population = Population(3, evenly(60, 12), Content(names=8, words=5, integers=5), Ground(100, 30))
    contenders = {}
    for arm in ARMS:
        for index in INDEXES:
            if arm == SIENA or index != "cells":
                contenders[arm, index] = Clients(arm, Broker(index, scope_batch=3), population)
                contenders[arm, index].load()
    operations: list[Operation] = []
    for number in range(30):
        place, notification = population.place(), population.notification()
        operations.append(lambda one, number=number, place=place: one.change(number % 12, place))  # type: ignore[misc]
        operations.append(lambda one, event=(notification, place): [one.publication(*event)])  # type: ignore[misc]
    spent_us = in_turn(contenders, operations, Random(1))
    assert all(one > 0 for one in spent_us.values())
    assert {one.broker.notified for one in contenders.values()} != {0}


def test_equal_seeds_draw_equal_populations() -> None:
    several = [Population(5, mixed(40, Random(2))) for _ in range(2)]
    assert several[0].filters == several[1].filters
    assert len({str(one.notification()) for one in several}) == 1
