"""The newest that a provider has published of each entity and scope, with which it can answer queries. Pure."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterator

from overlay.systems.federation.wire.notes import encoded
from overlay.systems.federation.wire.values import Notification

MOST, MOST_BYTES = 1_000, 1 << 18
"""Notifications that are kept; beyond, those published first go."""
MOST_ANSWER, MOST_ANSWER_BYTES = 64, 30_000
"""Of one answer, which is one message; in ContextML it is about twice as long. A larger notification goes alone."""


class Newest:
    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str, str], tuple[Notification, int]] = OrderedDict()
        """By scope, type and id, with its size; those published last at the end."""
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, notification: Notification, wall_ms: int) -> None:
        """Unless one with a later timestamp is still valid."""
        key = notification.scope, notification.entity_type, notification.entity_id
        known = self._kept.get(key)
        if known is not None:
            if known[0].timestamp > notification.timestamp and known[0].expires > wall_ms:
                return
            del self._kept[key]
            self._bytes -= known[1]
        size = len(encoded(notification))
        self._kept[key] = notification, size
        self._bytes += size
        while len(self._kept) > MOST or self._bytes > MOST_BYTES:
            self._bytes -= self._kept.popitem(last=False)[1][1]

    def find(
        self, scopes: Collection[str], entity_type: str | None, entity_id: str | None, wall_ms: int
    ) -> list[Notification]:
        """The valid ones that are asked for, published last first, as many as an answer holds. ``None`` is any."""
        found: list[Notification] = []
        left = MOST_ANSWER_BYTES
        for one, size in self._valid(wall_ms):
            fits = entity_type in (None, one.entity_type) and entity_id in (None, one.entity_id)
            if one.scope in scopes and fits and (not found or size <= left):
                found.append(one)
                left -= size
            if len(found) == MOST_ANSWER:
                break
        return found

    def _valid(self, wall_ms: int) -> Iterator[tuple[Notification, int]]:
        return (row for row in reversed(self._kept.values()) if row[0].expires > wall_ms)
