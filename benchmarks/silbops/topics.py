"""Redis, NATS and Mosquitto with the nearest expression in topics: a cell of the ground and one equality.

They know equal topics, no conjunctions and no bounds. So a subscriber joins, for each of its filters, the filter's
rarest equality (or a name) in each cell of 40 km that its square touches, four as a rule. A notification is published
in its cell under each of its attributes, with the value and without. What comes is then tested by the subscriber: all
that SilboPS would deliver is among it, which is checked, and the rest is surplus. A move leaves the topics of the old
cells and joins those of the new.

Processor time is that of the server's process, with its sockets. Counterpart: ``topic_clients``, all clients in one.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import floor
from random import Random
from typing import Any, NamedTuple

from benchmarks.figures import Figure, Unavailable, figure
from benchmarks.peers.contenders import RIVALS, Stage
from benchmarks.peers.processes import Failed, Process, free_port
from benchmarks.servers import scratch
from benchmarks.silbops.least import Least, key_and_rest
from overlay.systems.silbops.content.values import Values
from telemetry.systems.silbops.in_process.population import Population, evenly

SUBSCRIBERS, QUICK_SUBSCRIBERS, FILTERS = 900, 200, 10
FULL_ROUNDS = 4
NOTIFICATIONS, MOVES = 500, 200
ANSWERS_WITHIN_S = 120.0
make = partial(figure, "silbops")

Started = tuple[Process, int]
"""The server and its port."""


class Peer(NamedTuple):
    name: str
    """As in the section ``peers``."""
    protocol: str
    start: Callable[[Stage, str], Started]


class Result(NamedTuple):
    notification_us: float
    move_us: float
    copies: float
    """Messages at subscribers, of a notification."""
    bytes: float


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    """Raises ``Unavailable`` at the end, with the peers that are not installed or gave up."""
    subscribers = SUBSCRIBERS if rounds >= FULL_ROUNDS else QUICK_SUBSCRIBERS
    plan, due = _plan(subscribers)
    what = f"{subscribers} subscribers of {FILTERS} filters as topics"
    yield make(f"{what}: useful deliveries of a notification", "deliveries", [len(due) / NOTIFICATIONS], "higher")
    joined = sum(len(left) + len(joined) for _, left, joined in plan["moves"]) / MOVES
    yield make(f"{what}: topics left and joined by a move", "topics", [joined], "lower")
    found: dict[str, list[Result]] = defaultdict(list)
    lacking: dict[str, str] = {}
    for _ in range(max(1, rounds // 3)):
        for peer in PEERS:
            rival = next(each for each in RIVALS if each.name == peer.name)
            program = rival.find()
            if program is None:
                lacking[peer.name] = f"not installed: {rival.install}"
                continue
            say(f"{what}: {peer.name}")
            try:
                found[peer.name].append(_result(peer, program, plan, due))
            except Failed as reason:
                lacking[peer.name] = str(reason)
    for name, results in found.items():
        yield from _figures(f"{what}: {name}", results, len(due) / NOTIFICATIONS)
    if lacking:
        raise Unavailable("; ".join(f"{name}: {reason}" for name, reason in lacking.items()))


def _figures(what: str, results: Sequence[Result], useful: float) -> Iterator[Figure]:
    yield make(f"{what}: a notification", "µs", [one.notification_us for one in results], "lower")
    yield make(f"{what}: a move", "µs", [one.move_us for one in results], "lower")
    surplus = [one.copies - useful for one in results]
    yield make(f"{what}: surplus of a notification", "deliveries", surplus, "lower")
    yield make(f"{what}: bytes to subscribers, of a notification", "bytes", [one.bytes for one in results], "lower")


def _result(peer: Peer, program: str, plan: Mapping[str, Any], due: set[tuple[int, int]]) -> Result:
    """Raises ``Failed``."""
    with scratch() as directory, Stage(directory) as stage:
        server, port = peer.start(stage, program)
        server.wait_until_it_listens(port)
        file = directory / "plan.json"
        file.write_text(json.dumps(plan), encoding="utf-8")
        clients = stage.start(sys.executable, "-m", "benchmarks.silbops.topic_clients", peer.protocol, str(port), file)
        if clients.line(ANSWERS_WITHIN_S) != "ready":
            raise Failed("the subscribers are not ready")
        spent_us, told = [], []
        for act in ("publish", "move"):
            before = server.cpu_seconds()
            clients.tell(act)
            told.append(json.loads(clients.line(ANSWERS_WITHIN_S)))
            spent_us.append((server.cpu_seconds() - before) * 1e6)
    received = told[0]["received"]
    if not due <= {(number, subscriber) for subscriber, several in enumerate(received) for number in several}:
        raise Failed("some who are owed a notification did not get it")
    copies = sum(map(len, received)) / NOTIFICATIONS
    return Result(spent_us[0] / NOTIFICATIONS, spent_us[1] / MOVES, copies, told[0]["bytes"] / NOTIFICATIONS)


def _plan(subscribers: int) -> tuple[dict[str, Any], set[tuple[int, int]]]:
    """For ``topic_clients``, and the pairs of publications and subscribers that are useful."""
    chance = Random(subscribers)
    population = Population(evenly(subscribers * FILTERS, subscribers), subscribers)
    least, crowds = Least(population.workload.radius_km), dict[str, int]()
    keys = [list(dict.fromkeys(key_and_rest(one, crowds)[0] for one in each)) for each in population.filters]
    for number, place in enumerate(population.places):
        least.set_context(number, place)
        for one in population.filters[number]:
            least.subscribe(number, one)
    events = [population.event() for _ in range(NOTIFICATIONS)]
    due = {(number, one) for number, event in enumerate(events) for one in least.notify(*event)}
    topics = [_topics(population, place, keys[number]) for number, place in enumerate(population.places)]
    moves, now = [], [dict.fromkeys(each) for each in topics]
    for subscriber in (chance.randrange(subscribers) for _ in range(MOVES)):
        after = dict.fromkeys(_topics(population, population.moved(subscriber), keys[subscriber]))
        before, now[subscriber] = now[subscriber], after
        left, joined = [one for one in before if one not in after], [one for one in after if one not in before]
        moves.append((subscriber, left, joined))
    publications = [
        [f"{_cell(population, place)}-{key}" for name, value in content.items() for key in (name, f"{name}={value!r}")]
        for content, place in events
    ]
    return {"topics": topics, "moves": moves, "publications": publications}, due


def _topics(population: Population, place: Values, keys: Sequence[str]) -> list[str]:
    radius = population.workload.radius_km
    corners = [
        {"x": float(place["x"]) + x, "y": float(place["y"]) + y} for x in (-radius, radius) for y in (-radius, radius)
    ]
    cells = dict.fromkeys(_cell(population, corner) for corner in corners)
    return [f"{cell}-{key}" for cell in cells for key in keys]


def _cell(population: Population, place: Values) -> str:
    """Its side is that of the squares, so a square touches four at most."""
    side = 2 * population.workload.radius_km
    return f"{floor(float(place['x']) / side)}-{floor(float(place['y']) / side)}"


def _redis(stage: Stage, program: str) -> Started:
    port = free_port()
    quiet = ("--save", "", "--appendonly", "no", "--daemonize", "no", "--dir", str(stage.directory))
    return stage.start(program, "--bind", "127.0.0.1", "--port", str(port), *quiet), port


def _nats(stage: Stage, program: str) -> Started:
    return _configured(stage, program, 'listen: "127.0.0.1:{port}"\nping_interval: "10h"\n')


def _mosquitto(stage: Stage, program: str) -> Started:
    words = "listener {port} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\nlog_type none\n"
    return _configured(stage, program, words)


def _configured(stage: Stage, program: str, words: str) -> Started:
    port, file = free_port(), stage.directory / "server.conf"
    file.write_text(words.format(port=port), encoding="utf-8")
    return stage.start(program, "-c", file), port


PEERS = (Peer("Redis", "redis", _redis), Peer("NATS", "nats", _nats), Peer("Mosquitto", "mqtt", _mosquitto))
