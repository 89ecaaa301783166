"""One broker against a C program that makes the same exchange: speed, processor time, and what they grow with.

The brokers are real ones, forked as the supervisor does, with their journal on and everything that they do. The C
program is ``benchmarks/c/server.c``: *C* is its loop of one ``recvfrom`` and one ``sendto`` for each datagram, *C,
batched* the one of ``recvmmsg`` and ``sendmmsg``, *C, trains* that one with ``UDP_SEGMENT``, as brokers send. *Python,
bare* is the least Python that does as much as the C program (``benchmarks.bare``): what no broker in Python can beat.
Quiet is one Response for a request (code 32); full is ACK 101, Response and ACK 102 (code 3). Values are of 1 kB, a
thousand of them, asked for at random, all from one socket; where every socket waits for one answer, ``peers`` says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from random import Random

from benchmarks.bursts import Burst, Operation, Paired, burst, fill, interleaved
from benchmarks.figures import RATIO, Figure, Unavailable, figure
from benchmarks.neighbours import many_neighbours
from benchmarks.servers import SERVER_CORE, Server, bare_server, brokers, c_server, cores

TITLE = "One broker: requests of 1 kB by key"
DATAGRAMS = ("plain", "ctypes", "compiled")
"""The ways of receiving and sending that ``WAXWING_DATAGRAMS`` names, the best last."""
PROFILES = ("prototype", "improved")
BATCHED = "C, batched"
TRAINS = "C, trains"
BARE = "Python, bare"
GOALS = {"ctypes": 0.7, "compiled": 1.0}
"""Of the rate at 64 outstanding, over C's: by what brokers use without the extension, and with it."""
SERIAL_GOAL = 1.3
"""Of the serial p50 on one core, over C's."""
FOREIGN_GOAL = 0.1
"""With more, the figures are of what else ran; ratios of processor time stand longest."""
GROWTH_GOAL = 1.1
"""What counts as no growth: within what short bursts can tell."""
MANY, CROWD, LARGE_TABLE = 1_000_000, 1_000, {"table_entries": 2_000_000, "table_bytes": 2**33}
SMALL_PAYLOAD = 64
MORE = 3
"""Times as many rounds where a tenth is to be told from nothing."""

Say = Callable[[str], None]
_figure = partial(figure, "broker")


def measure(rounds: int, say: Say) -> Iterator[Figure]:
    """Speed first, then growth."""
    with ExitStack() as stack:
        reference = stack.enter_context(c_server())
        variants = {
            BATCHED: stack.enter_context(c_server("--batch", "64")),
            TRAINS: stack.enter_context(c_server("--batch", "64", "--trains")),
        }
        lacking = _start_brokers(stack, variants)
        fill(reference, 1000)
        fill(variants[BATCHED], 1000)
        fill(variants[TRAINS], 1000)
        yield from _speed(reference, variants, rounds, say)
    yield from _growth(rounds, say)
    if lacking:
        raise Unavailable("; ".join(lacking))


def _start_brokers(stack: ExitStack, variants: dict[str, Server]) -> list[str]:
    """Add to ``variants`` a filled broker of each kind, and bare Python; what this machine cannot do, or does wrong."""
    lacking = []
    for kind in (*DATAGRAMS, *PROFILES):
        environment = {"WAXWING_DATAGRAMS": kind} if kind in DATAGRAMS else {}
        settings = {"profile": kind} if kind in PROFILES else {}
        try:
            [broker] = stack.enter_context(brokers(1, settings, **environment))
            fill(broker, 1000)
            burst(broker, "full")
        except Unavailable as reason:
            lacking.append(f"{kind}: {reason}")
        else:
            variants[f"broker, {kind}"] = broker
            if kind in DATAGRAMS:
                variants[f"{BARE}, {kind}"] = stack.enter_context(bare_server(kind))
                fill(variants[f"{BARE}, {kind}"], 1000)
    return lacking


# ---- speed


def _speed(reference: Server, variants: Mapping[str, Server], rounds: int, say: Say) -> Iterator[Figure]:
    chance = Random(4)
    kinds = [kind for kind in DATAGRAMS if f"broker, {kind}" in variants]
    ends = dict.fromkeys((kinds[0], kinds[-1]))
    few = {name: variants[name] for name in (BATCHED, *(f"broker, {kind}" for kind in ends))}
    bare = {name: variants[name] for name in (f"{BARE}, {kind}" for kind in ends)}
    operations: tuple[Operation, ...] = ("quiet", "full")
    foreign: list[float] = []
    for operation in operations:
        say(f"serial, {operation}, on one core")
        shoot = partial(burst, operation=operation, window=1, is_sleeping=True, core=SERVER_CORE % len(cores()))
        paired = interleaved(reference, few | bare, shoot, rounds, chance)
        yield from _latencies(f"{operation}, serial on one core", few | bare, paired, SERIAL_GOAL)
        for window in (1, 8, 64, 256):
            say(f"{window} outstanding, {operation}")
            compared = variants if window == 64 else few
            shoot = partial(burst, operation=operation, window=window)
            paired = interleaved(reference, compared, shoot, rounds, chance)
            if window == 1:
                yield from _latencies(f"{operation}, serial across cores", few, paired, None)
            yield from _rates(f"{operation}, {window} outstanding", compared, paired, is_main=window == 64)
            foreign += paired.reference("foreign")
    yield _figure("what else kept the machine busy meanwhile", "cores", foreign, "lower", at_most=FOREIGN_GOAL)


def _latencies(what: str, variants: Mapping[str, Server], paired: Paired, goal: float | None) -> Iterator[Figure]:
    yield _figure(f"{what}, p50: C", "µs", paired.reference("p50_us"), "lower")
    yield _figure(f"{what}, p99: C", "µs", paired.reference("p99_us"), "lower")
    for name in variants:
        has_goal = goal if name.startswith("broker") else None
        yield _figure(f"{what}, p50: {name}", "µs", paired.values(name, "p50_us"), "lower")
        yield _figure(f"{what}, p99: {name}", "µs", paired.values(name, "p99_us"), "lower")
        yield _figure(f"{what}, p50: {name} / C", RATIO, paired.ratios(name, "p50_us"), "lower", at_most=has_goal)
        yield _figure(f"{what}, p99: {name} / C", RATIO, paired.ratios(name, "p99_us"), "lower")


def _rates(what: str, variants: Mapping[str, Server], paired: Paired, *, is_main: bool) -> Iterator[Figure]:
    """``is_main``: where the goal is, and where the processor's time is shown too."""
    yield _figure(f"{what}: C", "requests/s", paired.reference("rate"), "higher")
    for name in variants:
        yield _figure(f"{what}: {name}", "requests/s", paired.values(name, "rate"), "higher")
    for name in variants:
        goal = GOALS.get(name.removeprefix("broker, ")) if is_main else None
        yield _figure(f"{what}: {name} / C", RATIO, paired.ratios(name, "rate"), "higher", at_least=goal)
        if name != BATCHED:
            yield _figure(f"{what}: {name} / {BATCHED}", RATIO, paired.ratios(name, "rate", BATCHED), "higher")
    if not is_main:
        return
    yield _figure(f"{what}, processor: C", "µs/request", paired.reference("processor_us"), "lower")
    for name in variants:
        yield _figure(f"{what}, processor: {name}", "µs/request", paired.values(name, "processor_us"), "lower")
        yield _figure(f"{what}, processor: {name} / C", RATIO, paired.ratios(name, "processor_us"), "lower")


# ---- growth


def _growth(rounds: int, say: Say) -> Iterator[Figure]:
    """What a request costs where there is much, over what it costs where there is little."""
    chance = Random(5)
    many = MANY if rounds > 2 else MANY // 10
    with ExitStack() as stack:
        say(f"{many:,} entries")
        pairs = {
            "broker": stack.enter_context(brokers(2, LARGE_TABLE)),
            "C": [stack.enter_context(c_server()), stack.enter_context(c_server())],
        }
        for name, (small, large) in pairs.items():
            fill(small, 1000, payload=SMALL_PAYLOAD)
            fill(large, many, payload=SMALL_PAYLOAD)
            yield from _growth_with_entries(name, small, large, many, rounds)
    say(f"{CROWD:,} neighbours")
    with brokers(2, {"replication_index": 0}) as (few, crowd):
        fill(few, 1000)
        fill(crowd, 1000)
        with many_neighbours({few: 10, crowd: CROWD}) as absent:
            for what, first_key in (("answered", 0), ("forwarded", absent)):
                shoot = partial(burst, window=16, first=first_key)
                ratios = interleaved(few, {"": crowd}, shoot, rounds, chance).ratios("", "processor_us")
                about = f"processor, {CROWD:,} neighbours over 10: broker, {what}"
                yield _figure(about, RATIO, ratios, "lower", at_most=GROWTH_GOAL)


def _growth_with_entries(name: str, small: Server, large: Server, many: int, rounds: int) -> Iterator[Figure]:
    """Asked for as many of them in either, and asked for all, which no cache of the processor holds in any program."""
    for keys, asked in ((1000, "1,000 of them asked for"), (many, "all asked for")):
        shoot = partial(_asking, {small: 1000, large: keys})
        paired = interleaved(small, {name: large}, shoot, MORE * rounds, Random(5))
        what = f"processor, {many:,} entries over 1,000, {asked}: {name}"
        goal = GROWTH_GOAL if name == "broker" and keys < many else None
        ratios = paired.ratios(name, "processor_us")
        yield _figure(what, RATIO, ratios, "lower", at_most=goal)
        spent = zip(paired.values(name, "processor_us"), ratios, strict=True)
        yield _figure(f"{what}, added", "µs/request", [us - us / ratio for us, ratio in spent], "lower")


def _asking(for_keys: Mapping[Server, int], server: Server) -> Burst:
    return burst(server, keys=for_keys[server], payload=SMALL_PAYLOAD)
