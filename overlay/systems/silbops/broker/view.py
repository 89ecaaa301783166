"""What a broker tells the operators of its host."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

from overlay.core.addresses import format_address
from overlay.peers.answers import Content, page
from overlay.peers.questions import Inspect
from overlay.systems.silbops.broker.client import Client
from overlay.systems.silbops.broker.clients import Clients
from overlay.systems.silbops.broker.explaining import Explaining
from overlay.systems.silbops.broker.neighbours import Edge, Neighbours
from overlay.systems.silbops.broker.station import Station
from overlay.systems.silbops.content.filters import written_filter
from overlay.systems.silbops.scope.text import formatted
from overlay.systems.silbops.subjects import Subject
from overlay.systems.silbops.tables.rows import Advertisement, Context, Link, Owner, Row

STATES = ("lost", "greeting", "connected")
"""Of an edge."""


class View:
    def __init__(self, station: Station, neighbours: Neighbours, clients: Clients, explaining: Explaining) -> None:
        self._station, self._neighbours, self._clients = station, neighbours, clients
        self._explaining = explaining

    def contents(self, statistics: Callable[[], Mapping[str, int]]) -> Mapping[Subject, Content]:
        return {
            Subject.FIGURES: lambda message: statistics(),
            Subject.STATE: lambda message: self._state(),
            Subject.NEIGHBOURS: self._edges,
            Subject.CLIENTS: self._client_rows,
            Subject.SUBSCRIPTIONS: self._subscriptions,
            Subject.ADVERTISEMENTS: self._advertisements,
            Subject.CONTEXTS: self._contexts,
            Subject.WHY: lambda message: self._explaining.answer(message.content),
        }

    def _state(self) -> Mapping[str, Any]:
        station = self._station
        settings, pressure = station.settings, station.pressure
        return {
            "name": station.name,
            "role": "broker",
            "arm": settings.arm,
            "index": settings.index,
            "full_queues": pressure.full,
            "paused": pressure.paused,
        }

    def _edges(self, message: Inspect) -> Mapping[str, Any]:
        edges = list(self._neighbours)
        return page(message, map(self._edge, edges), len(edges))

    def _edge(self, edge: Edge) -> Mapping[str, Any]:
        station = self._station
        return {
            "broker": edge.broker,
            "endpoint": format_address(edge.address),
            "state": STATES[edge.state],
            "forwarded": station.tables.forwarded(edge.link),
            "queued": station.peers.queued(edge.peer),
        }

    def _client_rows(self, message: Inspect) -> Mapping[str, Any]:
        return _rows(message, map(self._client, self._clients), len(self._clients))

    def _client(self, client: Client) -> Mapping[str, Any]:
        address = self._station.peers.address(client.id)
        return {
            "id": client.name,
            "owner": client.owner.hex(),
            "address": None if address is None else format_address(address),
            "state": client.state.name.lower(),
            "subscriptions": len(client.subscriptions),
            "advertisements": len(client.advertisements),
            "kept": len(client.kept),
            "queued": self._station.peers.queued(client.id),
        }

    def _subscriptions(self, message: Inspect) -> Mapping[str, Any]:
        tables = self._station.tables
        return _rows(message, map(_subscription, tables.all_rows()), tables.rows())

    def _advertisements(self, message: Inspect) -> Mapping[str, Any]:
        tables = self._station.tables
        return _rows(message, map(_advertisement, tables.all_advertisements()), tables.advertised())

    def _contexts(self, message: Inspect) -> Mapping[str, Any]:
        contexts = self._station.tables.contexts
        return _rows(message, map(_context, contexts), len(contexts))


def _rows(message: Inspect, rows: Any, total: int) -> Mapping[str, Any]:
    """Those before the message's offset are not made."""
    return page(message._replace(offset=0), islice(rows, message.offset, None), total)


def _subscription(row: Row) -> Mapping[str, Any]:
    one = row.subscription
    return {
        **_owned(one.owner, one.key.number, row.port.link),
        "filter": written_filter(one.filter),
        "scope": "" if one.scope is None else formatted(one.scope),
    }


def _advertisement(found: tuple[Link, Advertisement]) -> Mapping[str, Any]:
    link, one = found
    readable = one.subscriber_variables
    return {
        **_owned(one.owner, one.key.number, link),
        "filter": written_filter(one.filter),
        "variables": sorted(one.variables),
        "subscriber_variables": None if readable is None else sorted(readable),
    }


def _context(found: tuple[Owner, Context]) -> Mapping[str, Any]:
    owner, context = found
    return {"owner": owner.hex(), "version": context.version, "values": dict(context.values)}


def _owned(owner: Owner, number: int, link: Link) -> dict[str, Any]:
    return {"owner": owner.hex(), "id": number, "by": link.kind.name.lower(), "link": link.name}
