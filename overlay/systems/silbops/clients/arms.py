"""What the application has set, and the messages that tell it to a broker.

``Arm`` has what both arms do; ``Silbops`` sends contexts and functions as they are, ``siena.Siena`` writes them into
notifications and filters. ``draw`` gives the number of the next request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from overlay.systems.silbops.clients.terms import Terms
from overlay.systems.silbops.clients.wires import ToBroker
from overlay.systems.silbops.content.filters import Filter
from overlay.systems.silbops.content.values import Value, Values
from overlay.systems.silbops.publishing import permitted, refuse
from overlay.systems.silbops.scope.tree import Tree
from overlay.systems.silbops.wire import messages as m

Draw = Callable[[], int]
Told = Sequence[ToBroker]


@dataclass(slots=True)
class Wanted:
    """A subscription."""

    filter: Filter
    scope: Tree | None = None
    ttl_ms: int = 0
    told: int = 0
    """The last request that told it."""
    is_accepted: bool = False
    """Whether the broker had it, at some time."""
    before: Wanted | None = None
    """The one that it replaces, which the broker has until it accepts this one."""


class Arm:
    def __init__(self, terms: Terms, draw: Draw) -> None:
        self._terms, self._draw = terms, draw
        self.context: Values | None = None
        self.offers: dict[int, m.Advertise] = {}
        """Advertisements by id, with the last request that told each."""
        self.wanted: dict[int, Wanted] = {}
        """Subscriptions by id."""

    # ---- what the application does. What is refused with ``Refusal`` has changed nothing.

    def set_context(self, values: Values) -> Told:
        raise NotImplementedError

    def subscribe(self, id: int, one: Wanted) -> Told:
        """Add it, or replace the one with this id."""
        raise NotImplementedError

    def unsubscribe(self, id: int) -> Told:
        if id not in self.wanted:
            refuse(m.Code.UNKNOWN_ID, f"there is no subscription {id}")
        return self._unsubscribe(id)

    def advertise(self, one: m.Advertise) -> Told:
        """Add it, or replace the one with its id; ``req`` is given here."""
        if one.subscriber_variables is not None and not self._terms.has_publisher_scope:
            refuse(m.Code.BAD_SCOPE, "variables of subscribers are advertised only with publisher_scope")
        return (self._advertise(one),)

    def unadvertise(self, id: int) -> Told:
        if self.offers.pop(id, None) is None:
            refuse(m.Code.UNKNOWN_ID, f"there is no advertisement {id}")
        return (m.Unadvertise(self._draw(), id),)

    def publish(self, number: int, notification: Values, scope: Tree | None) -> m.Publish:
        if scope is not None and not self._terms.has_publisher_scope:
            refuse(m.Code.BAD_SCOPE, "a publisher has functions only with publisher_scope")
        context = permitted(self.offers.values(), notification, self.context or {}, scope)
        return self._publish(number, notification, context, scope)

    # ---- what the broker says

    def everything(self) -> Told:
        """All of it, for a broker that knows nothing."""
        return tuple(self._advertise(one) for _, one in sorted(self.offers.items()))

    def satisfied(self, ids: Iterable[int]) -> tuple[int, ...]:
        """Ids of the application's subscriptions, by those of a NOTIFY."""
        return tuple(sorted(id for id in ids if id in self.wanted))

    def received(self, notification: Values) -> Values:
        """As the publisher published it."""
        return notification

    def answered(self, message: ToBroker, is_refused: bool, now: int) -> None:
        """A request has its answer. What was refused is not set, unless it was replaced since."""
        if isinstance(message, m.Advertise):
            offer = self.offers.get(message.id)
            if is_refused and offer is not None and offer.req == message.req:
                del self.offers[message.id]
        elif isinstance(message, m.Subscribe):
            id = self._id(message.id)
            one = self.wanted.get(id)
            if one is not None and one.told == message.req:
                one.is_accepted = one.is_accepted or not is_refused
                if is_refused:
                    self._refused(id, one)
                else:
                    one.before = None

    def moved(self, now: int) -> None:
        """Another broker serves the client."""

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        assert len(self.offers) <= self._terms.most_objects
        assert len(self.wanted) <= self._terms.most_objects

    # ---- for the arms

    def _advertise(self, one: m.Advertise) -> m.Advertise:
        told = m.Advertise(self._draw(), one.id, one.filter, one.variables, one.subscriber_variables, one.ttl_ms)
        self.offers[one.id] = told
        return told

    def _unsubscribe(self, id: int) -> Told:
        raise NotImplementedError

    def _publish(self, number: int, notification: Values, context: dict[str, Value], scope: Tree | None) -> m.Publish:
        raise NotImplementedError

    def _id(self, wire: int) -> int:
        """Of the application's subscription that has this id on the wire; 0 if none has."""
        return wire

    def _refused(self, id: int, one: Wanted) -> None:
        """The broker does not have it as it was told last."""
        del self.wanted[id]


class Silbops(Arm):
    """The context goes to the broker once there is a subscription: a publisher's stays here."""

    def __init__(self, terms: Terms, draw: Draw) -> None:
        super().__init__(terms, draw)
        self._is_told = False
        """Whether the broker has the context."""

    def set_context(self, values: Values) -> Told:
        self.context, self._is_told = values, False
        return self._tell_context()

    def subscribe(self, id: int, one: Wanted) -> Told:
        known = self.wanted.get(id)
        if known is not None:
            one.before = known if known.is_accepted else known.before
        self.wanted[id] = one
        return (*self._tell_context(), self._tell(id, one))

    def everything(self) -> Told:
        self._is_told = False
        for one in self.wanted.values():
            one.before = None
        context = self._tell_context()
        return (*context, *super().everything(), *(self._tell(*one) for one in sorted(self.wanted.items())))

    def answered(self, message: ToBroker, is_refused: bool, now: int) -> None:
        super().answered(message, is_refused, now)
        if is_refused and isinstance(message, m.SetCtx):
            self._is_told = False

    def _refused(self, id: int, one: Wanted) -> None:
        if one.before is None:
            super()._refused(id, one)
        else:
            self.wanted[id] = one.before

    def _tell_context(self) -> tuple[m.SetCtx, ...]:
        if self.context is None or self._is_told or not self.wanted:
            return ()
        self._is_told = True
        return (m.SetCtx(self._draw(), self.context),)

    def _tell(self, id: int, one: Wanted) -> m.Subscribe:
        one.told = self._draw()
        return m.Subscribe(one.told, id, one.filter, one.scope, one.ttl_ms)

    def _unsubscribe(self, id: int) -> Told:
        del self.wanted[id]
        return (m.Unsubscribe(self._draw(), id),)

    def _publish(self, number: int, notification: Values, context: dict[str, Value], scope: Tree | None) -> m.Publish:
        return m.Publish(number, notification, context, scope)
