"""Clients and waiting notifications of all brokers of a network, one broker after the other, for REST."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from brokerweb.kit.errors import NotPossible
from brokerweb.networks.models import Network
from brokerweb.systems.contract import Rows
from brokerweb.systems.federation.watching.inspecting import asked_at, brokers
from overlay.systems.federation.subjects import Subject

MOST_EDGES = 10_000


def clients(network: Network, offset: int, limit: int, reachable: bool | None) -> Rows:
    """With ``reachable`` only valid or invalid ones, of the first 100,000 of each broker."""
    if reachable is None:
        return _paged(network, Subject.CLIENTS, offset, limit, _client)
    rows = [
        row for row in _paged(network, Subject.CLIENTS, 0, 100_000, _client).rows if row["is_reachable"] is reachable
    ]
    return Rows(len(rows), rows[offset : offset + limit])


def pending(network: Network, offset: int, limit: int) -> Rows:
    """Notifications that are stored for neighbours, and subscriptions that wait in bulk mode."""
    rows = []
    for index, address in _running(network).items():
        with asked_at(address) as broker:
            state, edges = broker.state(), broker.rows(Subject.NEIGHBOURS, limit=MOST_EDGES).rows
        rows += [_stored(index, edge) for edge in edges if edge["stored"]]
        if state["bulk"] and state["bulk"]["waiting"]:
            rows.append(_bulk(index, state["bulk"]))
    rows.sort(key=lambda row: (row["leaves_in_ms"] is None, row["leaves_in_ms"] or 0))
    return Rows(len(rows), rows[offset : offset + limit])


def _running(network: Network) -> Mapping[int, str]:
    if not (found := brokers(network)):
        raise NotPossible(f"This network is {network.state} and has no running broker.")
    return found


def _paged(
    network: Network,
    subject: Subject,
    offset: int,
    limit: int,
    read: Callable[[int, Mapping[str, Any]], dict[str, Any]],
) -> Rows:
    total, rows = 0, list[dict[str, Any]]()
    for index, address in _running(network).items():
        with asked_at(address) as broker:
            found = broker.rows(subject, offset=max(0, offset - total), limit=limit - len(rows))
        total += found.total
        rows += [read(index, row) for row in found.rows]
    return Rows(total, rows)


def _client(broker: int, row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": row["id"],
        "address": row["address"] or "",
        "is_reachable": row["state"] == "valid",
        "silent_ms": row["silent_ms"],
        "pending": row["held"],
        "attributes": json.dumps({"role": row["role"], "scopes": row["scopes"]}),
        "own": {"broker": broker, "subscriptions": row["subscriptions"]},
    }


def _stored(broker: int, edge: Mapping[str, Any]) -> dict[str, Any]:
    at = edge["gives_up_in_ms"]
    return {
        "queue": f"stored by broker {broker} for {edge['broker']}",
        "recipients": 1,
        "messages": edge["stored"],
        "oldest_ms": 0,
        "leaves_in_ms": at,
        "leaves": f"when {edge['broker']} is back" + ("" if at is None else f"; dropped in {at / 1000:.0f} s"),
        "own": {"broker": broker, "bytes": edge["stored_bytes"], "state": edge["state"]},
    }


def _bulk(broker: int, bulk: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "queue": f"bulk queue of broker {broker}",
        "recipients": 1,
        "messages": bulk["waiting"],
        "oldest_ms": 0,
        "leaves_in_ms": bulk["leaves_in_ms"],
        "leaves": f"with {bulk['omega'] - bulk['waiting']} more, or at its deadline",
        "own": {"broker": broker, "omega": bulk["omega"]},
    }
