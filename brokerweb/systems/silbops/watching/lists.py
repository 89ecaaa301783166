"""Clients of all brokers of a network, and what waits for them, one broker after the other, for REST."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from brokerweb.kit.errors import NotPossible
from brokerweb.networks.inspecting import addresses, asked
from brokerweb.networks.models import Network
from brokerweb.systems.contract import Rows
from overlay.programs.silbops.inspection import Inspector
from overlay.systems.silbops.subjects import Subject

MOST = 100_000
"""Clients of a broker that are looked through."""


def clients(network: Network, offset: int, limit: int, reachable: bool | None) -> Rows:
    """With ``reachable`` only attached ones, or only those that are not."""
    if reachable is None:
        return _paged(network, offset, limit)
    rows = [row for row in _paged(network, 0, MOST).rows if row["is_reachable"] is reachable]
    return Rows(len(rows), rows[offset : offset + limit])


def pending(network: Network, offset: int, limit: int) -> Rows:
    """Notifications for clients and messages for neighbours, with the longest queue first."""
    rows = []
    for index in _running(network):
        with asked(Inspector, network, index) as broker:
            edges = broker.rows(Subject.NEIGHBOURS, limit=MOST).rows
            clients = broker.rows(Subject.CLIENTS, limit=MOST).rows
        rows += [_queue(index, edge["broker"], edge["queued"], "sent") for edge in edges if edge["queued"]]
        for one in clients:
            if waiting := one["kept"] + one["queued"]:
                rows.append(_queue(index, f"client {one['id']}", waiting, "kept" if one["kept"] else "sent"))
    rows.sort(key=lambda row: -row["messages"])
    return Rows(len(rows), rows[offset : offset + limit])


def _running(network: Network) -> Mapping[int, str]:
    if not (found := addresses(network)):
        raise NotPossible(f"This network is {network.state} and has no running broker.")
    return found


def _paged(network: Network, offset: int, limit: int) -> Rows:
    total, rows = 0, list[dict[str, Any]]()
    for index in _running(network):
        with asked(Inspector, network, index) as broker:
            found = broker.rows(Subject.CLIENTS, offset=max(0, offset - total), limit=limit - len(rows))
        total += found.total
        rows += [_client(index, row) for row in found.rows]
    return Rows(total, rows)


def _client(broker: int, row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": row["id"],
        "address": row["address"] or "",
        "is_reachable": row["state"] == "attached",
        "silent_ms": None,
        "pending": row["kept"] + row["queued"],
        "attributes": json.dumps({"state": row["state"]}),
        "own": {
            "broker": broker,
            "subscriptions": row["subscriptions"],
            "advertisements": row["advertisements"],
            "kept": row["kept"],
        },
    }


def _queue(broker: int, peer: str, messages: int, why: str) -> dict[str, Any]:
    leaves = "when the client is back" if why == "kept" else "as the peer acknowledges"
    return {
        "queue": f"of broker {broker} for {peer}",
        "recipients": 1,
        "messages": messages,
        "oldest_ms": 0,
        "leaves_in_ms": None,
        "leaves": leaves,
        "own": {"broker": broker},
    }
