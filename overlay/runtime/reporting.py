"""What every process reports of itself: how its journal begins, and a tick of what it looks like.

A broker's memory is measured, so the journal's own module is imported only where there is one to write.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overlay import __version__
from overlay.addresses import Address, format_address
from overlay.facts import Holdings, Start, Tick, Trace
from overlay.runtime.clock import wall_offset_ns
from overlay.runtime.usage import memory, processor_us

if TYPE_CHECKING:
    from overlay.broker.messages import Key
    from overlay.broker.tracing import Step
    from overlay.journal import JournalWriter


MOST_KEYS = 1_000
"""Of what a broker holds, as many keys are written down."""


def open_journal(path: Path, process: str, zero_ns: int, address: Address | None = None) -> JournalWriter:
    """The journal of this process, begun. ``zero_ns`` is the monotonic instant that its times count from."""
    from overlay.journal import JournalWriter

    known_as = format_address(address) if address else ""
    return JournalWriter(path, Start(process, os.getpid(), (zero_ns + wall_offset_ns()) // 1000, __version__, known_as))


def make_tick(process: str, at_us: int, counters: dict[str, int], histogram: str = "") -> Tick:
    """What this process looks like now."""
    rss, pss, uss = memory()
    return Tick(process, at_us, counters, histogram, rss, pss, uss, processor_us())


def make_holdings(process: str, at_us: int, held: Mapping[Key, bool]) -> Holdings:
    """What a broker holds. Of too much the shortest keys are kept: every broker then keeps the same, and those of
    numbered entities are the first, which are asked for most.
    """
    keys = sorted(("|".join(key), is_own) for key, is_own in held.items())
    kept = sorted(keys, key=lambda pair: len(pair[0]))[:MOST_KEYS]
    own, replicas = ([key for key, is_own in kept if is_own is wanted] for wanted in (True, False))
    return Holdings(process, at_us, own, replicas, len(keys) - len(kept))


def make_traces(process: str, steps: Iterable[Step], zero_ns: int) -> list[Trace]:
    """The steps of each query together."""
    queries: dict[tuple[Address, int, str], list[list[Any]]] = defaultdict(list)
    for step in steps:
        peer = format_address(step.peer) if step.peer else ""
        row = [(step.at - zero_ns) // 1000, step.step, peer, step.detail]
        queries[step.consumer, step.timestamp, step.entity].append(row)
    return [Trace(process, format_address(who), stamp, what, rows) for (who, stamp, what), rows in queries.items()]
