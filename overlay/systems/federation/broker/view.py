"""What a broker tells its operators, by subject. Times are durations in ms; expressions are in the text form.

Counterparts: ``inspection`` answers; ``bdrs.view`` is the registration service's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from overlay.core.addresses import format_address
from overlay.core.node import MILLISECOND
from overlay.peers.answers import Content, page
from overlay.peers.questions import Inspect
from overlay.systems.federation import notification_json
from overlay.systems.federation.broker.bulk import Bulk
from overlay.systems.federation.broker.cache import Cache
from overlay.systems.federation.broker.clients import Clients
from overlay.systems.federation.broker.edges import Edge
from overlay.systems.federation.broker.membership import Membership
from overlay.systems.federation.broker.neighbours import Neighbours
from overlay.systems.federation.broker.registered import Registered
from overlay.systems.federation.broker.station import Station
from overlay.systems.federation.language.text import formatted
from overlay.systems.federation.subjects import Subject
from overlay.systems.federation.tables.destinations import client as destination_of
from overlay.systems.federation.wire.values import Notification


class View:
    def __init__(
        self,
        station: Station,
        neighbours: Neighbours,
        clients: Clients,
        membership: Membership,
        cache: Cache,
        bulk: Bulk | None,
        is_offline: Callable[[], bool],
    ) -> None:
        self._station, self._neighbours, self._clients = station, neighbours, clients
        self._membership, self._cache, self._bulk = membership, cache, bulk
        self._is_offline = is_offline

    def contents(self, statistics: Callable[[], Mapping[str, int]]) -> Mapping[Subject, Content]:
        return {
            Subject.FIGURES: lambda message: statistics(),
            Subject.STATE: self._state,
            Subject.NEIGHBOURS: self._edges,
            Subject.TREE: self._tree,
            Subject.CLIENTS: self._client_rows,
            Subject.BULK: self._bulk_rows,
            Subject.CACHE: self._cached,
        }

    def _state(self, message: Inspect) -> Mapping[str, Any]:
        own, bulk = self._neighbours.own, self._bulk
        return {
            "name": own.id,
            "role": "broker",
            "endpoint": own.endpoint,
            "is_mobile": own.is_mobile,
            "is_offline": self._is_offline(),
            "is_registered": self._membership.is_registered,
            "epoch": self._neighbours.epoch,
            "brokers": len(self._membership.directory.brokers),
            "links": [[one.broker, one.delay_us, one.is_up] for one in own.candidates],
            "bulk": None if bulk is None else self._bulk_state(bulk),
        }

    def _bulk_state(self, bulk: Bulk) -> Mapping[str, Any]:
        return {"waiting": len(bulk), "omega": bulk.omega, "leaves_in_ms": self._until(bulk.deadline)}

    def _edges(self, message: Inspect) -> Mapping[str, Any]:
        edges = self._neighbours.edges
        return page(message, map(self._edge, edges), len(edges))

    def _edge(self, edge: Edge) -> Mapping[str, Any]:
        return {
            "broker": edge.broker,
            "endpoint": format_address(edge.address),
            "state": _state_of(edge),
            "stored": len(edge.store),
            "stored_bytes": edge.store.bytes,
            "unacknowledged": self._station.peers.channel.queued(edge.broker.encode()),
            "gives_up_in_ms": self._until(self._neighbours.gives_up_at(edge)),
        }

    def _tree(self, message: Inspect) -> Mapping[str, Any]:
        edges = self._membership.directory.edges
        return {**page(message, sorted(edges), len(edges)), "epoch": self._neighbours.epoch}

    def _client_rows(self, message: Inspect) -> Mapping[str, Any]:
        names = islice(self._clients, message.offset, None)
        rows = (self._client(self._clients.registered(name)) for name in names)
        return page(message._replace(offset=0), rows, len(self._clients))

    def _client(self, client: Registered) -> Mapping[str, Any]:
        advertisement, station = client.advertisement, self._station
        address = station.peers.address(advertisement.id)
        return {
            "id": advertisement.id,
            "role": advertisement.role.name.lower(),
            "scopes": list(advertisement.scopes),
            "address": None if address is None else format_address(address),
            "state": "valid" if client.is_valid else "invalid",
            "silent_ms": (station.now - client.heard) // MILLISECOND,
            "subscriptions": station.tables.subscriptions.count(destination_of(advertisement.id)),
            "held": 0 if client.held is None else len(client.held),
        }

    def _bulk_rows(self, message: Inspect) -> Mapping[str, Any]:
        if self._bulk is None:
            return page(message, (), 0)
        return page(message, self._waiting(self._bulk), len(self._bulk))

    def _waiting(self, bulk: Bulk) -> Iterator[Mapping[str, Any]]:
        for one, since, to in bulk.waiting():
            yield {
                "client": one.id.client,
                "number": one.id.number,
                "scopes": list(one.scopes),
                "expression": formatted(one.expression),
                "waits_ms": (self._station.now - since) // MILLISECOND,
                "expires_in_ms": one.expires - self._station.peers.wall_ms,
                "neighbours": to,
            }

    def _cached(self, message: Inspect) -> Mapping[str, Any]:
        rows: Iterable[Notification] = self._cache.newest_first()
        return page(message, map(notification_json.written, rows), len(self._cache))

    def _until(self, at: int | None) -> int | None:
        return None if at is None else max(0, at - self._station.now) // MILLISECOND


def _state_of(edge: Edge) -> str:
    if not edge.is_current:
        return "retired"
    if edge.is_quiet:
        return "away"
    return "connected" if edge.is_ready else "connecting"
