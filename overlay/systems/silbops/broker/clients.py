"""The broker's own clients: attached, away, gone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from overlay.channel import Down
from overlay.core.node import SECOND
from overlay.systems.silbops.broker.client import ADVERTISEMENTS, SUBSCRIPTIONS, Client, State
from overlay.systems.silbops.broker.events import ClientAttached, ClientLost, ClientRemoved
from overlay.systems.silbops.broker.station import PATIENCE, Clock, Station
from overlay.systems.silbops.tables import Key
from overlay.systems.silbops.wire import messages as m

MOST_CLIENTS = 100_000
MOST_KEPT = 1_000_000
"""Notifications kept for all clients together."""
ATTACH_WITHIN = 10 * SECOND
"""A session without ATTACH ends."""
LEAST_TAKEN = 1_000
"""Messages that a client with a full queue takes within ``PATIENCE``, unless its queue is at half by then."""
_WORDS = 200
"""Bytes of the text of a refusal."""


class Clients:
    def __init__(self, station: Station) -> None:
        self._station = station
        self._clients: dict[m.Client, Client] = {}
        self._by_owner: dict[bytes, Client] = {}
        self.subscriptions = 0
        """Of all clients."""
        self.kept = 0
        """Notifications kept for all of them."""

    def __len__(self) -> int:
        return len(self._clients)

    def __iter__(self) -> Iterator[Client]:
        return iter(self._clients.values())

    def get(self, id: m.Client) -> Client | None:
        return self._clients.get(id)

    def of_owner(self, owner: bytes) -> Client | None:
        return self._by_owner.get(owner)

    def named(self, name: str) -> Client:
        """By the name of its link."""
        return self._clients[bytes.fromhex(name)]

    def attached(self, id: m.Client) -> Client | None:
        client = self._clients.get(id)
        return client if client is not None and client.state is State.ATTACHED else None

    # ---- coming and going

    def add(self, id: m.Client, owner: bytes) -> Client:
        """It is away, so far."""
        settings = self._station.settings
        client = self._clients[id] = self._by_owner[owner] = Client(id, owner, settings.keep_messages)
        client.renewed_at = client.away_at = self._station.now
        return client

    def attach(self, client: Client, *, is_resumed: bool, old: str = "") -> None:
        """Its session is its own now: ATTACHED, then what was kept."""
        station = self._station
        station.cancel(Clock.AWAY, client.id)
        station.cancel(Clock.STRANGER, client.id)
        station.pressure.send(client.id, m.Attached(is_resumed))
        client.state = State.ATTACHED
        notes = self.take_kept(client)
        station.log.append(ClientAttached(client.name, f"{client.publisher:016x}", is_resumed, old, len(notes)))
        for note in notes:
            self.hand(client, note, "sent later")

    def lose(self, client: Client) -> None:
        """It is away from now on, and kept for a nanosecond at least: no deadline is due at once."""
        client.state, client.away_at = State.AWAY, self._station.now
        until = self._station.now + max(1, round(self._station.settings.keep_s * SECOND))
        self._station.set_timer(Clock.AWAY, client.id, until)

    def ring_away(self, id: m.Client) -> None:
        self.remove(self._clients[id], "away")

    def remove(self, client: Client, reason: str) -> None:
        """With all its rows."""
        lost = self.take_kept(client)
        for note in lost:
            self._station.trace("dropped", note, client.name, f"the client was removed: {reason}")
        self._station.counters["kept_lost"] += len(lost)
        self._station.log.append(ClientRemoved(client.name, reason, len(lost), at=self._station.now))
        self._station.tables.drop_link(client.link)
        self.forget(client)

    def forget(self, client: Client) -> None:
        """Its rows are elsewhere."""
        station = self._station
        for clock in (Clock.AWAY, Clock.REPEATS):
            station.cancel(clock, client.id)
        for table, number in list(client.validity):
            self.end_validity(client, table, number)
        self.subscriptions -= len(client.subscriptions)
        self.take_kept(client)
        del self._clients[client.id], self._by_owner[client.owner]

    # ---- sessions

    def up(self, id: m.Client) -> None:
        self._station.set_timer(Clock.STRANGER, id, self._station.now + ATTACH_WITHIN)

    def ring_stranger(self, id: m.Client) -> None:
        self._station.peers.close(id)

    def ring_full(self, id: m.Client) -> None:
        """All others wait for it. If it takes too little, it is away."""
        station = self._station
        if station.pressure.takes(id, LEAST_TAKEN):
            station.set_timer(Clock.FULL, id, station.now + PATIENCE)
        else:
            station.counters["too_slow"] += 1
            station.peers.give_up(id)

    def down(self, client: Client, event: Down, beyond: Iterable[Any]) -> None:
        """What it has not acknowledged is kept before all that comes."""
        sent = self._station.peers.decoded(event.undelivered)
        notes = [one for one in (*sent, *beyond) if isinstance(one, m.Notify)]
        for note in notes:
            self._station.trace("returned", note, client.name, str(event.reason))
        before = len(client.kept)
        dropped = client.kept.put_first(notes)
        self.kept += len(client.kept) - before
        self._drop(client, dropped)
        self._station.log.append(ClientLost(client.name, str(event.reason), len(notes)))

    # ---- notifications

    def hand(self, client: Client, note: m.Notify, step: str = "notified") -> None:
        """At once if it is attached, which is ``step``, later otherwise."""
        station = self._station
        if client.state is State.ATTACHED and station.pressure.send(client.id, note):
            station.counters["notified"] += 1
            station.trace(step, note, client.name)
            return
        if client.state is State.ATTACHED and station.peers.encoded(note) is None:
            station.counters["undeliverable"] += 1
            station.trace("dropped", note, client.name, "it is too large for a message")
            return  # otherwise its session has ended, which is about to be told
        station.counters["kept"] += 1
        station.trace("kept", note, client.name)
        before = len(client.kept)
        dropped = client.kept.add(note)
        if self.kept >= MOST_KEPT and len(client.kept) > before:
            dropped = (*dropped, client.kept.drop_oldest())
        self.kept += len(client.kept) - before
        self._drop(client, dropped)

    def take_kept(self, client: Client) -> Sequence[m.Notify]:
        notes = client.kept.take()
        self.kept -= len(notes)
        return notes

    def _drop(self, client: Client, dropped: Collection[m.Notify]) -> None:
        if dropped:
            self._station.counters["kept_dropped"] += len(dropped)
            for note in dropped:
                self._station.trace("dropped", note, client.name, "newer ones are kept")

    # ---- rows, their validity and answers

    def rows(self, client: Client) -> tuple[list[Key], list[Key]]:
        """Keys of its subscriptions and advertisements, in order."""
        several = (sorted(client.subscriptions), sorted(client.advertisements))
        return tuple([client.key(number) for number in one] for one in several)  # type: ignore[return-value]

    def begin_validity(self, client: Client, table: int, number: int, ttl_ms: int) -> None:
        """``ttl_ms`` 0: that of the settings, if there is one."""
        period = ttl_ms * 1_000_000 or round(self._station.settings.ttl_s * SECOND)
        if not period:
            self.end_validity(client, table, number)
            return
        client.validity[table, number] = period
        self._station.set_timer(Clock.VALIDITY, (client.id, table, number), self._station.now + period)

    def end_validity(self, client: Client, table: int, number: int) -> None:
        if client.validity.pop((table, number), None) is not None:
            self._station.cancel(Clock.VALIDITY, (client.id, table, number))

    def refuse(self, id: m.Client, req: int, code: m.Code, words: str) -> None:
        """``words`` of more than 200 bytes are cut."""
        self._station.counters[f"refused_{code.name.lower()}"] += 1
        text = words.encode()[:_WORDS].decode(errors="ignore")
        self._station.pressure.send(id, m.Refused(req, code, text))

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        timers = self._station.timers
        assert self._by_owner.keys() == {one.owner for one in self}
        assert self.subscriptions == sum(len(one.subscriptions) for one in self)
        assert self.kept == sum(len(one.kept) for one in self) <= MOST_KEPT
        for one in self:
            assert ((Clock.AWAY, one.id) in timers) == (one.state is State.AWAY), one.name
            assert one.state is not State.ATTACHED or not len(one.kept)
            assert (one.state is State.LEAVING) == (one.moves_to is not None)
            assert len(one.kept) <= self._station.settings.keep_messages
            for table, number in one.validity:
                rows = one.subscriptions if table == SUBSCRIPTIONS else one.advertisements
                assert number in rows and table in (SUBSCRIPTIONS, ADVERTISEMENTS)
                assert (Clock.VALIDITY, (one.id, table, number)) in timers
            if one.repeats is not None:
                one.repeats.check_invariants()
