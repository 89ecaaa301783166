"""The answer to a query of a network's context, and which brokers may be queried."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from brokerweb.kit.errors import NotPossible
from brokerweb.kit.moments import moment
from brokerweb.networks.snapshot import NetworkSnapshot
from brokerweb.systems.context_broker.context import bodies
from brokerweb.systems.context_broker.context.holders import Holder
from brokerweb.systems.context_broker.queries.of_networks import is_traced, trace_of
from brokerweb.systems.contract import Absent, Key
from overlay.core.addresses import Address, format_address
from overlay.programs.context_broker.client import QueryName
from overlay.programs.context_broker.pool import Found
from overlay.systems.context_broker.clients.payload import parse_pairs

MISSING = "No broker of this network has valid data for this entity and scope."


class NotRunning(NotPossible):
    """No broker of the network can answer now."""


class NotThere(Absent):
    """No broker that was asked has it. ``trace`` is the id of the walk; empty if it was not traced."""

    def __init__(self, network: str, trace: str) -> None:
        super().__init__(f"{MISSING} Its walk: {walk_of(network, trace)}" if trace else MISSING)
        self.trace = trace


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The result of a query."""

    found: Found
    broker_index: int
    strategy: str
    """``chosen``: the broker that was named; ``holder``: one known to have it; ``walk``: the first of the entity's
    order; ``next``: a later one; ``hedged``: one that was asked while the first was silent."""
    hops: int | None
    """0 if the broker has it; ``None`` if only a trace can say."""
    trace: str
    """The id of its walk; empty if it was not traced."""


def brokers_of(snapshot: NetworkSnapshot, chosen: int | None) -> tuple[Address, ...]:
    """Running brokers, or the ``chosen`` one. Raises ``NotRunning``."""
    if not snapshot.is_up:
        raise NotRunning(f"This network is {snapshot.state} and cannot be queried. {snapshot.reason}".strip())
    if chosen is None:
        if not snapshot.addresses:
            raise NotRunning("No broker of this network is running.")
        return snapshot.addresses
    up = tuple(address for address, row in snapshot.up.items() if row["index"] == chosen)
    if not up:
        rows = [row for row in snapshot.rows if row["index"] == chosen]
        raise NotRunning(f"Broker {chosen} is {rows[0]['state'] if rows else 'not started'} and cannot be queried.")
    return up


def result_of(
    snapshot: NetworkSnapshot, key: Key, found: Found, holder: Holder | None, one_in: int, is_chosen: bool
) -> QueryResult:
    is_held = holder is not None and found.broker == holder.broker and found.timestamp >= holder.stamp_ms
    strategy = "walk" if found.strategy == "first" else found.strategy
    if is_chosen:
        strategy = "chosen"
    elif is_held and holder is not None:
        strategy = "holder"
    hops = 0 if is_held and holder is not None and found.provider == holder.provider else None
    return QueryResult(found, snapshot.up[found.broker]["index"], strategy, hops, trace_id(found.query, key, one_in))


def trace_id(query: QueryName | None, key: Key, one_in: int) -> str:
    """The id if ``query`` is traced; with rare tracing, no timestamp near enough may qualify."""
    return "" if not one_in or query is None or not is_traced(query, one_in) else trace_of(query, key)


def walk_of(network: str, trace: str) -> str:
    """The URL of a walk."""
    return f"/api/networks/{network}/walks/{trace}/"


def body_of(snapshot: NetworkSnapshot, asked: QueryResult) -> dict[str, Any]:
    found = asked.found
    text = found.payload.decode()
    return {
        "provider": found.provider,
        "payload": parse_pairs(text),
        "text": text,
        "valid_begin": bodies.text_of(moment(found.valid_begin)),
        "valid_end": bodies.text_of(moment(found.valid_end)),
        "age_ms": age_ms(found),
        "broker": format_address(found.broker),
        "broker_index": asked.broker_index,
        "hops": asked.hops,
        "strategy": asked.strategy,
        "walk": walk_of(snapshot.network, asked.trace) if asked.trace else None,
    }


def age_ms(found: Found) -> int:
    """Time since the provider sent it, never negative."""
    return max(0, time.time_ns() // 1_000_000 - found.timestamp)
