"""SQLite's R*Tree and PostgreSQL on the same matching work: who gets a notification, and a subscriber that moves.

Each does it as one would who knows it well. Squares belong to subscribers, so a move is one row. SQLite finds the
squares around a place, in this process; the content of their filters is tested in Python. PostgreSQL has filters as
rows with their rarest equality as a key (a hash index), squares with GiST, and one query joins them; what is left of a
filter is tested in Python, and its time is that of its process and of this one. Neither has neighbours to tell, and
neither refuses anything. All find the same subscribers, which is checked.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from random import Random
from typing import Any, Protocol

from benchmarks.figures import RATIO, Figure, Unavailable, figure
from benchmarks.peers.processes import Threads
from benchmarks.silbops.least import Rest, key_and_rest
from overlay.systems.silbops.content.constraints import COMPARISONS
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.names import SILBOPS
from telemetry.systems.silbops.in_process.brokers import CAMERA, Broker, Clients
from telemetry.systems.silbops.in_process.population import Population, evenly
from telemetry.systems.silbops.in_process.timing import undisturbed
from tests.postgresql import NoServer, server

SUBSCRIPTIONS, QUICK_SUBSCRIPTIONS = 80_000, 10_000
FULL_ROUNDS = 4
NOTIFICATIONS, MOVES = 100, 200
OURS = "silbops"
make = partial(figure, "silbops")

Event = tuple[Values, Values]
"""A notification and its place."""


class Matcher(Protocol):
    def notify(self, notification: Values, place: Values) -> set[int]:
        """Subscribers who get it."""
        ...

    def move(self, subscriber: int, place: Values) -> None: ...
    def spent_s(self) -> float:
        """Processor time so far, of all processes that it takes."""
        ...


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    size = SUBSCRIPTIONS if rounds >= FULL_ROUNDS else QUICK_SUBSCRIPTIONS
    say(f"{size:,} subscriptions in SQLite and PostgreSQL")
    population = Population(evenly(size), size)
    lacking = ""
    with ExitStack() as stack:
        matchers: dict[str, Matcher] = {OURS: Ours(population), "SQLite R*Tree": SqliteTree(population)}
        try:
            matchers["PostgreSQL"] = Postgres(population, stack.enter_context(server()))
        except NoServer as reason:
            lacking = str(reason)
        say("the same work by each")
        with undisturbed():
            yield from _compared(matchers, population, size, rounds)
    if lacking:
        raise Unavailable(lacking)


def _compared(matchers: Mapping[str, Matcher], population: Population, size: int, rounds: int) -> Iterator[Figure]:
    chance, people = Random(rounds), len(population.places)
    notified: dict[str, list[float]] = {name: [] for name in matchers}
    moved: dict[str, list[float]] = {name: [] for name in matchers}
    deliveries: list[float] = []
    for _ in range(rounds):
        moves = [(number, population.moved(number)) for number in (chance.randrange(people) for _ in range(MOVES))]
        events = [population.event() for _ in range(NOTIFICATIONS)]
        answers = []
        for name in chance.sample(list(matchers), len(matchers)):
            one, began = matchers[name], matchers[name].spent_s()
            for move in moves:
                one.move(*move)
            between = one.spent_s()
            answers.append([one.notify(*event) for event in events])
            moved[name].append((between - began) * 1e6 / MOVES)
            notified[name].append((one.spent_s() - between) * 1e6 / NOTIFICATIONS)
        if any(found != answers[0] for found in answers):
            raise RuntimeError("matchers differ in whom they notify")
        deliveries.append(sum(map(len, answers[0])) / NOTIFICATIONS)
    yield make(f"{size:,} subscriptions: deliveries of a notification", "deliveries", deliveries, "higher")
    for what, costs in {"a notification": notified, "a move": moved}.items():
        for name, us in costs.items():
            yield make(f"{size:,} subscriptions, {what}: {name}", "µs", us, "lower")
            if name != OURS:
                ratios = [theirs / ours for theirs, ours in zip(us, costs[OURS], strict=True)]
                yield make(f"{size:,} subscriptions, {what}: {name} / {OURS}", RATIO, ratios, "higher")


class Ours:
    """The default: context apart, by access predicates."""

    def __init__(self, population: Population) -> None:
        self._clients = Clients(SILBOPS, Broker("access", 48), population)
        self._clients.load()

    def notify(self, notification: Values, place: Values) -> set[int]:
        tables = self._clients.broker.tables
        return {int(one.link.name) for one in tables.route(CAMERA, notification, place)}

    def move(self, subscriber: int, place: Values) -> None:
        self._clients.play(self._clients.change(subscriber, place))

    def spent_s(self) -> float:
        return time.process_time()


class SqliteTree:
    """Its numbers have 32 bits and are rounded outwards, so places are compared again."""

    def __init__(self, population: Population) -> None:
        self._radius = population.workload.radius_km
        self._places = list(population.places)
        self._filters = [[_tests(one) for one in filters] for filters in population.filters]
        self._database = sqlite3.connect(":memory:", isolation_level=None)
        self._database.execute("create virtual table squares using rtree(id, west, east, south, north)")
        squares = ((number, *_square(place, self._radius)) for number, place in enumerate(self._places))
        self._database.execute("begin")
        self._database.executemany("insert into squares values (?, ?, ?, ?, ?)", squares)
        self._database.execute("commit")

    def notify(self, notification: Values, place: Values) -> set[int]:
        x, y = place["x"], place["y"]
        near = "select id from squares where west <= ? and east >= ? and south <= ? and north >= ?"
        found = set()
        for (number,) in self._database.execute(near, (x, x, y, y)):
            if _is_inside(place, self._places[number], self._radius) and any(
                _passes(notification, rest) for rest in self._filters[number]
            ):
                found.add(number)
        return found

    def move(self, subscriber: int, place: Values) -> None:
        self._places[subscriber] = place
        self._database.execute(
            "update squares set west = ?, east = ?, south = ?, north = ? where id = ?",
            (*_square(place, self._radius), subscriber),
        )

    def spent_s(self) -> float:
        return time.process_time()


class Postgres:
    def __init__(self, population: Population, url: str) -> None:
        import psycopg

        self._radius = population.workload.radius_km
        self._connection = psycopg.connect(url, autocommit=True, prepare_threshold=1)
        self._execute = self._connection.execute
        self._execute("create table subscribers (id integer primary key, area box not null)")
        self._execute("create table filters (subscriber integer not null, key text not null, rest text not null)")
        with self._connection.cursor() as cursor:
            with cursor.copy("copy subscribers from stdin") as copy:
                for number, place in enumerate(population.places):
                    west, east, south, north = _square(place, self._radius)
                    copy.write_row((number, f"({east!r},{north!r}),({west!r},{south!r})"))
            with cursor.copy("copy filters from stdin") as copy:
                crowds: dict[str, int] = {}
                for number, filters in enumerate(population.filters):
                    for one in filters:
                        key, rest = key_and_rest(one, crowds)
                        copy.write_row((number, key, json.dumps(rest)))
        self._execute("create index on subscribers using gist (area)")
        self._execute("create index on filters using hash (key)")
        self._execute("create index on filters (subscriber)")
        self._execute("analyze")
        row = self._execute("select pg_backend_pid()").fetchone()
        assert row is not None
        self._server = Threads(row[0])

    def notify(self, notification: Values, place: Values) -> set[int]:
        keys = [key for name, value in notification.items() for key in (name, f"{name}={value!r}")]
        query = (
            "select subscriber, rest from filters join subscribers on id = subscriber "
            "where key = any(%s) and area @> point(%s, %s)"
        )
        rows = self._execute(query, (keys, place["x"], place["y"])).fetchall()
        return {number for number, rest in rows if _passes(notification, _compared_by(json.loads(rest)))}

    def move(self, subscriber: int, place: Values) -> None:
        west, east, south, north = _square(place, self._radius)
        update = "update subscribers set area = box(point(%s, %s), point(%s, %s)) where id = %s"
        self._execute(update, (east, north, west, south, subscriber))

    def spent_s(self) -> float:
        return time.process_time() + self._server.cpu_seconds()


def _square(place: Values, radius: float) -> tuple[float, float, float, float]:
    x, y = float(place["x"]), float(place["y"])
    return x - radius, x + radius, y - radius, y + radius


def _is_inside(place: Values, centre: Values, radius: float) -> bool:
    west, east, south, north = _square(centre, radius)
    return west <= float(place["x"]) <= east and south <= float(place["y"]) <= north


def _tests(one: Any) -> Rest:
    return tuple((part.name, COMPARISONS[part.op], part.value) for part in one)


def _compared_by(rest: Sequence[Sequence[Any]]) -> Rest:
    return tuple((name, COMPARISONS[op], value) for name, op, value in rest)


def _passes(notification: Values, rest: Rest) -> bool:
    return all(name in notification and compare(notification[name], value) for name, compare, value in rest)
