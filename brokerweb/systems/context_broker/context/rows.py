"""Entries of a network's view as JSON: rows of lists, bodies of events. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from brokerweb.kit.moments import moment
from brokerweb.networks.snapshot import NetworkSnapshot
from brokerweb.systems.context_broker.context.bodies import text_of
from brokerweb.systems.contract import StoredValue
from overlay.core.addresses import Address, format_address, parse_address
from overlay.systems.context_broker.clients.feed_reader import Record
from overlay.systems.context_broker.clients.payload import parse_pairs

VIEW = "view"
"""The strategy of what no broker was asked for."""
FIELDS: tuple[str, ...] = (
    *("type", "entity", "scope", "provider", "payload", "text", "valid_begin", "valid_end", "age_ms"),
    *("broker", "broker_index", "hops", "strategy", "walk", "holders", "etag"),
)


def version(timestamp: int, provider: str) -> str:
    """Differs for any two values that were stored."""
    return blake2b(f"{timestamp}|{provider}".encode(), digest_size=8).hexdigest()


def row(record: Record, holders: Sequence[Address], indexes: Mapping[Address, int], now_ms: int) -> dict[str, Any]:
    """An entry, as the answer to a query for it."""
    text = record.payload.decode(errors="replace")
    type, entity, scope = record.key
    return {
        "type": type,
        "entity": entity,
        "scope": scope,
        "provider": record.provider,
        "payload": parse_pairs(text),
        "text": text,
        "valid_begin": text_of(moment(record.valid_begin)),
        "valid_end": text_of(moment(record.valid_end)),
        "age_ms": max(0, now_ms - record.timestamp),
        "broker": format_address(holders[0]) if holders else None,
        "broker_index": indexes.get(holders[0]) if holders else None,
        "hops": 0,
        "strategy": VIEW,
        "walk": None,
        "holders": [indexes[broker] for broker in holders if broker in indexes],
        "etag": f'"{version(record.timestamp, record.provider)}"',
    }


def value(record: Record) -> StoredValue:
    """An entry without all that HTTP adds."""
    text = record.payload.decode(errors="replace")
    return StoredValue(record.key, record.provider, parse_pairs(text), text, record.timestamp, record.valid_end)


def gone(record: Record) -> dict[str, Any]:
    """An entry that is no longer there, or no longer selected; ``at``: when that was sent, or the entry was."""
    type, entity, scope = record.key
    names = {"type": type, "entity": entity, "scope": scope, "provider": record.provider}
    return {**names, "at": text_of(moment(record.timestamp))}


def indexes(snapshot: NetworkSnapshot) -> dict[Address, int]:
    """Of all brokers with an address, running or not."""
    return {parse_address(row["address"]): row["index"] for row in snapshot.rows if row.get("address")}


def missing(snapshot: NetworkSnapshot, reasons: Mapping[Address, str]) -> list[dict[str, Any]]:
    """Brokers whose data may be missing: those that should run and do not, and those that could not be read."""
    found = []
    for one in snapshot.present:
        is_up = one["state"] == "up"
        reason = reasons.get(parse_address(one["address"]), "") if is_up else one["state"]
        if reason:
            found.append({"broker": one.get("address") or None, "broker_index": one["index"], "reason": reason})
    return found
