"""Both tables of a broker, and routing by them. Equations (5) to (9) of the seed, as corrected in section 6."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import final

from overlay.systems.federation.covering.kept import Kept
from overlay.systems.federation.covering.merged import Merged
from overlay.systems.federation.names import Routing as Routing
from overlay.systems.federation.tables.destinations import Destination, client, neighbour
from overlay.systems.federation.tables.outlets import Change, Outlet
from overlay.systems.federation.tables.registrations import LOCAL, EntryChange, RegistrationTable, Served
from overlay.systems.federation.tables.subscriptions import SubscriptionTable
from overlay.systems.federation.wire.messages import RegTable, SubTable, Whole
from overlay.systems.federation.wire.sums import sum_of
from overlay.systems.federation.wire.values import (
    Entry,
    Notification,
    Priority,
    Role,
    Subscription,
    SubscriptionId,
    Summary,
)

EVERYONE = neighbour("")
"""All neighbours, where subscriptions are flooded."""


@final
class Delivery:
    """A notification goes to ``destination``. A plain class: compiled, it is made with far less work than a tuple with
    names."""

    __slots__ = ("destination", "ended", "subscriptions")

    def __init__(
        self, destination: Destination, subscriptions: tuple[Subscription, ...], ended: tuple[SubscriptionId, ...]
    ) -> None:
        self.destination = destination
        self.subscriptions = subscriptions
        """Those of the destination that it satisfies."""
        self.ended = ended
        """The queries among them, which this notification has ended here."""

    @property
    def satisfied(self) -> tuple[SubscriptionId, ...]:
        return tuple([one.id for one in self.subscriptions])

    @property
    def priority(self) -> int:
        """The highest of the subscriptions: with which a full queue may drop it."""
        if len(self.subscriptions) == 1:
            return self.subscriptions[0].priority
        return max([one.priority for one in self.subscriptions]) if self.subscriptions else Priority.NORMAL


class Tables:
    """Subscriptions and registrations are told to a neighbour from ``connect`` to ``disconnect`` or ``retire``."""

    def __init__(
        self,
        routing: Routing = Routing.ADVERTISEMENTS,
        *,
        covering: Callable[[], Kept | Merged] | None = None,
        is_flooded: bool = False,
    ) -> None:
        """``covering``: makes what decides which subscriptions go over a link.

        ``is_flooded``: what neighbours are told is no function of the tables. Only what ``EVERYONE`` is told is one,
        of the subscriptions of own clients."""
        self.subscriptions = SubscriptionTable()
        self.registrations = RegistrationTable()
        self._routing = routing
        self._goes_everywhere = routing is Routing.NOTIFICATIONS
        self._covering = covering
        self._is_flooded = is_flooded
        self.registrations.keeps_changes = is_flooded
        if is_flooded and routing is not Routing.NOTIFICATIONS:
            everyone = Outlet(EVERYONE, wants_all=True)
            everyone.wants_own = True
            self.subscriptions.add_outlet(everyone)
        self._parts: dict[str, tuple[dict[SubscriptionId, Subscription], dict[str, Entry]]] = {}
        """By neighbour, the parts of complete tables that are still arriving."""

    # ---- edges

    def connect(self, broker: str, exported: frozenset[str] | None = None) -> None:
        """A new neighbour, which knows nothing from here and has told nothing. ``exported``: the only scopes that it
        may see, as it is of another domain."""
        self._parts[broker] = ({}, {})
        self.registrations.connect(broker, exported)
        if self._routing is not Routing.NOTIFICATIONS and not self._is_flooded:
            wants_all = self._routing is Routing.FLOODING
            kept = None if self._covering is None else self._covering()
            outlet = Outlet(neighbour(broker), wants_all=wants_all, kept=kept)
            self.subscriptions.add_outlet(outlet)

    def retire(self, broker: str) -> None:
        """An edge of an earlier tree: it only carries notifications, until ``drop``."""
        self._disconnect(broker)
        self.subscriptions.silence(neighbour(broker))

    def drop(self, broker: str) -> None:
        """What came over a retired edge is gone."""
        self.subscriptions.remove_all(neighbour(broker))

    def disconnect(self, broker: str) -> None:
        """A neighbour that is lost, with all that came from it."""
        self._disconnect(broker)
        self.drop(broker)

    def forget_sent(self, broker: str) -> None:
        """It has lost what it was told: both tables go again, complete."""
        self.subscriptions.forget_sent(neighbour(broker))
        self.registrations.connect(broker)

    def _disconnect(self, broker: str) -> None:
        del self._parts[broker]
        if self.subscriptions.outlet(neighbour(broker)) is not None:
            self.subscriptions.remove_outlet(neighbour(broker))
        self.registrations.disconnect(broker)

    # ---- clients

    def register(self, entry: Entry) -> None:
        """A client of this broker, new or with a changed advertisement."""
        name, before = entry.advertisement.id, self.registrations.local(entry.advertisement.id)
        outlet = self.subscriptions.outlet(client(name))
        is_asked = entry.advertisement.role is Role.PROVIDER and self._routing is not Routing.NOTIFICATIONS
        if is_asked and outlet is None:
            self.subscriptions.add_outlet(Outlet(client(name)))
        elif outlet is not None and before and before.advertisement.registration != entry.advertisement.registration:
            self.subscriptions.forget_sent(client(name))
        self._served([self.registrations.put(entry)])

    def unregister(self, name: str) -> None:
        """With its subscriptions. Nothing changes if it is not registered here."""
        change = self.registrations.remove(name)
        if change is not None:
            self._served([change])
            if self.subscriptions.outlet(client(name)) is not None:
                self.subscriptions.remove_outlet(client(name))
            self.subscriptions.remove_all(client(name))

    def subscribe(self, name: str, added: Iterable[Subscription], removed: Iterable[SubscriptionId] = ()) -> None:
        """(5) and (6) for a client of this broker."""
        self._change(client(name), added, removed)

    def unsubscribe_all(self, name: str) -> None:
        """All subscriptions of a client of this broker."""
        self.subscriptions.remove_all(client(name))

    def hold(self, name: str) -> None:
        """A provider is not to be told anything for now."""
        self.subscriptions.hold(client(name))

    def release(self, name: str) -> None:
        """The end of ``hold``."""
        self.subscriptions.release(client(name))

    def forget_told(self, name: str) -> None:
        """A provider may have missed what it was told: all goes again."""
        self.subscriptions.forget_sent(client(name))

    def published(self, name: str, satisfied: Sequence[SubscriptionId]) -> list[SubscriptionId]:
        """After routing: a provider believes these satisfied and watches the queries among them no longer.

        Returns the queries that were not satisfied. They are not offered to it again.
        """
        if not satisfied:
            return []
        rows = [(sid, self.subscriptions.get(sid)) for sid in satisfied]
        self.subscriptions.take_off(client(name), [sid for sid, row in rows if row is None])
        return [sid for sid, row in rows if row is not None and row.subscription.once]

    # ---- messages of neighbours

    def receive_subscriptions(self, broker: str, message: SubTable) -> None:
        source, parts = neighbour(broker), self._parts[broker][0]
        if message.whole is Whole.CHANGES:
            self._change(source, message.added, message.removed)
            return
        parts.update((one.id, one) for one in message.added)
        if message.whole is Whole.LAST:
            held = (one.id for one in self.subscriptions.held_from(source))
            self._change(source, parts.values(), [sid for sid in held if sid not in parts])
            parts.clear()

    def receive_registrations(self, broker: str, message: RegTable) -> list[str]:
        """Returns the clients of this broker that are registered elsewhere since, to be removed here."""
        added, removed, parts = message.added, message.removed, self._parts[broker][1]
        if message.whole is not Whole.CHANGES:
            parts.update((one.advertisement.id, one) for one in message.added)
            if message.whole is Whole.PART:
                return []
            held = (entry.advertisement.id for entry in self.registrations.held_from(broker))
            added, removed = tuple(parts.values()), tuple(name for name in held if name not in parts)
            parts.clear()
        gone = [self.registrations.remove(name, broker) for name in removed]
        self._served([change for change in gone if change])
        self._served([self.registrations.put(entry, broker) for entry in added])
        names = dict.fromkeys(entry.advertisement.id for entry in added)
        return [name for name in names if self.registrations.is_superseded(name)]

    def ended(self, broker: str, sids: Iterable[SubscriptionId]) -> None:
        """A neighbour sent a notification that ended these queries there."""
        self.subscriptions.take_off(neighbour(broker), sids)

    # ---- notifications

    def route(self, notification: Notification, source: Destination, only: Destination | None = None) -> list[Delivery]:
        """(8) and (9): where it goes. Queries that it satisfies end here with this step. ``only``: what is for
        this one."""
        satisfied: dict[Destination, list[Subscription]] = {}
        for row in self.subscriptions.match(notification):
            for destination in row.ordered:
                if destination != source and (only is None or destination == only):
                    several = satisfied.get(destination)
                    if several is None:
                        satisfied[destination] = [row.subscription]
                    else:
                        several.append(row.subscription)
        if self._goes_everywhere and only is None:
            for broker in self.registrations.neighbours:
                if neighbour(broker) != source and self.registrations.may_see(broker, notification.scope):
                    satisfied.setdefault(neighbour(broker), [])
        return [self._delivery(destination, several) for destination, several in satisfied.items()]

    def _delivery(self, destination: Destination, satisfied: list[Subscription]) -> Delivery:
        ended = [one.id for one in satisfied if one.once]
        for sid in ended:
            self.subscriptions.remove(sid, destination)
        return Delivery(destination, tuple(satisfied), tuple(ended))

    def expire(self, now_ms: int) -> bool:
        """Whether anything may have changed. To be called when ``subscriptions.next_expiry`` has come."""
        return self.subscriptions.expire(now_ms)

    # ---- what is to be told

    def subscription_changes(self) -> list[Change]:
        """For SUBTABLE and OFFER, with the step that made them."""
        return self.subscriptions.changes()

    def registration_change(self, broker: str, most: int | None = None) -> EntryChange:
        """For REGTABLE, when it is due; with ``most`` perhaps a part of it."""
        return self.registrations.difference(broker, most)

    def whole_subscriptions(self, broker: str) -> list[Subscription]:
        """For a SUBTABLE of all that a neighbour was told, which is told again."""
        outlet = self.subscriptions.outlet(neighbour(broker))
        if outlet is None:
            return []
        outlet.retell()
        return outlet.sent

    def rows_from(self, broker: str) -> tuple[int, int]:
        """Subscriptions and registrations that a neighbour makes this broker hold, parts of tables included."""
        subscriptions, registrations = self._parts[broker]
        held = self.subscriptions.count(neighbour(broker)), self.registrations.sums(broker)[1].count
        return held[0] + len(subscriptions), held[1] + len(registrations)

    def held_from(self, broker: str) -> tuple[Summary, Summary]:
        """For HELLO: the sums of T and R that are held from a broker."""
        if broker not in self._parts:
            return Summary(), Summary()
        return sum_of(self.subscriptions.held_from(neighbour(broker))), self.registrations.sums(broker)[1]

    def sent_to(self, broker: str) -> tuple[Summary, Summary]:
        """What the other end of an edge should hold, to compare with its HELLO."""
        outlet = self.subscriptions.outlet(neighbour(broker))
        return sum_of(outlet.sent if outlet else ()), self.registrations.sums(broker)[0]

    def check_invariants(self) -> None:
        """(I1), (I2) and (I4) of section 12, as far as they are about one broker. Raises ``AssertionError``."""
        self.subscriptions.check_invariants()
        self.registrations.check_invariants()
        assert set(self._parts) == set(self.registrations.neighbours)

    # ---- inner

    def _change(self, source: Destination, added: Iterable[Subscription], removed: Iterable[SubscriptionId]) -> None:
        for one in added:
            self.subscriptions.add(one, source)
        for sid in removed:
            self.subscriptions.remove(sid, source)

    def _served(self, changes: Iterable[Served]) -> None:
        for one in changes:
            destination = client(one.client) if one.source == LOCAL else neighbour(one.source)
            self.subscriptions.serve(destination, one.before, one.after)
