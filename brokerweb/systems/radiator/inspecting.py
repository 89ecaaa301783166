"""The server of a network, asked for its figures, clients and pending messages, for pages and REST."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from brokerweb.kit.errors import NotAnswered, NotPossible
from brokerweb.networks.models import UP, Network
from brokerweb.systems.contract import Rows
from overlay.core.addresses import parse_address
from overlay.programs.radiator.client import NoAnswer, Refused
from overlay.programs.radiator.inspection import Inspector
from overlay.programs.radiator.listing import length, waits_for

DEADLINE_S = 0.5
"""For a server that is gone; on this host, one that is busy needs some tens of milliseconds."""


def address_of(network: Network) -> str:
    """That of its server; empty if it does not run."""
    if network.state not in UP:
        return ""
    return next((row["address"] for row in network.brokers if row["state"] == "up" and row.get("address")), "")


@contextmanager
def asked(network: Network) -> Iterator[Inspector]:
    """Raises ``NotAnswered``; ``NotPossible`` if no server runs, or one that answers only programs elsewhere."""
    address = address_of(network)
    if not address:
        raise NotPossible(f"This network is {network.state} and has no running server.")
    try:
        with Inspector(parse_address(address), DEADLINE_S) as server:
            yield server
    except NoAnswer as error:
        raise NotAnswered(str(error)) from None
    except Refused as error:
        raise NotPossible(str(error)) from None


def clients(server: Inspector, offset: int, limit: int, reachable: bool | None) -> Rows:
    found = server.clients(reachable=reachable, offset=offset, limit=limit)
    return Rows(found["total"], [_client(row) for row in found["rows"]])


def pending(server: Inspector, offset: int, limit: int) -> Rows:
    found = server.pending(offset=offset, limit=limit)
    return Rows(found["total"], [_queue(row) for row in found["rows"]])


def _client(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": row["id"],
        "address": f"{row['ip']}:{row['port']}",
        "is_reachable": row["is_reachable"],
        "silent_ms": row["silent_ms"],
        "silent": length(row["silent_ms"]),
        "pending": row["pending"],
        "attributes": row["attributes"],
        "own": {"instance": row["instance"], "is_p2p": row["is_p2p"], "retained": row["own_retained"]},
    }


def _queue(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "queue": f"{row['kind']}: {row['value']}",
        "recipients": row["recipients"],
        "messages": row["messages"],
        "oldest_ms": row["oldest_ms"],
        "oldest": length(row["oldest_ms"]),
        "leaves_in_ms": row["leaves_in_ms"],
        "leaves": waits_for(row),
        "own": {"classes": row["classes"], "people": row["people"]},
    }
