"""A broker's tables with clients of either arm, as far as it takes to measure them: what a client's library sends, and
what the broker does with each decoded message."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from overlay.systems.silbops.content.filters import Filter, filter_of
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.index import INDEXES
from overlay.systems.silbops.load.draws import near
from overlay.systems.silbops.names import SIENA, SILBOPS
from overlay.systems.silbops.scope.reducing import constraints_of, reduced
from overlay.systems.silbops.tables import Kind, Link, Subscription, Tables
from overlay.systems.silbops.tables.rows import Context, Key
from overlay.systems.silbops.wire.messages import Publish, SetCtx, Subscribe, Unsubscribe
from overlay.systems.silbops.workload import ONE
from telemetry.systems.silbops.in_process.population import Population

ARMS = (SILBOPS, SIENA)
CAMERA = Link(Kind.CLIENT, "camera")

Message = SetCtx | Subscribe | Unsubscribe | Publish


class Broker:
    """One broker without neighbours."""

    def __init__(self, index: str, scope_batch: int) -> None:
        self.tables = Tables(INDEXES[index], scope_batch=scope_batch)
        self._owners: dict[Link, bytes] = {}
        self.notified = 0
        """Clients that notifications went to."""

    def receive(self, link: Link, message: Message) -> None:
        tables = self.tables
        match message:
            case SetCtx(values=values):
                owner = self.owner(link)
                known = tables.contexts.get(owner)
                if known is None or known.values != values:
                    tables.set_context(link, owner, Context(1 if known is None else known.version + 1, values))
            case Publish(notification=notification, context=context):
                self.notified += len(tables.route(link, notification, context))
            case Subscribe(id=number, filter=one, scope=scope):
                tables.subscribe(link, Subscription(Key(self.owner(link), number), one, scope))
            case Unsubscribe(id=number):
                tables.unsubscribe(link, Key(self.owner(link), number))
        for _ in tables.differences():
            raise AssertionError("a broker without neighbours tells nobody")

    def owner(self, link: Link) -> bytes:
        return self._owners.setdefault(link, link.name.encode().rjust(16, b"\0"))


class Clients:
    """Subscribers at one broker, and one publisher. Messages are made apart from their handling, which is measured."""

    def __init__(self, arm: str, broker: Broker, population: Population) -> None:
        self.arm, self.broker = arm, broker
        self.links = [Link(Kind.CLIENT, f"{number}") for number in range(population.workload.subscribers)]
        self._population = population
        self._has_one_scope = population.workload.change_scope == ONE
        self._square = near(population.workload.radius_km)
        self._bounds = reduced(self._square) or ()
        self._places = list(population.places)
        self._ids = count()
        self._wire_ids: list[list[int]] = [[] for _ in self.links] if arm == SIENA else []
        """By subscriber, of its filters."""

    def load(self, *, keeps_filters: bool = True) -> None:
        """``keeps_filters``: to rewrite them at a change; without, this process has no more of them than a broker."""
        for number, place in enumerate(self._places):
            link = self.links[number]
            if self.arm == SILBOPS:
                self.broker.receive(link, SetCtx(0, place))
            filters = self._population.filters[number] if keeps_filters else self._population.filters_of(number)
            for position, one in enumerate(filters):
                self.broker.receive(link, self._subscription(number, position, one))

    def change(self, number: int, place: Values) -> list[tuple[Link, Message]]:
        """What the library of a subscriber sends when it is elsewhere."""
        link = self.links[number]
        self._places[number] = place
        if self.arm == SILBOPS:
            return [(link, SetCtx(0, place))]
        found: list[tuple[Link, Message]] = []
        for position, one in enumerate(self._population.filters[number]):
            if self._is_scoped(position):
                found.append((link, Unsubscribe(0, self._wire_ids[number][position])))
                found.append((link, self._subscription(number, position, one)))
        return found

    def publication(self, notification: Values, place: Values) -> tuple[Link, Message]:
        if self.arm == SILBOPS:
            return CAMERA, Publish(0, notification, place)
        return CAMERA, Publish(0, {**notification, **{f"@{name}": value for name, value in place.items()}}, {})

    def play(self, messages: Iterable[tuple[Link, Message]]) -> None:
        receive = self.broker.receive
        for link, message in messages:
            receive(link, message)

    def _subscription(self, number: int, position: int, one: Filter) -> Subscribe:
        wire_id = next(self._ids)
        scope = self._square if self._is_scoped(position) else None
        if self.arm == SILBOPS:
            return Subscribe(0, wire_id, one, scope)
        self._wire_ids[number][position : position + 1] = [wire_id]
        if scope is None:
            return Subscribe(0, wire_id, one)
        box = constraints_of(self._bounds, self._places[number]) or ()
        return Subscribe(0, wire_id, filter_of((*one, *box), is_siena=True))

    def _is_scoped(self, position: int) -> bool:
        return not (self._has_one_scope and position)
