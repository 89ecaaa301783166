"""The broker's own clients: registration and keep-alives (seed 001, section 8), and what is held for them.

::

               REGISTER                 nothing for Δ
    UNKNOWN ──────────────> VALID ──────────────────────> INVALID ── nothing for G ──> UNKNOWN
                              ^ └── UNREGISTER ──> UNKNOWN    │
                              └──── KEEPALIVE, REGISTER ──────┘

A client has one deadline. While it is valid, its deadline is not moved with each message: when it comes, it is set
again, to Δ after the last one.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from overlay.channel import Down, Moved
from overlay.core.addresses import Address, format_address
from overlay.core.node import MILLISECOND, SECOND
from overlay.peers.peers import SessionEvent
from overlay.systems.federation.broker.client_events import ClientRegistered, EntryRemoved, KeepAliveMissed
from overlay.systems.federation.broker.deliveries import Deliveries
from overlay.systems.federation.broker.neighbours import Neighbours
from overlay.systems.federation.broker.registered import Registered
from overlay.systems.federation.broker.station import Clock, Station
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.values import Advertisement, Entry, Notification, Role, Subscription

MOST_CLIENTS = 100_000
"""Registered at a broker."""


class Clients:
    def __init__(self, station: Station, neighbours: Neighbours, servers: Container[str] = ()) -> None:
        """``servers``: the names of brokers and of the registration service, which no client may have."""
        self._station, self._neighbours, self._servers = station, neighbours, servers
        self._peers, self._tables = station.peers, station.tables
        self._deliveries = Deliveries(station)
        self.tell = self._deliveries.offer
        settings = station.settings
        self._valid_for = round(settings.keepalive_s * SECOND)
        self._known_for = self._valid_for * (2 if settings.grace_from == "last_heard" else 3)
        self._is_implicit = settings.implicit_keepalive
        self._clients: dict[str, Registered] = {}
        self._version = 0

    def __len__(self) -> int:
        return len(self._clients)

    def __iter__(self) -> Iterator[str]:
        return iter(self._clients)

    def __contains__(self, name: str) -> bool:
        return name in self._clients

    def get(self, name: str) -> Advertisement | None:
        client = self._clients.get(name)
        return None if client is None else client.advertisement

    def registered(self, name: str) -> Registered:
        """Raises ``KeyError``."""
        return self._clients[name]

    def since_ms(self, name: str) -> int:
        """When a registered client came, Unix ms."""
        return (self._clients[name].since + self._peers.wall_offset_ns) // MILLISECOND

    def is_valid(self, name: str) -> bool:
        """Whether it is registered, and was heard within Δ."""
        client = self._clients.get(name)
        return client is not None and client.is_valid

    # ---- messages

    def register(self, name: str, message: m.Register) -> None:
        if (refusal := self._refusal(name, message.advertisement)) is not None:
            self._peers.refuse(name, message, *refusal)
            return
        address = self._peers.address(name)
        if address is None:
            return  # its session ended while the message was in a queue
        client, advertisement = self._clients.get(name), message.advertisement
        if client is None:
            self._begin(name, advertisement)
        else:
            if not client.is_reachable and client.advertisement.registration != advertisement.registration:
                self._begin_again(name, client)
            self._hear(name, client)
        self._peers.accept(name, message.req)  # after what was held: with the ACK the client subscribes to what is left
        if client is not None:
            if client.advertisement == advertisement:
                return
            client.advertisement = advertisement
        self._announce(advertisement, address)
        if advertisement.role is Role.PROVIDER:
            self._neighbours.out_of_turn()

    def keep_alive(self, name: str, message: m.KeepAlive) -> None:
        """One of another registration is of a client that is not known here."""
        client = self._clients.get(name)
        if client is None:
            ends = f"one ends {self._known_for / SECOND:g} s after its last keep-alive."
            self._peers.refuse(name, message, m.Code.UNKNOWN, f"This registration is not known here: {ends}")
        elif client.advertisement.registration != message.number:
            self._peers.refuse(name, message, m.Code.UNKNOWN, f"Another registration of {name} has replaced this one.")
        else:
            self._hear(name, client)

    def unregister(self, name: str, message: m.Unregister) -> None:
        """Nothing changes if the registration is not known, such as an earlier one."""
        client = self._clients.get(name)
        if client is not None and client.advertisement.registration == message.registration:
            self.remove(name, "unregistered")
        self._peers.accept(name, message.req)

    def serves(self, name: str, message: m.Message) -> bool:
        """Whether the client's other messages are served now. If not, it was refused."""
        client = self._clients.get(name)
        if client is None:
            self._peers.refuse(name, message, m.Code.UNKNOWN, "Register first.")
            return False
        if self._is_implicit:
            if client.is_ready:
                client.heard = self._peers.now
            else:
                self._hear(name, client)
        elif not client.is_valid:
            self._peers.refuse(name, message, m.Code.INVALID, "The registration is invalid. Send a keep-alive first.")
            return False
        elif not client.is_ready:
            self._deliveries.resume(name, client)
        return True

    def subscribed(self, name: str) -> None:
        """Neighbours are told of a consumer with its first subscription."""
        client = self._clients[name]
        if not client.has_subscribed:
            client.has_subscribed = True
            if client.advertisement.role is Role.CONSUMER:
                self._neighbours.out_of_turn()

    def remove(self, name: str, reason: str) -> None:
        """With its subscriptions. Nothing changes if it is not registered here."""
        client = self._clients.pop(name, None)
        if client is None:
            return
        self._station.cancel(Clock.CLIENT, name)
        self._deliveries.forget(client)
        self._tables.unregister(name)
        silent_us = 1000 * (self._peers.now - client.heard) // MILLISECOND
        self._station.log.append(EntryRemoved(name, reason, silent_us, at=self._peers.now))
        self._neighbours.out_of_turn()

    def supersede(self) -> None:
        """Remove those in ``Station.superseded``."""
        names, self._station.superseded = self._station.superseded, []
        for name in names:
            self.remove(name, "superseded")

    def notify(
        self,
        name: str,
        notification: Notification,
        subscriptions: Sequence[Subscription],
        is_cached: bool = False,
        hops: int = 0,
    ) -> None:
        """NOTIFY of what satisfies these subscriptions: at once, or once the client is valid again."""
        self._deliveries.notify(name, self._clients[name], notification, subscriptions, is_cached, hops)

    # ---- deadlines and sessions

    def ring(self, name: str) -> None:
        """``Clock.CLIENT``."""
        client, now = self._clients[name], self._peers.now
        if not client.is_valid:
            self.remove(name, "expired")
        elif now < client.heard + self._valid_for:
            self._station.set_timer(Clock.CLIENT, name, client.heard + self._valid_for)
        else:
            client.is_valid = False
            self._deliveries.pause(name, client)
            self._station.set_timer(Clock.CLIENT, name, client.heard + self._known_for)
            self._station.log.append(KeepAliveMissed(name))

    def session(self, event: SessionEvent) -> None:
        """A client is left to its own timers. Until it is heard again, what is for it is held."""
        if not isinstance(event, Moved | Down):
            return
        try:
            name = event.peer.decode()
        except UnicodeDecodeError:
            return
        client = self._clients.get(name)
        if client is None:
            return
        if isinstance(event, Moved):
            self._announce(client.advertisement, event.address)
        else:
            self._deliveries.take_back(name, client, event.undelivered)

    def check_invariants(self) -> None:
        """(I8), (I9) and (I10) of section 12. Raises ``AssertionError``."""
        timers, now = self._station.timers, self._peers.now
        for name, client in self._clients.items():
            client.check_invariants(now, self._valid_for, self._known_for)
            assert (Clock.CLIENT, name) in timers, f"{name} has no deadline"
            assert self._tables.registrations.local(name) is not None
        self._deliveries.check_invariants(self._clients.values())
        assert len(self._clients) <= MOST_CLIENTS

    # ---- inner

    def _refusal(self, name: str, advertisement: Advertisement) -> tuple[m.Code, str] | None:
        if advertisement.id != name:
            return m.Code.BAD, f"The session is of {name}, the advertisement of {advertisement.id}."
        if name in self._servers:
            return m.Code.BAD, f"{name} is the name of a server."
        if name not in self._clients and len(self._clients) >= MOST_CLIENTS:
            return m.Code.LIMIT, f"This broker has {MOST_CLIENTS:,} clients."
        return None

    def _begin(self, name: str, advertisement: Advertisement) -> None:
        now = self._peers.now
        self._clients[name] = Registered(advertisement, now)
        self._station.set_timer(Clock.CLIENT, name, now + self._valid_for)
        self._station.log.append(ClientRegistered(name, advertisement.registration))

    def _begin_again(self, name: str, client: Registered) -> None:
        """Another registration over another session, perhaps of another life of the client: what it had is gone."""
        self._tables.unsubscribe_all(name)
        client.has_subscribed, client.since = False, self._peers.now
        self._deliveries.forget(client)

    def _announce(self, advertisement: Advertisement, address: Address) -> None:
        """Its entry, new or changed. Versions rise over restarts, too."""
        self._version = max(self._version + 1, self._peers.wall_ms * 1_000)
        self._tables.register(Entry(advertisement, format_address(address), self._station.name, self._version))

    def _hear(self, name: str, client: Registered) -> None:
        client.heard = self._peers.now
        if not client.is_valid:
            client.is_valid = True
            self._station.set_timer(Clock.CLIENT, name, client.heard + self._valid_for)
        if not client.is_ready:
            self._deliveries.resume(name, client)
