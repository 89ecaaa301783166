"""A dry publication: which rows of this broker it touches, which constraint or function says no, and where it would go.

Nothing is sent or changed. A program asks the publisher's broker first, then those that the answer names, with the
notification and the context of that answer. A question is a map of ``notification``, ``context``, ``scope`` (text), the
client that publishes (``client``, in hexadecimal digits) or the ``neighbour`` that it comes from, and ``about``: the
owner of subscriptions that are listed in any case. All but ``notification`` may be left out. The answer has ``away``:
own clients among its links that are not attached, and for how many seconds; what goes to them is kept for a while.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from overlay.core.errors import shown
from overlay.core.node import SECOND
from overlay.core.settings import InvalidText
from overlay.peers.questions import read_content
from overlay.systems.silbops.broker.client import Client, State, publisher_key
from overlay.systems.silbops.broker.clients import Clients
from overlay.systems.silbops.broker.station import Station
from overlay.systems.silbops.content.values import InvalidContent, Values, checked_values
from overlay.systems.silbops.publishing import Refusal, permitted
from overlay.systems.silbops.scope.text import parse
from overlay.systems.silbops.scope.tree import Tree
from overlay.systems.silbops.tables import Key, Kind, Link
from overlay.systems.silbops.tables.explaining import objection
from overlay.systems.silbops.tables.rows import neighbour

MOST_ROWS = 200
"""Of one answer."""
_CLIENT = Kind.CLIENT.name.lower()


class Explaining:
    def __init__(self, station: Station, clients: Clients, neighbours: Collection[str]) -> None:
        self._station, self._clients, self._neighbours = station, clients, neighbours

    def answer(self, content: bytes) -> Mapping[str, Any]:
        """To an operator."""
        asked = read_content(content)
        try:
            if not isinstance(asked, dict):
                raise InvalidContent("a dry publication is a map of notification, context, scope, client and about")
            return self._answered(asked)
        except InvalidContent as error:
            return _refused(error.sentence)
        except InvalidText as error:
            return _refused(f"scope: {error}")

    def _answered(self, asked: Mapping[Any, Any]) -> Mapping[str, Any]:
        is_siena = self._station.settings.is_siena
        notification = checked_values(asked.get("notification"), fewest=1, is_siena=is_siena)
        context = checked_values(asked.get("context") or {})
        scope, about = _text(asked, "scope"), _bytes(asked, "about")
        tree = parse(scope) if scope else None
        if neighbour := _text(asked, "neighbour"):
            if neighbour not in self._neighbours:
                raise InvalidContent(f"{shown(neighbour)} is no neighbour of {self._station.name}")
            return self.of_neighbour(neighbour, notification, context, tree, about)
        client = self._clients.get(_bytes(asked, "client") or b"")
        if client is None:
            raise InvalidContent(f"{shown(asked.get('client'))} is no client of {self._station.name}")
        if is_siena:  # the library writes the context into the notification
            notification, context = {**notification, **{f"@{name}": one for name, one in context.items()}}, {}
        return self.of_client(client, notification, context, tree, about)

    def of_client(
        self, client: Client, notification: Values, context: Values, scope: Tree | None, about: bytes | None
    ) -> Mapping[str, Any]:
        """As if an own client published. ``about``: the owner whose rows are listed in any case."""
        try:
            allowed = permitted(client.advertisements.values(), notification, context, scope)
        except Refusal as error:
            return _refused(error.sentence)
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
        going = sorted({tuple(row["link"]) for row in rows if not row["says_no"]})
        return {
            "refused": "",
            "notification": dict(notification),
            "context": dict(context),
            "to": going,
            "away": self._away([*going, *(row["link"] for row in rows[:MOST_ROWS])]),
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
            "subscriber": f"{publisher_key(key.owner):016x}",
            "id": key.number,
            "link": [to.kind.name.lower(), to.name],
            "says_no": no,
        }

    def _away(self, links: Iterable[Sequence[str]]) -> Mapping[str, float]:
        clients = {name: self._clients.named(name) for kind, name in links if kind == _CLIENT}
        now = self._station.now
        return {
            name: round((now - one.away_at) / SECOND, 3) for name, one in clients.items() if one.state is State.AWAY
        }

    def _told(self, owner: bytes) -> Iterable[Mapping[str, Any]]:
        """What neighbours know of the subscriptions of a subscriber, and why not."""
        for link, key, state in self._station.tables.told(owner):
            assert link.kind is Kind.BROKER
            yield {"id": key.number, "broker": link.name, "state": state}


def _refused(sentence: str) -> Mapping[str, Any]:
    return {
        "refused": sentence,
        "notification": {},
        "context": {},
        "to": [],
        "away": {},
        "rows": [],
        "total": 0,
        "told": [],
    }


def _text(asked: Mapping[Any, Any], name: str) -> str:
    value = asked.get(name) or ""
    if not isinstance(value, str):
        raise InvalidContent(f"{name} must be text, not {shown(value)}")
    return value


def _bytes(asked: Mapping[Any, Any], name: str) -> bytes | None:
    try:
        return bytes.fromhex(_text(asked, name)) or None
    except ValueError:
        raise InvalidContent(f"{name} must be hexadecimal digits, not {shown(asked[name])}") from None
