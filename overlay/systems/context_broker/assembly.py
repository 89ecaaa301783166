"""The orders of a controller that build an overlay: joins, and monitoring of neighbours. Pure.

Counterparts: ``overlay.runtime.orders`` and ``overlay.sim.actors`` send the orders. A link is ordered once for each
pair of *incarnations* of its two brokers: a restarted broker has an empty list of neighbours, so its joins and its
monitoring are due again. Each link has its own order, because a join with several brokers is acknowledged even if only
some of them answer.

If brokers choose their neighbours, links are only candidates. Each incarnation of a broker then gets one
order with all of them, which is done when the broker acknowledges it. That order waits until all brokers have been up,
because a choice among the first few would be bad, but no longer than ``PATIENCE``.

A link that is cut while both brokers run has no message of its own: one of them is ordered to leave, so that it and its
neighbours forget each other, and then to join the neighbours that it keeps. The seed's leave names no neighbour, and a
broker keeps its data while it leaves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from overlay.core.addresses import Address
from overlay.core.links import Link
from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.context_broker.clients import questions
from overlay.systems.context_broker.clients.exchange import Exchange, Retry, Timestamps, WallClock
from overlay.systems.context_broker.clients.questions import Question

ORDER_RETRY = Retry(again_s=(0.5, 1.0, 2.0), give_up_s=4.0)
"""A join takes a broker up to a second. A broker that died meanwhile is soon given up on."""
RETRY = 500 * MILLISECOND
"""From the refusal of an order to its repetition."""
ATTEMPTS = 5
"""After this many refusals of one order the problem is reported as permanent; attempts continue."""
PATIENCE = 5 * SECOND
"""How long brokers that choose their neighbours wait for the others, from the start of the first broker."""

Key = tuple[int, tuple[int, ...], bool]


@dataclass(frozen=True, slots=True)
class Order:
    """One command to one broker. ``joins`` are the brokers to join; empty for an order to monitor its neighbours."""

    broker: int
    joins: tuple[int, ...]
    incarnations: tuple[int, ...]
    """The incarnations of the broker and, for a link, of its neighbour, when the order was sent."""
    leaves: bool = False
    """Whether the broker should forget all neighbours, because a link was cut; its joins follow again."""

    @property
    def key(self) -> Key:
        return self.broker, self.joins, self.leaves

    def question(self, addresses: Sequence[Address]) -> Question:
        """The message to ``addresses[self.broker]``."""
        if self.leaves:
            return questions.leave()
        if not self.joins:
            return questions.monitor()
        return questions.join(tuple(addresses[other] for other in self.joins))

    def words(self) -> str:
        """The order in words, for errors."""
        if self.leaves:
            return "leave its neighbours"
        if not self.joins:
            return "monitor its neighbours"
        return f"join broker {self.joins[0]}" if len(self.joins) == 1 else "find neighbours"


class Assembly:
    """The orders of an overlay that are done, and those that are due."""

    def __init__(self, brokers: int, links: Iterable[Link], *, monitoring: bool, searching: bool = False) -> None:
        """``searching``: brokers choose among their links."""
        self._monitoring = monitoring
        self._searching = searching
        self._absent: Set[int] = frozenset()
        self._leaving: set[int] = set()
        """Brokers that are ordered to leave, because one of their links was cut."""
        self._draw(brokers, links)
        self._patient_until: int | None = None
        self._was_whole = False
        """Whether all brokers have been up at the same time."""
        self._done: dict[Key, tuple[int, ...]] = {}
        self._assumed: dict[int, int] = {}
        """Brokers and incarnations whose orders are done by other means."""
        self._busy: dict[int, Order] = {}
        self._up: dict[int, int] = {}
        self._unsettled: set[int] = set()
        """Brokers with possible orders: all after a change of ``up``, then those with remaining orders."""
        self._refusals: dict[Key, int] = {}
        self._not_before: dict[Key, int] = {}
        self._wall = WallClock()
        self._timestamps = Timestamps(self._wall)
        self.trouble = ""
        """The order refused ``ATTEMPTS`` times, in words; empty if there is none or it has succeeded since."""

    def _draw(self, brokers: int, links: Iterable[Link]) -> None:
        kept = tuple(links)
        self._brokers, self._links = brokers, frozenset(link.ends for link in kept)
        self._neighbours: list[list[int]] = [[] for _ in range(brokers)]
        for link in kept:
            self._neighbours[link.a].append(link.b)
            if self._searching:
                self._neighbours[link.b].append(link.a)

    def reshape(self, servers: int, links: Iterable[Link], absent: Set[int]) -> None:
        """Of two brokers whose link is cut, that with fewer links leaves, because it joins them all again."""
        before = self._links
        self._draw(servers, links)
        self._absent = absent
        degrees = Counter(end for ends in self._links for end in ends)
        for ends in before - self._links:
            if absent.isdisjoint(ends) and self._leaving.isdisjoint(ends):
                self._leaving.add(min(ends, key=lambda end: (degrees[end], end)))
        self._unsettled = set(self._up)

    def due(self, up: Mapping[int, int], now: int, room: int) -> list[Order]:
        """The orders that are due, at most ``room`` and one per broker at a time.

        ``up`` is the incarnation of each running broker. Each order must be followed by ``done`` or ``refused``.
        """
        self._notice(up)
        orders: list[Order] = []
        if self._is_patient(now):
            return orders
        for broker in sorted(self._unsettled - self._busy.keys()):
            undone = self._undone(broker)
            if not undone:
                self._unsettled.discard(broker)
            order = next((order for order in undone if self._may_begin(order, now)), None)
            if order is not None and len(orders) < room:
                self._busy[broker] = order
                orders.append(order)
        return orders

    def _may_begin(self, order: Order, now: int) -> bool:
        """A leave waits for joins with the broker that have begun, as their answers would come after it."""
        if order.leaves and any(order.broker in other.joins for other in self._busy.values()):
            return False
        return now >= self._not_before.get(order.key, now)

    def begin(self, order: Order, servers: Sequence[Address], now: int, wall_offset_ns: int) -> Exchange:
        """Send an order that is due. Call ``settle`` when the exchange ends."""
        self._wall.offset_ns = wall_offset_ns
        return Exchange(order.question(servers), servers[order.broker], now, self._timestamps, ORDER_RETRY)

    def settle(self, order: Order, exchange: Exchange, now: int) -> None:
        if exchange.outcome == "answered":
            self.done(order)
        elif exchange.outcome == "timed_out":
            self.refused(order, "no answer", now)
        else:
            self.refused(order, f"refused with status {exchange.status}", now)

    def assume(self, up: Mapping[int, int]) -> None:
        """Mark all orders of these incarnations as done by other means."""
        self._up, self._unsettled = dict(up), set()
        self._assumed = dict(up)
        self._was_whole = self._was_whole or self._are_all(up)

    def _are_all(self, up: Mapping[int, int]) -> bool:
        return len(up.keys() - self._absent) == self._brokers - len(self._absent)

    def _notice(self, up: Mapping[int, int]) -> None:
        if up != self._up:
            self._up = dict(up)
            self._unsettled = set(up)

    def _is_patient(self, now: int) -> bool:
        """Whether brokers that choose their neighbours still wait for others."""
        self._was_whole = self._was_whole or self._are_all(self._up)
        if not self._searching or self._was_whole or not self._up:
            return False
        if self._patient_until is None:
            self._patient_until = now + PATIENCE
        return now < self._patient_until

    def _undone(self, broker: int) -> list[Order]:
        if broker in self._absent:
            return []
        if broker in self._leaving:
            return [Order(broker, (), (self._up[broker],), leaves=True)]
        undone = [order for order in self._joins(broker) if not self._is_done(order)]
        if undone or not self._monitoring:
            return undone
        watch = Order(broker, (), (self._up[broker],))
        return [] if self._is_done(watch) else [watch]

    def _is_done(self, order: Order) -> bool:
        if self._done.get(order.key) == order.incarnations:
            return True
        about = zip((order.broker, *order.joins), order.incarnations, strict=False)
        return all(self._assumed.get(broker) == incarnation for broker, incarnation in about)

    def _joins(self, broker: int) -> list[Order]:
        up = self._up
        others = [other for other in self._neighbours[broker] if other not in self._absent | self._leaving]
        if self._searching:
            return [Order(broker, tuple(others), (up[broker],))] if others else []
        return [Order(broker, (other,), (up[broker], up[other])) for other in others if other in up]

    def done(self, order: Order) -> None:
        """The broker has acknowledged the order."""
        self._busy.pop(order.broker, None)
        self._done[order.key] = order.incarnations
        self._refusals.pop(order.key, None)
        self._not_before.pop(order.key, None)
        if not self._refusals:
            self.trouble = ""
        if order.leaves:
            self._forget(order.broker)

    def _forget(self, broker: int) -> None:
        """It has left: all its links are due again, whoever joins."""
        self._leaving.discard(broker)
        self._assumed.pop(broker, None)
        for key in [key for key in self._done if key[0] == broker or broker in key[1]]:
            del self._done[key]
        self._unsettled = set(self._up)

    def refused(self, order: Order, reason: str, now: int) -> None:
        """The broker has refused the order or not answered. It is due again later, unless it is obsolete."""
        self._busy.pop(order.broker, None)
        self._refusals[order.key] = self._refusals.get(order.key, 0) + 1
        self._not_before[order.key] = now + RETRY
        if self._refusals[order.key] >= ATTEMPTS:
            self.trouble = f"broker {order.broker} could not {order.words()}: {reason}"

    def next_retry(self, now: int) -> int | None:
        """The time of the next retry or of the end of ``PATIENCE``; ``None`` without either."""
        times = [*self._not_before.values(), *([] if self._was_whole else [self._patient_until or 0])]
        return min((at for at in times if at > now), default=None)

    def is_complete(self, up: Mapping[int, int]) -> bool:
        """Whether every broker is up, without those that should not be, and there are no further orders."""
        return self._are_all(up) and self.is_idle(up)

    def is_idle(self, up: Mapping[int, int]) -> bool:
        """Whether there are no further orders to brokers that are up."""
        self._notice(up)
        return not self._busy and not any(map(self._undone, self._unsettled))
