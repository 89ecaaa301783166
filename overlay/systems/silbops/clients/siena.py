"""The siena arm of the library: context is written into notifications and filters (seed 002, section 2).

A change of context replaces each filter whose constraints are other: UNSUBSCRIBE and SUBSCRIBE. Each replacement has a
new id on the wire. A subscription is held back while its function cannot be true: before the first context, and while
a variable that it reads is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from overlay.core.node import SECOND
from overlay.systems.silbops.clients.arms import Arm, Draw, Told, Wanted
from overlay.systems.silbops.clients.terms import Terms
from overlay.systems.silbops.clients.wires import ToBroker
from overlay.systems.silbops.content.filters import MAX_SIENA_CONSTRAINTS, Filter, filter_of
from overlay.systems.silbops.content.values import Value, Values
from overlay.systems.silbops.publishing import refuse
from overlay.systems.silbops.scope.reducing import Bound, constraints_of, reduced
from overlay.systems.silbops.scope.tree import Tree
from overlay.systems.silbops.wire import messages as m

MOST_OLD = 10_000
"""Ids on the wire that are no longer subscribed, and are still mapped back."""
FLIGHT = 5 * SECOND
"""Of a notification, by an old broker."""
EXACT = 1 << 53
"""Up to here, each integer is a float64."""


class _Row(NamedTuple):
    """What the broker was told of a subscription."""

    wire: int
    filter: Filter


class _Change(NamedTuple):
    id: int
    filter: Filter | None
    """The new one; ``None``: it is held back."""


class Siena(Arm):
    def __init__(self, terms: Terms, draw: Draw) -> None:
        super().__init__(terms, draw)
        self._bounds: dict[int, Sequence[Bound]] = {}
        """Of the functions, by id."""
        self._rows: dict[int, _Row] = {}
        self._ids: dict[int, int] = {}
        """By id on the wire. Old ones stay until no notification with them can be on its way."""
        self._old: dict[int, None] = {}
        """Old ones whose UNSUBSCRIBE was answered soon after a move: another broker may still use them."""
        self._last_wire = 0
        self._moved_until = 0

    def set_context(self, values: Values) -> Told:
        self.context = values
        return self._replace([_Change(id, self._filter(id)) for id in sorted(self._bounds)])

    def subscribe(self, id: int, one: Wanted) -> Told:
        bounds = None
        if one.scope is not None:
            bounds = reduced(one.scope)
            if bounds is None:
                refuse(m.Code.BAD_SCOPE, "siena has no constraints that mean this function of context")
            if len(one.filter) + len(bounds) > MAX_SIENA_CONSTRAINTS:
                refuse(m.Code.LIMIT, f"the filter would have more than {MAX_SIENA_CONSTRAINTS} constraints")
        self.wanted[id] = one
        self._bounds.pop(id, None)
        if bounds is not None:
            self._bounds[id] = bounds
        change = _Change(id, self._filter(id))
        row = self._rows.get(id)
        if row is not None and row.filter == change.filter:
            return (self._tell(id, row),)  # renewed
        return self._replace([change])

    def everything(self) -> Told:
        self._ids, self._old = {row.wire: id for id, row in self._rows.items()}, {}
        kept = [self._tell(*one) for one in sorted(self._rows.items())]
        missing = [_Change(id, self._filter(id)) for id in sorted(self.wanted.keys() - self._rows.keys())]
        return (*super().everything(), *kept, *self._replace(missing))

    def satisfied(self, ids: Iterable[int]) -> tuple[int, ...]:
        return super().satisfied({self._ids[wire] for wire in ids if wire in self._ids})

    def received(self, notification: Values) -> Values:
        return {name: value for name, value in notification.items() if name[0] != "@"}

    def answered(self, message: ToBroker, is_refused: bool, now: int) -> None:
        super().answered(message, is_refused, now)
        if not isinstance(message, m.Unsubscribe):
            return
        # what came before this answer has been mapped already
        if now < self._moved_until:
            self._old[message.id] = None
            if len(self._old) > MOST_OLD:
                self._forget(next(iter(self._old)))
        else:
            for wire in (*self._old, message.id):
                self._forget(wire)

    def moved(self, now: int) -> None:
        self._moved_until = now + self._terms.handover + FLIGHT

    def check_invariants(self) -> None:
        super().check_invariants()
        assert self._bounds.keys() <= self.wanted.keys()
        assert self._rows.keys() <= self.wanted.keys()
        assert all(self._ids[row.wire] == id for id, row in self._rows.items())
        assert len(self._old) <= MOST_OLD

    def _filter(self, id: int) -> Filter | None:
        """With the constraints of the present context. ``None``: nothing would match."""
        one = self.wanted[id]
        if id not in self._bounds:
            return one.filter
        if self.context is None:
            return None
        box = constraints_of(self._bounds[id], self.context)
        return None if box is None else filter_of((*one.filter, *box), is_siena=True)

    def _replace(self, changes: Sequence[_Change]) -> Told:
        """Only those that are other than what was told."""
        changes = [one for one in changes if self._told(one.id) != one.filter]
        if self._terms.adds_first:
            old = [self._rows[one.id] for one in changes if one.id in self._rows]
            added = [message for one in changes for message in self._add(one)]
            return (*added, *(m.Unsubscribe(self._draw(), row.wire) for row in old))
        told = list[ToBroker]()
        for one in changes:
            if one.id in self._rows:
                told.append(m.Unsubscribe(self._draw(), self._rows[one.id].wire))
            told += self._add(one)
        return told

    def _add(self, one: _Change) -> list[ToBroker]:
        if one.filter is None:
            self._rows.pop(one.id, None)
            return []
        self._last_wire += 1
        row = self._rows[one.id] = _Row(self._last_wire, one.filter)
        self._ids[row.wire] = one.id
        return [self._tell(one.id, row)]

    def _told(self, id: int) -> Filter | None:
        row = self._rows.get(id)
        return None if row is None else row.filter

    def _tell(self, id: int, row: _Row) -> m.Subscribe:
        one = self.wanted[id]
        one.told = self._draw()
        return m.Subscribe(one.told, row.wire, row.filter, None, one.ttl_ms)

    def _forget(self, wire: int) -> None:
        self._old.pop(wire, None)
        self._ids.pop(wire, None)

    def _advertise(self, one: m.Advertise) -> m.Advertise:
        return replace(super()._advertise(one), variables=frozenset(), subscriber_variables=None)

    def _unsubscribe(self, id: int) -> Told:
        del self.wanted[id]
        self._bounds.pop(id, None)
        row = self._rows.pop(id, None)
        return () if row is None else (m.Unsubscribe(self._draw(), row.wire),)

    def _publish(self, number: int, notification: Values, context: dict[str, Value], scope: Tree | None) -> m.Publish:
        merged = {f"@{name}": _compared(value) for name, value in context.items()}
        return m.Publish(number, {**notification, **merged}, {}, None)

    def _id(self, wire: int) -> int:
        return self._ids.get(wire, 0)

    def _refused(self, id: int, one: Wanted) -> None:
        """One that the broker had before is told again with the next context."""
        self._ids.pop(self._rows.pop(id).wire)
        if not one.is_accepted:
            super()._refused(id, one)
            self._bounds.pop(id, None)


def _compared(value: Value) -> Value:
    """Functions compare float64, filters exactly: an integer that is no float64 becomes one."""
    return float(value) if type(value) is int and abs(value) > EXACT else value
