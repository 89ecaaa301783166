"""What a broker does for each notification, context change and subscription, without sockets.

At 80,000 subscriptions of 1 to 20 for each subscriber, whose square of 40 km is one of 625 on the ground: by index and
arm, and next to the least Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count, cycle, islice

from benchmarks.figures import RATIO, Figure, figure
from benchmarks.radiator.timing import Work, in_turn
from benchmarks.silbops.least import Least
from overlay.systems.silbops.names import SIENA, SILBOPS
from overlay.systems.silbops.tables import Link
from overlay.systems.silbops.tables.rows import Context
from telemetry.systems.silbops.in_process.brokers import Broker, Clients, Message
from telemetry.systems.silbops.in_process.population import Population, evenly

SUBSCRIPTIONS = 80_000
SEED, OTHER_SEED = 6, 1
"""Of populations. With seeds 1 to 6 a notification matches the content of 93 to 647 rows on average; with ``SEED``, of
about as many as in the prototype that the goals are from (90)."""
NOTIFICATIONS, CHANGES, FEWER = 200, 2_000, 100
NOTIFICATION_GOAL_US, CHANGE_GOAL_US = 120.0, 1.0
"""Twice what a prototype took."""
CONTENDERS = {
    "silbops, access": (SILBOPS, "access", 48),
    "silbops, access without columns": (SILBOPS, "access", 0),
    "silbops, leaf": (SILBOPS, "leaf", 48),
    "siena, access": (SIENA, "access", 0),
    "siena, leaf": (SIENA, "leaf", 0),
    "siena, cells": (SIENA, "cells", 0),
}
DEFAULT, LEAST = "silbops, access", "Python, bare"
make = partial(figure, "silbops")


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    say(f"{SUBSCRIPTIONS:,} subscriptions in {len(CONTENDERS)} tables")
    population = Population(evenly(SUBSCRIPTIONS), SEED)
    tables = {name: _loaded(population, *way) for name, way in CONTENDERS.items()}
    least = _least(population)
    say("notifications")
    yield from _notifications(population, tables, least, rounds)
    say("context changes")
    yield from _changes(population, tables, least, rounds)
    say("notifications of another population")
    yield from _of_another(Population(evenly(SUBSCRIPTIONS), OTHER_SEED), rounds)


def _loaded(population: Population, arm: str, index: str, scope_batch: int) -> Clients:
    clients = Clients(arm, Broker(index, scope_batch), population)
    clients.load()
    return clients


def _least(population: Population) -> Least:
    least = Least(population.workload.radius_km)
    for subscriber, (filters, place) in enumerate(zip(population.filters, population.places, strict=True)):
        least.set_context(subscriber, place)
        for one in filters:
            least.subscribe(subscriber, one)
    return least


def _notifications(population: Population, tables: dict[str, Clients], least: Least, rounds: int) -> Iterator[Figure]:
    events = [population.event() for _ in range(NOTIFICATIONS)]

    def routed(clients: Clients) -> Work:
        return _played(clients, [clients.publication(*event) for event in events], NOTIFICATIONS)

    def noticed() -> int:
        for event in events:
            least.notify(*event)
        return NOTIFICATIONS

    costs = in_turn({**{name: routed(clients) for name, clients in tables.items()}, LEAST: noticed}, rounds)
    what = f"notification, {SUBSCRIPTIONS:,} subscriptions"
    for name, us in costs.items():
        goal = NOTIFICATION_GOAL_US if name == DEFAULT else None
        yield make(f"{what}: {name}", "µs", us, "lower", at_most=goal)
    yield from _ratios(what, costs, DEFAULT, LEAST)
    yield from _ratios(what, costs, "silbops, leaf", DEFAULT)
    yield from _ratios(what, costs, DEFAULT, "siena, access")
    yield _matched(what, tables[DEFAULT], rounds)


def _of_another(population: Population, rounds: int) -> Iterator[Figure]:
    clients = _loaded(population, *CONTENDERS[DEFAULT])
    messages = [clients.publication(*population.event()) for _ in range(NOTIFICATIONS)]
    what = f"notification, {SUBSCRIPTIONS:,} subscriptions, another population"
    costs = in_turn({DEFAULT: _played(clients, messages, NOTIFICATIONS)}, rounds)
    yield make(f"{what}: {DEFAULT}", "µs", costs[DEFAULT], "lower")
    yield _matched(what, clients, rounds)


def _matched(what: str, clients: Clients, rounds: int) -> Figure:
    rows = clients.broker.tables.candidates / (rounds + 1) / NOTIFICATIONS
    return make(f"{what}: rows whose content matches", "rows", [rows], "lower")


def _changes(population: Population, tables: dict[str, Clients], least: Least, rounds: int) -> Iterator[Figure]:
    subscribers = range(len(population.filters))
    changing = [(number, population.moved(number)) for number in islice(cycle(subscribers), CHANGES)]
    ours, theirs = tables[DEFAULT], tables["siena, access"]
    owners = [(ours.links[number], ours.broker.owner(ours.links[number])) for number, _ in changing]
    versions = count(2)

    def in_the_core() -> int:
        version = next(versions)
        for (link, owner), (_, place) in zip(owners, changing, strict=True):
            ours.broker.tables.set_context(link, owner, Context(version, place))
        return CHANGES

    def at_least() -> int:
        for number, place in changing:
            least.set_context(number, place)
        return CHANGES

    def rewritten() -> int:
        messages = [message for change in changing[:FEWER] for message in theirs.change(*change)]
        theirs.play(messages)
        return len(messages)

    costs = in_turn({"ours": in_the_core, LEAST: at_least, "siena": rewritten}, rounds)
    what = "context change in the tables"
    yield make(what, "µs", costs["ours"], "lower", at_most=CHANGE_GOAL_US)
    yield make(f"{what}: {LEAST}", "µs", costs[LEAST], "lower")
    yield make("subscribe or unsubscribe with a box, siena", "µs", costs["siena"], "lower")


def _played(clients: Clients, messages: Sequence[tuple[Link, Message]], times: int) -> Work:
    def play() -> int:
        clients.play(messages)
        return times

    return play


def _ratios(what: str, costs: dict[str, list[float]], one: str, other: str) -> Iterator[Figure]:
    values = [ours / theirs for ours, theirs in zip(costs[one], costs[other], strict=True)]
    yield make(f"{what}: {one} / {other}", RATIO, values, "lower")
