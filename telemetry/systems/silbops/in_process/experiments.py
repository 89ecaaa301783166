"""One replicate of each experiment, as rows that the claims of studies reduce."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any

from overlay.systems.silbops.content.values import Values
from telemetry.studies.study import QUICK, Row
from telemetry.systems.silbops.in_process.brokers import ARMS, SIENA, SILBOPS, Broker, Clients, Message
from telemetry.systems.silbops.in_process.population import Population, evenly, mixed
from telemetry.systems.silbops.in_process.timing import Operation, in_turn

PROFILES: Mapping[str, Mapping[str, Any]] = {
    "seed": {"index": "counting", "scope_batch": 0},
    "improved": {"index": "access", "scope_batch": 48},
}
Contender = tuple[str, str]
"""Arm and profile, or arm and index."""
SLOW_FROM = 80_000
"""Subscriptions from which ``counting`` in the siena arm takes 50 ms and more a notification."""
SLOW_NOTIFICATIONS = 200

Replicate = Callable[[int, str], Iterator[Row]]
"""Of a seed and a scale."""


def change_cost(seed: int, scale: str) -> Iterator[Row]:
    """E2.1, Fig. 7: changes of ever more of the connections."""
    population, chance = Population(seed, evenly(10_000, 1_250)), Random(seed)
    each, step = (2, 375) if scale == QUICK else (50, 125)
    for change_scope in ("one", "all"):
        contenders = _profiles(population, has_one_scope=change_scope == "one")
        for changing in chance.sample(range(step, 1_251, step), 1_250 // step):
            spent = in_turn(contenders, _changes(population, range(changing), each * changing), chance)
            for (arm, profile), time_us in spent.items():
                settings = {"arm": arm, "profile": profile}
                workload = {"change_scope": change_scope, "changing_subscribers": changing}
                yield _row(seed, settings, workload, change_core_us=time_us / (each * changing))


def change_load(seed: int, scale: str) -> Iterator[Row]:
    """E2.2, Fig. 8: the time of ever more changes, by subscriptions and subscribers."""
    chance = Random(seed)
    sizes = (1_000, 2_000, 5_000, 10_000, *(() if scale == QUICK else (20_000, 50_000, 100_000)))
    totals = (200, 500, 1_000, 2_000) if scale == QUICK else (1_000, 5_000, 10_000, 20_000, 50_000)
    shapes = [(size, size // 10) for size in sizes] + [
        (size, size * 3 // 25) for size in sizes if size in (10_000, 100_000)
    ]
    populations = {shape: Population(seed, evenly(*shape)) for shape in shapes}
    loaded = {shape: _loaded(SILBOPS, one, "access", 48) for shape, one in populations.items()}
    for shape in chance.sample(shapes, len(shapes)):
        for changes in chance.sample(totals, len(totals)):
            operations = _changes(populations[shape], range(shape[1]), changes)
            [time_us] = in_turn({SILBOPS: loaded[shape]}, operations, chance).values()
            workload = {"subscriptions": shape[0], "subscribers": shape[1], "changes": changes}
            yield _row(seed, {"arm": SILBOPS}, workload, changes_us=time_us, change_core_us=time_us / changes)


def change_width(seed: int, scale: str) -> Iterator[Row]:
    """E2.3, Fig. 9: changes of subscribers with ever more filters."""
    chance, size = Random(seed), 10_000
    for filters in chance.sample((1, 2, 5, 10, 20, 30, 40, 50), 8):
        population = Population(seed, evenly(size, size // filters))
        spent = in_turn(_profiles(population), _changes(population, range(size // filters), 200), chance)
        for (arm, profile), time_us in spent.items():
            workload = {"filters": filters}
            yield _row(seed, {"arm": arm, "profile": profile}, workload, change_core_us=time_us / 200)


def throughput(seed: int, scale: str) -> Iterator[Row]:
    """E2.5, Fig. 11 and Table 1: notifications of both arms, by index."""
    chance = Random(seed)
    for size in (10_000, 80_000):
        population = Population(seed, mixed(size, chance))
        contenders = {
            (arm, index): _loaded(arm, population, index, 48)
            for arm in ARMS
            for index in ("counting", "access", "leaf", *(("cells",) if arm == SIENA else ()))
        }
        slow = {(SIENA, "counting"): contenders.pop((SIENA, "counting"))} if size >= SLOW_FROM else {}
        totals = _notifications(size, scale)
        for total in chance.sample(totals, len(totals)):
            operations = _publications(population, total)
            spent = in_turn(contenders, operations, chance)
            fewer = operations[:SLOW_NOTIFICATIONS]
            per_notification = {name: time_us / total for name, time_us in spent.items()}
            per_notification |= {name: us / len(fewer) for name, us in in_turn(slow, fewer, chance).items()}
            for (arm, index), each_us in per_notification.items():
                workload = {"subscriptions": size, "notifications": total}
                measures = {"notification_core_us": each_us, "throughput_per_s": 1e6 / each_us}
                yield _row(seed, {"arm": arm, "index": index}, workload, **measures)


def break_even(seed: int, scale: str) -> Iterator[Row]:
    """E2.6: both operations of both arms, and runs that mix them."""
    chance, notifications = Random(seed), 200 if scale == QUICK else 1_000
    for size in (10_000, 80_000):
        for filters in (1, 10):
            population = Population(seed, evenly(size, size // filters))
            contenders = {arm: _loaded(arm, population, "access", 48) for arm in ARMS}
            make = partial(_changes, population, range(size // filters))
            changed = in_turn(contenders, make(notifications), chance)
            notified = in_turn(contenders, _publications(population, notifications), chance)
            for arm in ARMS:
                costs = {
                    "change_core_us": changed[arm] / notifications,
                    "notification_core_us": notified[arm] / notifications,
                }
                yield _row(seed, {"arm": arm}, {"subscriptions": size, "filters": filters, "ratio": 0}, **costs)
            for ratio in (0.1, 0.3, 1, 3, 10, 30):
                mixed = [*make(round(notifications / ratio)), *_publications(population, notifications)]
                chance.shuffle(mixed)
                for arm, time_us in in_turn(contenders, mixed, chance).items():
                    workload = {"subscriptions": size, "filters": filters, "ratio": ratio}
                    yield _row(seed, {"arm": arm}, workload, mixed_us=time_us)


EXPERIMENTS: Mapping[str, Replicate] = {
    "E2.1": change_cost,
    "E2.2": change_load,
    "E2.3": change_width,
    "E2.5": throughput,
    "E2.6": break_even,
}


def _profiles(population: Population, *, has_one_scope: bool = False) -> dict[Contender, Clients]:
    return {
        (arm, profile): _loaded(arm, population, **settings, has_one_scope=has_one_scope)
        for arm in ARMS
        for profile, settings in PROFILES.items()
    }


def _loaded(arm: str, population: Population, index: str, scope_batch: int, *, has_one_scope: bool = False) -> Clients:
    clients = Clients(arm, Broker(index, scope_batch), population, has_one_scope=has_one_scope)
    clients.load()
    return clients


def _changes(population: Population, subscribers: Sequence[int], number: int) -> list[Operation]:
    """Of the subscribers in turn."""
    return [partial(_change, subscribers[one % len(subscribers)], population.place()) for one in range(number)]


def _change(subscriber: int, place: Values, clients: Clients) -> Sequence[tuple[Any, Message]]:
    return clients.change(subscriber, place)


def _publications(population: Population, number: int) -> list[Operation]:
    return [partial(_publication, population.notification(), population.place()) for _ in range(number)]


def _publication(notification: Values, place: Values, clients: Clients) -> Sequence[tuple[Any, Message]]:
    return [clients.publication(notification, place)]


def _notifications(size: int, scale: str) -> Sequence[int]:
    if scale != QUICK:
        return 500, 1_000, 2_000, 3_000, 4_000
    return (200,) if size >= SLOW_FROM else (100, 200, 500)


def _row(seed: int, settings: Mapping[str, Any], workload: Mapping[str, Any], **measures: float) -> Row:
    configuration = " ".join(f"{name}={value}" for name, value in {**settings, **workload}.items())
    return Row("", 1, settings, workload, measures, seed, configuration)
