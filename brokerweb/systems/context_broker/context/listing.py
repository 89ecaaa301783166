"""Pages of a network's view, found in slices so that other requests are answered in between."""

from __future__ import annotations

import asyncio
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

from brokerweb.networks.snapshot import NetworkSnapshot
from brokerweb.systems.context_broker.context import rows
from brokerweb.systems.context_broker.context.following import NetworkFollowing
from brokerweb.systems.context_broker.context.selection import Selection
from brokerweb.systems.contract import Listed
from overlay.core.errors import InvalidSetting, shown
from overlay.programs.context_broker.follower import wall_ms
from overlay.systems.context_broker.clients.feed_reader import Name

SLICE = 500
"""Entries looked at without a pause: a few milliseconds."""
MOST_CURSOR = 4_000
BEGIN: Name = (("", "", ""), "")


async def page(
    following: NetworkFollowing, snapshot: NetworkSnapshot, selection: Selection, cursor: str, most: int
) -> Listed:
    """The next ``most`` entries in the order of type, entity, scope and provider. Raises ``InvalidSetting``."""
    place: Name | None = max(_read(cursor), ((selection.type, "", ""), ""))
    last_id, indexes = following.id_of(following.last), rows.indexes(snapshot)
    found: list[dict[str, Any]] = []
    while place is not None and len(found) <= most:
        now = wall_ms()
        entries, following_place = following.view.page(place, SLICE)
        for entry in entries:
            if selection.type and entry.key[0] != selection.type:
                following_place = None
                break
            if entry.record.is_valid(now) and selection.matches(entry.record, now):
                found.append(rows.row(entry.record, entry.holders, indexes, now))
                if len(found) > most:
                    break
        place = following_place
        await asyncio.sleep(0)
    more = len(found) > most
    return Listed(found[:most], _text(found[most - 1]) if more else "", last_id, following.missing(snapshot))


def _text(row: dict[str, str]) -> str:
    """The place behind a row."""
    document = [row["type"], row["entity"], row["scope"], row["provider"]]
    return urlsafe_b64encode(json.dumps(document).encode()).decode().rstrip("=")


def _read(cursor: str) -> Name:
    """Raises ``InvalidSetting``."""
    if not cursor:
        return BEGIN
    try:
        names = json.loads(urlsafe_b64decode(cursor[:MOST_CURSOR] + "=" * (-len(cursor) % 4)))
        type, entity, scope, provider = names
    except (ValueError, TypeError, RecursionError):
        names = [None]
    if not all(isinstance(name, str) for name in names):
        raise InvalidSetting("cursor", f"must be from next, or empty, not {shown(cursor, 40)}")
    return (type, entity, scope), provider
