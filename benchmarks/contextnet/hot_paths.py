"""What a gateway does for a message and its answer, without sockets and log (``standing``), next to the least Python.

- a message of a node becomes a record; an answer becomes a datagram; its acknowledgement settles the record
- their sum, by the number of nodes
- a message read from and written to MessagePack, next to MessagePack alone
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

import msgpack

from benchmarks.contextnet.least import Least, answers
from benchmarks.contextnet.standing import CONTEXT, PAYLOAD, Standing
from benchmarks.figures import RATIO, Figure, figure
from benchmarks.radiator.timing import Work, in_turn, once, repeated
from overlay.systems.contextnet.records import codec
from overlay.systems.contextnet.records.records import Message

NODES = (1_000, 10_000)
FULL_ROUNDS = 4
CALLS = 5_000
GOAL_US = 90.0
"""For a message and its answer: 11,000 of them in a second of one core. With sockets and log it is more."""
STEPS = ("a message to a record", "a record to a datagram", "an acknowledgement")
Found = TypeVar("Found")
make = partial(figure, "contextnet")


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    sums: dict[int, list[float]] = {}
    for nodes in NODES if rounds >= FULL_ROUNDS else NODES[:1]:
        say(f"hot paths of a gateway with {nodes:,} nodes")
        ours, least = _ours(nodes, rounds), _least(nodes, rounds)
        sums[nodes] = [sum(one) for one in zip(*ours, strict=True)]
        for step, mine, theirs in zip(STEPS, ours, least, strict=True):
            yield make(f"{step}, {nodes:,} nodes", "µs", mine, "lower")
            yield make(f"{step}, {nodes:,} nodes: Python, bare", "µs", theirs, "lower")
        yield make(f"a message and its answer, {nodes:,} nodes", "µs", sums[nodes], "lower", at_most=GOAL_US)
        bare = [sum(one) for one in zip(*least, strict=True)]
        ratios = [one / other for one, other in zip(sums[nodes], bare, strict=True)]
        yield make(f"a message and its answer, {nodes:,} nodes / Python, bare", RATIO, ratios, "lower")
    yield from _codec(rounds)


def _ours(nodes: int, rounds: int) -> list[list[float]]:
    """Of each step the microseconds in each round."""
    standing = Standing(nodes)
    costs: list[list[float]] = [[], [], []]
    for round_number in range(rounds + 1):
        sent = standing.sent(nodes)
        appended, taken = _timed(partial(standing.take_in, sent), nodes)
        records = standing.answers(appended)
        out, given = _timed(partial(standing.give_out, records), nodes)
        settled, ended = _timed(partial(standing.settle, standing.acknowledged(out)), nodes)
        assert settled and len(records) == nodes <= len(out)
        _note(costs, (taken, given, ended), round_number)
    return costs


def _least(nodes: int, rounds: int) -> list[list[float]]:
    least = Least(nodes)
    costs: list[list[float]] = [[], [], []]
    for round_number in range(rounds + 1):
        records, taken = _timed(partial(least.take_in, least.sent()), nodes)
        out, given = _timed(partial(least.give_out, answers(records)), nodes)
        settled, ended = _timed(partial(least.settle, least.acknowledgements()), nodes)
        assert settled == len(out) == nodes
        _note(costs, (taken, given, ended), round_number)
    return costs


def _note(costs: list[list[float]], spent: tuple[float, ...], round_number: int) -> None:
    """The first round is not counted."""
    if round_number:
        for cost, us in zip(costs, spent, strict=True):
            cost.append(us)


def _timed(act: Callable[[], Found], times: int) -> tuple[Found, float]:
    """What it gives, and the microseconds of each time."""
    found: list[Found] = []

    def work() -> int:
        found.append(act())
        return times

    spent_us = once(work)
    return found[0], spent_us


def _codec(rounds: int) -> Iterator[Figure]:
    message = Message(bytes(16), "0" * 32, "inbound", 0, payload=PAYLOAD, context=CONTEXT, reply_to="0" * 32)
    data = codec.write(message)
    plain = msgpack.unpackb(data)
    works: dict[str, Work] = {
        "a message read": repeated(partial(codec.read_message, data), CALLS),
        "a message read: MessagePack alone": repeated(partial(msgpack.unpackb, data), CALLS),
        "a message written": repeated(partial(codec.write, message), CALLS),
        "a message written: MessagePack alone": repeated(partial(msgpack.packb, plain), CALLS),
    }
    for name, costs in in_turn(works, rounds).items():
        yield make(name, "µs", costs, "lower")
