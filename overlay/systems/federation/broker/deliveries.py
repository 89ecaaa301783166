"""What goes to the broker's clients: NOTIFY and OFFER, at once while a client is ready, later otherwise.

A client is ready while it is valid and was heard since its session began. What is offered waits in the tables, as what
is desired and not sent; notifications wait in ``held``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from overlay.core.node import NEVER
from overlay.messages.errors import BadMessage
from overlay.systems.federation.broker.held import MOST_HELD, Held, Waiting
from overlay.systems.federation.broker.parts import offers, shares
from overlay.systems.federation.broker.registered import Registered
from overlay.systems.federation.broker.station import Station
from overlay.systems.federation.tables.outlets import Change
from overlay.systems.federation.wire.messages import Notify
from overlay.systems.federation.wire.values import Notification, Priority, Subscription


class Deliveries:
    def __init__(self, station: Station) -> None:
        self._peers, self._tables, self._counters = station.peers, station.tables, station.counters
        self._tracer = station.tracer
        self._due = self._sent = self._dropped = 0
        """NOTIFYs: those that were to go, also again; those that went; those that were given up."""

    def notify(
        self,
        name: str,
        client: Registered,
        notification: Notification,
        subscriptions: Sequence[Subscription],
        is_cached: bool,
        hops: int,
    ) -> None:
        for several in shares(subscriptions, notification):
            self._due += 1
            message = Notify(notification, tuple([one.id for one in several]), is_cached, hops)
            priority = several[0].priority if len(several) == 1 else max([one.priority for one in several])
            if not (client.is_ready and self._send(name, client, message, priority)):
                self._hold(name, client, Waiting(message, priority, tuple([one.expires for one in several])))

    def offer(self, change: Change) -> None:
        """To a provider that is ready; the tables keep it otherwise."""
        for message in offers(self._peers.codec, change.added, change.removed):
            if self._peers.send(change.destination.id, message) and self._tracer is not None:
                self._tracer.offered(change.destination.id, message.added, self._peers.now)

    def pause(self, name: str, client: Registered) -> None:
        """It is not ready any more."""
        client.is_ready = False
        self._tables.hold(name)

    def resume(self, name: str, client: Registered) -> None:
        """It is valid, and was heard: over a session that may have ended since, if there is a queue."""
        if self._peers.address(name) is None:
            return
        client.is_reachable = client.is_ready = True
        self._tables.release(name)
        if client.held is not None:
            held, client.held = client.held.take(), None
            self._deliver(name, client, held)

    def take_back(self, name: str, client: Registered, undelivered: Sequence[bytes]) -> None:
        """Its session has ended. The notifications that it has not delivered wait before all others."""
        client.is_reachable = False
        self.pause(name, client)
        self._tables.forget_told(name)
        returned = [one for data in undelivered if (one := self._returned(data)) is not None]
        if returned:
            self._due += len(returned)
            for one in returned:
                self._trace("returned", name, one.message)
            if client.held is None:
                client.held = Held()
            self._drop(client.held.put_first(returned, self._peers.wall_ms))

    def forget(self, client: Registered) -> None:
        """Nothing waits for it any more."""
        if client.held is not None:
            self._drop(len(client.held))
            client.held = None

    def check_invariants(self, clients: Iterable[Registered]) -> None:
        """(I8) and (I9) of section 12. Raises ``AssertionError``."""
        held = [len(client.held) for client in clients if client.held is not None]
        assert max(held, default=0) <= MOST_HELD
        assert self._due == self._sent + sum(held) + self._dropped, "(I9) a notification is unaccounted for"

    # ---- inner

    def _deliver(self, name: str, client: Registered, held: Iterable[Waiting]) -> None:
        """Without the subscriptions that have expired."""
        wall_ms = self._peers.wall_ms
        for one in held:
            current = one.at(wall_ms)
            if current is None:
                self._drop(1)
            elif not (client.is_ready and self._send(name, client, current.message, current.priority)):
                self._hold(name, client, current)

    def _send(self, name: str, client: Registered, message: Notify, priority: int) -> bool:
        """False without a session. What cannot be written is dropped."""
        if self._peers.send(name, message, priority):
            self._sent += 1
            self._trace("notified", name, message)
            return True
        if self._peers.address(name) is None:
            client.is_reachable = False
            self.pause(name, client)
            return False
        self._drop(1)
        return True

    def _hold(self, name: str, client: Registered, one: Waiting) -> None:
        self._trace("held", name, one.message)
        if client.held is None:
            client.held = Held()
        self._drop(client.held.add(one, self._peers.wall_ms))

    def _trace(self, step: str, name: str, message: Notify) -> None:
        if self._tracer is not None:
            self._tracer.note(step, message.notification.id, name, self._peers.now, message.satisfied)

    def _returned(self, data: bytes) -> Waiting | None:
        try:
            message = self._peers.codec.parse(data)
        except BadMessage:
            return None
        if not isinstance(message, Notify):
            return None
        rows = [self._tables.subscriptions.get(sid) for sid in message.satisfied]
        # A query ended when it was satisfied, so its expiry is not known any more.
        until = tuple([row.subscription.expires if row else NEVER for row in rows])
        priority = max([int(row.subscription.priority) for row in rows if row], default=int(Priority.NORMAL))
        return Waiting(message, priority, until)

    def _drop(self, number: int) -> None:
        if number:
            self._dropped += number
            self._counters["dropped_held"] += number
