"""One replicate of a study in process: all configurations of its definition, by processor time of this thread.

Those with the same subscriptions share what is loaded, and those with the same operations take turns at them. With very
many subscriptions one contender is loaded at a time. What comes first is drawn for each replicate.
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
from telemetry.errors import TelemetryError
from telemetry.studies.study import Measured
from telemetry.systems.silbops.in_process.brokers import Broker, Clients, Message
from telemetry.systems.silbops.in_process.population import Event, Population
from telemetry.systems.silbops.in_process.timing import Operation, in_turn, kept, undisturbed

WORK = "work_us"
"""Of configurations with changes and notifications: µs of all of them."""
TOGETHER = 100_000
"""Subscriptions up to which all contenders are loaded at once: each takes 1 to 2 GB for a million. Beyond, a machine
that becomes slower between two of them favours one."""
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
    population = Population(Workload(**configurations[0]["workload"]), seed)
    several = [_Work(one) for one in _in_any_order(configurations, _operations, chance)]
    names = list(dict.fromkeys(map(_contender, configurations)))
    is_together = population.workload.subscriptions <= TOGETHER
    for contenders in [names] if is_together else [[name] for name in chance.sample(names, len(names))]:
        yield from _done(several, contenders, population, chance)


class _Work:
    """Configurations with the same operations."""

    def __init__(self, configurations: Sequence[Configuration]) -> None:
        self.configurations = configurations
        self.workload = Workload(**configurations[0]["workload"])
        self._operations: list[Operation] = []
        self._notified: int | None = None

    def operations(self, population: Population, chance: Random) -> list[Operation]:
        """The same each time."""
        if not self._operations:
            self._operations = _drawn(population, self.workload, chance)
        return self._operations

    def check(self, notified: int) -> None:
        """Raises ``TelemetryError`` if it is not as for others before."""
        if self._notified is not None and self._notified != notified:
            raise TelemetryError(f"Brokers differ in whom they notify: {notified} and {self._notified} clients.")
        self._notified = notified


def _done(
    several: Sequence[_Work], names: Sequence[Contender], population: Population, chance: Random
) -> Iterator[Measured]:
    """All work by these contenders, which are loaded meanwhile."""
    with undisturbed():
        loaded = {name: _loaded(name, population) for name in names}
    with kept():
        for work in several:
            here = [(one, name) for one in work.configurations if (name := _contender(one)) in loaded]
            contenders = {name: loaded[name] for _, name in here}
            before = {name: clients.broker.notified for name, clients in contenders.items()}
            spent = in_turn(contenders, work.operations(population, chance), chance)
            for one, name in here:
                deliveries = loaded[name].broker.notified - before[name]
                work.check(deliveries)
                yield one, _measures(work.workload, spent[name], deliveries)


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
