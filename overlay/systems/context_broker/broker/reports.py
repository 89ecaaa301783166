"""Facts reported by a broker in addition to its counters. Pure.

Counterparts: ``overlay.runtime.server_process`` and ``overlay.sim.journals`` write them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from overlay.core.addresses import Address, format_address
from overlay.journal.facts import Holdings, Trace
from overlay.systems.context_broker.broker.tracing import Step
from overlay.systems.context_broker.wire.messages import Key

MOST_KEYS = 1_000
"""Maximum reported keys of a broker's entries."""


def make_holdings(process: str, at_us: int, held: Mapping[Key, bool]) -> Holdings:
    """The entries of a broker. If there are too many, the shortest keys are reported: these are the same at every
    broker, and for numbered entities they are the first and most popular ones.
    """
    keys = sorted(("|".join(key), is_own) for key, is_own in held.items())
    kept = sorted(keys, key=lambda pair: len(pair[0]))[:MOST_KEYS]
    own, replicas = ([key for key, is_own in kept if is_own is wanted] for wanted in (True, False))
    return Holdings(process, at_us, own, replicas, len(keys) - len(kept))


def make_traces(process: str, steps: Iterable[Step], zero_ns: int) -> list[Trace]:
    """The steps grouped by query."""
    queries: dict[tuple[Address, int, str], list[list[Any]]] = defaultdict(list)
    for step in steps:
        peer = format_address(step.peer) if step.peer else ""
        row = [(step.at - zero_ns) // 1000, step.step, peer, step.detail]
        queries[step.consumer, step.timestamp, step.entity].append(row)
    return [Trace(process, format_address(who), stamp, what, rows) for (who, stamp, what), rows in queries.items()]
