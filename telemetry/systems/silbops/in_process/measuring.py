"""One replicate of a study in process: all configurations of its definition, by processor time of this thread.

Those with the same subscriptions share what is loaded, and those with the same operations take turns at them. What
comes first is drawn for each replicate.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from random import Random
from typing import Any

from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.settings import Settings
from overlay.systems.silbops.workload import Workload
from telemetry.studies.study import Measured
from telemetry.systems.silbops.in_process.brokers import Broker, Clients, Message
from telemetry.systems.silbops.in_process.population import Event, Population
from telemetry.systems.silbops.in_process.timing import Operation, in_turn, undisturbed

WORK = "work_us"
"""Of configurations with changes and notifications: µs of all of them."""
COUNTED = ("changes", "notifications", "changing_subscribers")
"""Fields of the workload that say what is done; the others, with which subscriptions."""
Contender = tuple[str, str, int]
"""Arm, index and ``scope_batch``."""
Configuration = Mapping[str, Any]


def measured(configurations: Sequence[Configuration], seed: int) -> Iterator[Measured]:
    """Each configuration with its measures: means per change or notification, or ``WORK``, and what is counted.

    Raises ``TelemetryError`` if brokers differ in whom they notify.
    """
    chance = Random(seed)
    for alike in _in_any_order(configurations, _subscriptions, chance):
        yield from _with_same_subscriptions(alike, seed, chance)


def _with_same_subscriptions(configurations: Sequence[Configuration], seed: int, chance: Random) -> Iterator[Measured]:
    with undisturbed():
        population = Population(Workload(**configurations[0]["workload"]), seed)
        loaded = {name: _loaded(name, population) for name in dict.fromkeys(map(_contender, configurations))}
    for same in _in_any_order(configurations, _operations, chance):
        contenders = {name: loaded[name] for name in map(_contender, same)}
        before = {name: clients.broker.notified for name, clients in contenders.items()}
        workload = Workload(**same[0]["workload"])
        spent = in_turn(contenders, _drawn(population, workload, chance), chance)
        for one in same:
            name = _contender(one)
            yield one, _measures(workload, spent[name], loaded[name].broker.notified - before[name])


def _measures(workload: Workload, spent_us: float, deliveries: int) -> dict[str, float]:
    changes, notifications = workload.changes, workload.notifications
    counts = {"context_changes": changes, "publications": notifications, "deliveries": deliveries}
    if changes and notifications:
        return {WORK: spent_us, **counts}
    if changes:
        return {"change_core": spent_us / changes, **counts}
    return {"notification_core": spent_us / notifications, **counts}


def _loaded(name: Contender, population: Population) -> Clients:
    arm, index, scope_batch = name
    clients = Clients(arm, Broker(index, scope_batch), population)
    clients.load()
    return clients


def _drawn(population: Population, workload: Workload, chance: Random) -> list[Operation]:
    """Changes of the subscribers in turn, and notifications, mixed."""
    subscribers = (number % workload.changing for number in range(workload.changes))
    changes = [partial(_change, one, population.moved(one)) for one in subscribers]
    events = [partial(_publication, population.event()) for _ in range(workload.notifications)]
    operations: list[Operation] = [*changes, *events]
    if changes and events:
        chance.shuffle(operations)
    return operations


def _change(subscriber: int, place: Values, clients: Clients) -> Sequence[tuple[Any, Message]]:
    return clients.change(subscriber, place)


def _publication(event: Event, clients: Clients) -> Sequence[tuple[Any, Message]]:
    return [clients.publication(*event)]


# ---- what configurations have in common


def _subscriptions(one: Configuration) -> Hashable:
    return tuple((name, value) for name, value in sorted(one["workload"].items()) if name not in COUNTED)


def _operations(one: Configuration) -> Hashable:
    return tuple(one["workload"][name] for name in COUNTED)


def _contender(one: Configuration) -> Contender:
    settings = Settings(**{name: value for name, value in one["settings"].items() if name != "profile"})
    return settings.arm, settings.index, settings.scope_batch


def _in_any_order(
    configurations: Sequence[Configuration], key: Callable[[Configuration], Any], chance: Random
) -> list[list[Configuration]]:
    groups = [list(group) for _, group in groupby(sorted(configurations, key=key), key)]
    return chance.sample(groups, len(groups))
