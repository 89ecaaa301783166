"""What else a broker does, against the same in C: store, answer pings, forward, replicate.

A hop of forwarding is four datagrams: a request in and out, a Response in and out. It is measured on one process in the
middle of a chain whose other two are C programs, so that it is its cost alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from random import Random

from benchmarks.broker import BARE, BATCHED, DATAGRAMS
from benchmarks.bursts import Burst, Operation, burst, fill, interleaved
from benchmarks.figures import RATIO, Figure, Unavailable, figure
from benchmarks.neighbours import free_port, join, order_join
from benchmarks.servers import CLIENT_CORE, SERVER_CORE, Server, bare_server, brokers, c_server, cores

TITLE = "Updates, pings, forwarding and replication"
HOP_GOALS = {"ctypes": 1.7, "compiled": 1.4}
CHAIN = 5
REPLICATED = 1000
"""Entities asked for in one burst; each is asked for once, since a replica then answers in the next broker's place."""

Say = Callable[[str], None]
_figure = partial(figure, "messages")


def measure(rounds: int, say: Say) -> Iterator[Figure]:
    yield from _stored_and_pinged(rounds, say)
    yield from _hop(rounds, say)
    yield from _chain(rounds, say)
    yield from _replication(rounds, say)


def _stored_and_pinged(rounds: int, say: Say) -> Iterator[Figure]:
    with ExitStack() as stack:
        reference = stack.enter_context(c_server())
        [broker] = stack.enter_context(brokers())
        variants = {BATCHED: stack.enter_context(c_server("--batch", "64")), "broker": broker}
        operations: dict[str, Operation] = {"update of 1 kB": "put", "ping": "ping"}
        for what, operation in operations.items():
            say(what)
            paired = interleaved(reference, variants, partial(burst, operation=operation), rounds, Random(6))
            yield _figure(f"{what}, 64 outstanding: C", "requests/s", paired.reference("rate"), "higher")
            for name in variants:
                yield _figure(f"{what}, 64 outstanding: {name}", "requests/s", paired.values(name, "rate"), "higher")
                yield _figure(f"{what}, 64 outstanding: {name} / C", RATIO, paired.ratios(name, "rate"), "higher")
                costs = paired.ratios(name, "processor_us")
                yield _figure(f"{what}, 64 outstanding, processor: {name} / C", RATIO, costs, "lower")


def _hop(rounds: int, say: Say) -> Iterator[Figure]:
    say("one hop")
    with ExitStack() as stack:
        port = free_port()
        last_address = f"127.0.0.1:{port}"
        middles = {"C": stack.enter_context(c_server("--next", last_address))}
        for kind in DATAGRAMS:
            try:
                [middle] = stack.enter_context(brokers(1, {"replication_index": 0}, WAXWING_DATAGRAMS=kind))
            except Unavailable:  # the first section says why
                continue
            join(middle, ("127.0.0.1", port))
            middles[f"broker, {kind}"] = middle
            middles[f"{BARE}, {kind}"] = stack.enter_context(bare_server(kind, "--next", last_address))
        last = stack.enter_context(c_server("--bind", last_address))
        last.pin(CLIENT_CORE)
        fill(last, 1000)
        entries = {}
        for name, middle in middles.items():
            entries[name] = stack.enter_context(c_server("--next", middle.address))
            entries[name].pin(CLIENT_CORE)
        behind = {entry: middles[name] for name, entry in entries.items()}

        def shoot(entry: Server) -> Burst:
            return burst(entry, window=64, measured=(behind[entry],), is_sleeping=True)

        reference = entries.pop("C")
        paired = interleaved(reference, entries, shoot, rounds, Random(7))
        yield _figure("forwarding, processor per hop: C", "µs/request", paired.reference("processor_us"), "lower")
        for name in entries:
            costs, goal = paired.ratios(name, "processor_us"), HOP_GOALS.get(name.removeprefix("broker, "))
            yield _figure(
                f"forwarding, processor per hop: {name}", "µs/request", paired.values(name, "processor_us"), "lower"
            )
            yield _figure(f"forwarding, processor per hop: {name} / C", RATIO, costs, "lower", at_most=goal)


def _chain(rounds: int, say: Say) -> Iterator[Figure]:
    """An answer over four hops: brokers in a line and C programs in a line, all on one core."""
    say(f"a chain of {CHAIN}")
    with ExitStack() as stack:
        line = stack.enter_context(brokers(CHAIN, {"replication_index": 0}))
        for one, other in pairwise(line):
            order_join(one, other)
        c_line = [stack.enter_context(c_server())]
        for _ in range(CHAIN - 1):
            c_line.insert(0, stack.enter_context(c_server("--next", c_line[0].address)))
        fill(line[-1], 1000)
        fill(c_line[-1], 1000)
        shoot = partial(burst, window=1, is_sleeping=True, core=SERVER_CORE % len(cores()))
        paired = interleaved(c_line[0], {"": line[0]}, shoot, rounds, Random(8))
        what = f"answer over {CHAIN - 1} hops, serial on one core, p50"
        yield _figure(f"{what}: C", "µs", paired.reference("p50_us"), "lower")
        yield _figure(f"{what}: broker", "µs", paired.values("", "p50_us"), "lower")
        yield _figure(f"{what}: broker / C", RATIO, paired.ratios("", "p50_us"), "lower")


def _replication(rounds: int, say: Say) -> Iterator[Figure]:
    """Two brokers, the second has the data, the first keeps a replica of each answer or does not."""
    say("replication")
    with ExitStack() as stack:
        pairs: dict[Server, Server] = {}
        for index in (0, 1):
            first, second = stack.enter_context(brokers(2, {"replication_index": index}))
            order_join(first, second)
            fill(second, REPLICATED * (rounds + 1))
            pairs[first] = second
        without, with_replicas = pairs
        asked = dict.fromkeys(pairs, 0)

        def shoot(first: Server) -> Burst:
            done = burst(
                first,
                window=16,
                measured=(first, pairs[first]),
                is_sleeping=True,
                count=REPLICATED,
                keys=REPLICATED,
                first=asked[first],
                in_order=True,
            )
            asked[first] += REPLICATED if first is with_replicas else 0
            return done

        paired = interleaved(without, {"": with_replicas}, shoot, rounds, Random(9))
        costs = paired.ratios("", "processor_us")
        yield _figure("processor of an answer over one hop: replica kept / none kept", RATIO, costs, "lower")
