"""The object of a node: sessions with its peers by id, and messages outside sessions. Contract: section 5.

Rules: ``now`` is in integer monotonic nanoseconds. A driver calls ``receive`` for each datagram, ``handle_timer`` when
``next_timer() <= now``, and then takes ``datagrams_to_send()`` and ``events()``. What is sent before the same
``datagrams_to_send`` or ``next_timer`` is packed together. No bytes of a peer raise an exception.
"""

from __future__ import annotations

from typing import Final

from overlay.channel import fast, wire
from overlay.channel.arrivals import accept, read
from overlay.channel.asking import CLOSING, LEAVING, MOVED, OPENING, UP
from overlay.channel.events import Event, Reason
from overlay.channel.handshake import take_first, take_hello, take_reset, take_welcome
from overlay.channel.packing import pack
from overlay.channel.session import Session
from overlay.channel.settings import MOST_ID, MOST_MESSAGE, MOST_SESSIONS, ChannelSettings
from overlay.channel.station import Station
from overlay.core.addresses import Address
from overlay.core.chance import Chance

_SHORTEST_KEY, _LONGEST_KEY = 1, 32


class Channel:
    """Reliable, ordered messages between peers over datagrams."""

    __slots__ = ("_by_ours", "_deadlines", "_heap", "_key", "_seal", "_sessions", "_station", "id", "settings")

    def __init__(self, id: bytes, settings: ChannelSettings, chance: Chance, key: bytes | None = None) -> None:
        """``id``: 1 to 64 bytes. ``key``: up to 32 bytes; all peers have the same. Raises ``ValueError``."""
        if not 1 <= len(id) <= MOST_ID:
            raise ValueError(f"an id has 1 to {MOST_ID} bytes, not {len(id)}")
        if key is not None and not _SHORTEST_KEY <= len(key) <= _LONGEST_KEY:
            raise ValueError(f"a key has {_SHORTEST_KEY} to {_LONGEST_KEY} bytes, not {len(key)}")
        self.id, self.settings = id, settings
        self._station = Station(id, settings, chance, key)
        self._sessions = self._station.sessions
        self._by_ours = self._station.by_ours
        self._deadlines = self._station.deadlines
        self._heap = self._deadlines.heap
        self._seal = wire.SEAL_BYTES if key else 0
        self._key = key

    @property
    def counters(self) -> dict[str, int]:
        """``dropped_REASON`` and ``refused_answers``, since the beginning."""
        return self._station.counters

    # ---- sessions

    def open(self, peer: bytes, address: Address, now: int, keep: bool = False) -> bool:
        """Open a session; one that is up or being opened only gets ``keep``. Raises ``ValueError`` for the own id.

        Returns ``False`` if the last session with this peer is still being closed, or if there are too many.
        """
        if not 1 <= len(peer) <= MOST_ID or peer == self.id:
            raise ValueError(f"{peer!r} is not the id of a peer")
        self._advance(now)
        session = self._sessions.get(peer)
        if session is not None:
            if session.is_closing:
                return False
            session.keep = keep
            return True
        if len(self._sessions) >= MOST_SESSIONS:
            return False
        station = self._station
        known = station.half_open.of(peer)
        session = Session(station, peer, address, known[-1].ours if known else station.draw(), keep=keep)
        session.told = known[-1].theirs if known else 0
        self._sessions[peer] = self._by_ours[session.ours] = session
        session.begin()
        return True

    def send(self, peer: bytes, message: bytes, now: int, drop: int | None = None) -> bool:
        """Send a message in order; it waits while the session is being opened. ``drop``: 0 low, 1 normal, 2 high.

        Returns ``False`` without a session, while it is being closed, or if the message has not 1 to 65,536 bytes.
        """
        if self._heap and self._heap[0][0] <= now:
            self.handle_timer(now)  # which may end the session
        session = self._sessions.get(peer)
        if session is None or not 0 < len(message) <= MOST_MESSAGE or session.is_closing:
            return False
        station = self._station
        station.now = now
        sender = session.sender or session.start_sending()
        if sender.outbox.push(message, drop):
            session.break_off(Reason.OVERFLOW)
        elif not session.is_ready:
            session.is_ready = True
            station.ready.append(session)
        return True

    def send_loose(self, address: Address, message: bytes, frame: int = 0) -> bool:
        """Send one message outside sessions. ``False`` if it does not fit into one datagram, or is empty. ``frame``:
        the bytes of a datagram on the way to this address, if more than those of the settings."""
        data = wire.loose(self.id, message)
        if not message or len(data) + self._seal > max(self.settings.frame, frame):
            return False
        self._station.send(data, address)
        return True

    def pause(self, peer: bytes) -> None:
        """Deliver nothing more of this peer, which is to stop sending (back-pressure)."""
        session = self._sessions.get(peer)
        if session is not None:
            (session.receiver or session.start_receiving()).is_paused = True

    def resume(self, peer: bytes, now: int) -> None:
        """End a pause: deliver what came meanwhile."""
        self._advance(now)
        session = self._sessions.get(peer)
        if session is not None and session.receiver is not None and session.receiver.is_paused:
            session.resume()

    def give_up(self, peer: bytes, now: int) -> None:
        """End its session at once, as at twice the bound of its outbox: it takes too little."""
        self._advance(now)
        session = self._sessions.get(peer)
        if session is not None:
            session.break_off(Reason.OVERFLOW)

    def is_full(self, peer: bytes) -> bool:
        """Whether the outbox has reached its bound: from now on messages are dropped."""
        session = self._sessions.get(peer)
        return session is not None and session.sender is not None and session.sender.outbox.is_full

    def address(self, peer: bytes) -> Address | None:
        """Where messages for this peer go; ``None`` without a session."""
        session = self._sessions.get(peer)
        return None if session is None else session.address

    def addresses(self) -> frozenset[Address]:
        """Where the peers of all sessions are."""
        return frozenset([session.address for session in self._sessions.values()])

    def queued(self, peer: bytes) -> int:
        """Messages for this peer that are not acknowledged."""
        session = self._sessions.get(peer)
        return 0 if session is None or session.sender is None else session.sender.outbox.messages

    def moved(self, now: int) -> None:
        """The own address has changed: let every peer see it."""
        self._advance(now)
        for session in list(self._sessions.values()):
            if UP <= session.state <= CLOSING:
                session.probe(MOVED)

    def readdress(self, peer: bytes, address: Address, now: int) -> None:
        """The peer is said to be at this address: look whether it is."""
        self._advance(now)
        session = self._sessions.get(peer)
        if session is None or session.state == LEAVING:
            return
        if session.state == OPENING:
            session.address = address
            session.begin()
        elif address == session.address:
            session.probe(MOVED)
        else:
            session.candidates().add(address, is_ordered=True)

    def close(self, peer: bytes, now: int) -> None:
        """End a session once all is acknowledged, after at most 1 s."""
        self._advance(now)
        session = self._sessions.get(peer)
        if session is not None:
            session.close()

    # ---- the driver's side

    def receive(self, data: bytes, source: Address, now: int) -> None:
        """Process one datagram. Timers that are due by ``now`` come first."""
        station, end = self._station, len(data) - self._seal
        heap = self._heap
        if heap and heap[0][0] <= now:
            self.handle_timer(now)
        station.now = now
        if end < wire.HEAD_BYTES:
            station.drop("short")
            return
        if self._key is not None and not wire.is_sealed(data, self._key):
            station.drop("seal")
            return
        head = wire.HEAD.unpack_from(data)
        kind = head[1]
        if head[0] != wire.MAGIC:
            station.drop("magic")
        elif kind in _OF_SESSIONS:
            session = self._by_ours.get(head[3])
            if session is None or session.state == OPENING:
                take_first(station, head, data, end, source)
                return
            if kind <= wire.ACK and fast.take(session, head, data, end, source):
                return
            reading = read(session, head, data, end)
            if isinstance(reading, str):
                station.drop(reading)
            else:
                accept(session, head, reading, data, source)
        elif kind == wire.HELLO:
            take_hello(station, head, data, end, source)
        elif kind == wire.WELCOME:
            take_welcome(station, head, data, end, source)
        elif kind == wire.RESET:
            take_reset(station, data, end)
        elif kind == wire.LOOSE:
            station.take_loose(data, end, source)
        else:
            station.drop("kind")

    def handle_timer(self, now: int) -> None:
        self._station.now = now
        self._deadlines.ring(now)

    def next_timer(self) -> int | None:
        """The next deadline (ns). What is ready is packed first, since sending sets deadlines."""
        if self._station.ready:
            self._pack()
        return self._deadlines.next()

    def datagrams_to_send(self) -> list[tuple[bytes, Address]]:
        station = self._station
        if station.ready:
            self._pack()
        out, station.out = station.out, []
        return out

    def events(self) -> list[Event]:
        station = self._station
        events, station.events = station.events, []
        return events

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the state contradicts itself. Tests call it after each step."""
        self._station.check_invariants()

    def _advance(self, now: int) -> None:
        if self._heap and self._heap[0][0] <= now:
            self.handle_timer(now)
        self._station.now = now

    def _pack(self) -> None:
        station = self._station
        while station.ready:
            ready, station.ready = station.ready, []
            pack(ready)


_OF_SESSIONS: Final = frozenset({wire.DATA, wire.ACK, wire.BYE, wire.PROBE, wire.PROBED})
