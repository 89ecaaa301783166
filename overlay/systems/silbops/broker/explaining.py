"""A dry publication: which rows of this broker it touches, which constraint or function says no, and where it would go.

Nothing is sent or changed. A program asks the publisher's broker first, then those that the answer names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from overlay.systems.silbops.broker.client import Client, publisher_key
from overlay.systems.silbops.broker.station import Station
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.publishing import Refusal, permitted
from overlay.systems.silbops.scope.tree import Tree
from overlay.systems.silbops.tables import Key, Kind, Link
from overlay.systems.silbops.tables.explaining import objection
from overlay.systems.silbops.tables.rows import neighbour

MOST_ROWS = 200
"""Of one answer."""


class Explaining:
    def __init__(self, station: Station) -> None:
        self._station = station

    def of_client(
        self, client: Client, notification: Values, context: Values, scope: Tree | None, about: bytes | None
    ) -> Mapping[str, Any]:
        """As if an own client published. ``about``: the owner whose rows are listed in any case."""
        try:
            allowed = permitted(client.advertisements.values(), notification, context, scope)
        except Refusal as error:
            return {"refused": error.sentence, "context": {}, "to": [], "rows": [], "total": 0, "told": []}
        return self._answer(client.link, notification, allowed, scope, about)

    def of_neighbour(
        self, broker: str, notification: Values, context: Values, scope: Tree | None, about: bytes | None
    ) -> Mapping[str, Any]:
        """As if the publication came from a neighbour; ``context`` is what the first broker has allowed."""
        return self._answer(neighbour(broker), notification, context, scope, about)

    def _answer(
        self, link: Link, notification: Values, context: Values, scope: Tree | None, about: bytes | None
    ) -> Mapping[str, Any]:
        touched = self._station.tables.touched(notification, about)
        rows = [self._row(key, to, link, notification, context, scope) for key, to in touched]
        return {
            "refused": "",
            "context": dict(context),
            "to": sorted({tuple(row["link"]) for row in rows if not row["says_no"]}),
            "rows": rows[:MOST_ROWS],
            "total": len(rows),
            "told": [] if about is None else list(self._told(about)),
        }

    def _row(
        self, key: Key, to: Link, came_by: Link, notification: Values, context: Values, scope: Tree | None
    ) -> Mapping[str, Any]:
        tables = self._station.tables
        one = tables.subscription(to, key)
        assert one is not None
        own = tables.contexts.get(one.owner)
        no = "it came by this link" if to == came_by else objection(one, own, notification, context, scope)
        return {
            "subscriber": f"{publisher_key(key[0]):016x}",
            "id": key[1],
            "link": [to.kind.name.lower(), to.name],
            "says_no": no,
        }

    def _told(self, owner: bytes) -> Iterable[Mapping[str, Any]]:
        """What neighbours know of the subscriptions of a subscriber, and why not."""
        for link, key, state in self._station.tables.told(owner):
            assert link.kind is Kind.BROKER
            yield {"id": key[1], "broker": link.name, "state": state}
