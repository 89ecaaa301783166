"""Memory of a broker, compared with a C program and with a minimal forked Python process.

Brokers are forked by one supervisor and write journals. The minimal Python process is ``benchmarks.forked``. RSS counts
shared memory fully in each process, PSS divides it among them, and USS excludes it. PSS depends on the number of
processes, so the increase of total PSS by one more broker is measured as well, including the supervisor. One round is
enough, because memory hardly varies.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.bursts import burst, fill
from benchmarks.figures import Figure, figure
from benchmarks.servers import Server, brokers, c_server

TITLE = "Memory of brokers"
IDLE_GOAL_KIB, LOADED_GOAL_KIB = 1536, 1434
BROKERS, MORE_BROKERS = 10, 30
STORED = (1_000, 100_000)
"""Numbers of entries of 1 kB at which memory is measured."""
FORKED = Path(__file__).with_name("forked.py")

Say = Callable[[str], None]
_figure = partial(figure, "memory", unit="KiB", better="lower")


def measure(rounds: int, say: Say) -> Iterator[Figure]:
    """Memory when idle, with entries, and added by one more broker."""
    few, many = STORED
    say(f"{BROKERS} brokers")
    with brokers(BROKERS) as ten, _forked_python(BROKERS) as least, c_server() as c:
        contenders = {"C": [c], "Python, forked": least, "broker": ten}
        idle = {name: _pss(servers) for name, servers in contenders.items()}
        alone = _pss_of_all(ten)
        for name, servers in contenders.items():
            yield from _sizes(f"idle: {name}", servers, pss_at_most=IDLE_GOAL_KIB if name == "broker" else None)
        for each in (*ten, *least, c):
            fill(each, few)
            burst(each, keys=few)
        for name, servers in contenders.items():
            yield from _sizes(f"{few:,} entries: {name}", servers)
        for name, servers in contenders.items():
            goal = LOADED_GOAL_KIB if name == "broker" else None
            yield _figure(f"added by {few:,} entries: {name}, PSS", values=[_pss(servers) - idle[name]], at_most=goal)
        say(f"{many:,} entries")
        for each in (ten[0], c):
            fill(each, many - few, first=few)
        yield from _sizes(f"{many:,} entries: C", [c])
        yield from _sizes(f"{many:,} entries: broker", ten[:1])
    say(f"{MORE_BROKERS} brokers")
    with brokers(MORE_BROKERS) as more:
        yield from _sizes(f"idle: broker, one of {MORE_BROKERS}", more)
        added = (_pss_of_all(more) - alone) / (MORE_BROKERS - BROKERS)
        yield _figure("added by one more broker, idle: PSS of all", values=[added], at_most=IDLE_GOAL_KIB)


def _sizes(what: str, servers: Sequence[Server], *, pss_at_most: float | None = None) -> Iterator[Figure]:
    """The medians of ``servers``."""
    sizes = zip(*(each.memory_kib() for each in servers), strict=True)
    for name, of_all in zip(("RSS", "PSS", "USS"), sizes, strict=True):
        yield _figure(f"{what}, {name}", values=[median(of_all)], at_most=pss_at_most if name == "PSS" else None)


def _pss(servers: Sequence[Server]) -> float:
    return median(each.memory_kib()[1] for each in servers)


def _pss_of_all(servers: Sequence[Server]) -> int:
    """The memory of brokers and of the supervisor that forked them."""
    stat = Path(f"/proc/{servers[0].pid}/stat").read_text(encoding="ascii")
    supervisor = Server("", int(stat.rpartition(")")[2].split()[1]))
    return sum(each.memory_kib()[1] for each in (supervisor, *servers))


@contextmanager
def _forked_python(count: int) -> Iterator[list[Server]]:
    command = [sys.executable, "-I", "-S", str(FORKED), str(count)]
    pipe = subprocess.PIPE
    # Its own session, so that Ctrl-C reaches only this process, which then stops it.
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, start_new_session=True) as process:
        assert process.stdin and process.stdout
        try:
            told = [process.stdout.readline().split() for _ in range(count)]
            yield [Server(address, int(pid)) for address, pid in told]
        finally:
            process.stdin.close()
