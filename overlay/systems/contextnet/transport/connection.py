"""A connection with keys: what both ends do alike. ``node`` and ``gateway`` make and end it.

Packets are checked in the order of the contract (tag, number, path, acknowledgement, body) before anything changes.
"""

from __future__ import annotations

from typing import Final

from overlay.core.addresses import Address
from overlay.core.node import NEVER, SECOND
from overlay.systems.contextnet.transport import packets
from overlay.systems.contextnet.transport.congestion import Congestion
from overlay.systems.contextnet.transport.events import ENDINGS
from overlay.systems.contextnet.transport.layouts import BadPacket, Type
from overlay.systems.contextnet.transport.line import Line
from overlay.systems.contextnet.transport.packets import LOW, Body, Close, Data, Flags, Packet
from overlay.systems.contextnet.transport.path import Path, Validations
from overlay.systems.contextnet.transport.receiver import Receiver
from overlay.systems.contextnet.transport.replay import Replay
from overlay.systems.contextnet.transport.round_trip import RoundTrip
from overlay.systems.contextnet.transport.sender import Flight, Sender
from overlay.systems.contextnet.transport.settings import MOST_WAIT
from overlay.systems.contextnet.transport.station import Station
from overlay.systems.contextnet.transport.terms import Terms

MARGIN: Final = 256
"""Packet numbers kept for what is sent between two looks at their limit."""
_TIMES: Final = 64
"""Packets of which the time of sending is remembered for the echo."""


class Connection(Line):
    __slots__ = (
        *(
            "_ack_at",
            "_ack_due",
            "_cannot_wait",
            "_echo",
            "_hold",
            "_held_until",
            "_peer_busy",
            "_rto_at",
            "_times",
            "_wake_at",
        ),
        *(
            "_validations",
            "confirm_at",
            "confirm_wait",
            "congestion",
            "ends_at",
            "heard_at",
            "is_new",
        ),
        *("keepalive", "key_in", "key_out", "number", "path", "repeated", "replay", "sent_at", "terms", "trip"),
    )

    def __init__(
        self,
        station: Station,
        node: bytes,
        cid: int,
        address: Address,
        keys: tuple[bytes, bytes],
        terms: Terms,
        sender: Sender,
        receiver: Receiver,
    ) -> None:
        """``keys``: for what we send, and for what we receive."""
        super().__init__(station, node, cid, address, sender, receiver)
        self.terms = terms
        self.key_out, self.key_in = keys
        self.trip = RoundTrip(terms.rto_min, terms.ack_delay)
        self.congestion = Congestion(terms.window)
        self.replay = Replay()
        self.path: Path | None = None
        self._validations: Validations | None = None
        self.number = 0
        """Of the next packet."""
        self.repeated = 0
        """The sequence up to which all must be acknowledged before it no longer counts as repeating."""
        self.is_new = True
        """No valid packet has come yet: a gateway sends no DATA, a node repeats its first ACK."""
        self.heard_at = self.sent_at = station.now
        self.keepalive = NEVER if station.is_gateway else station.settings.keepalive_s * SECOND
        self.ends_at = NEVER
        """While it lingers."""
        self.confirm_at, self.confirm_wait = NEVER, SECOND
        self._rto_at = self._ack_at = NEVER
        self._ack_due = False
        self._cannot_wait = False
        """Whether our next packet is to have ACK_NOW."""
        self._echo: tuple[int, int] | None = None
        """The largest number with DATA or PING, and when it came."""
        self._times: dict[int, int] | None = None
        """When our packets with DATA or PING were sent, by number; ``None``: none waits for its echo."""
        self._peer_busy = False
        self._hold = self._held_until = 0
        """A busy peer gets nothing new until then."""
        self._wake_at = NEVER
        """``_held_until`` while something waits for it."""
        station.budget.opened()
        self.watch()

    @property
    def is_slow(self) -> bool:
        """The peer is silent, repeats, or said that it is busy."""
        return not self.is_open or self.sender.acked < self.repeated or self.station.now < self._held_until

    def watch(self) -> None:
        self.station.deadlines.set(self, self.earliest())

    def stop(self) -> None:
        if self.is_open:
            self.is_open = False
            self.station.budget.closed()
        self.path, self.ends_at = None, NEVER
        self.station.deadlines.cancel(self)

    def linger(self, until: int) -> None:
        self.stop()
        self.ends_at = until
        self.watch()

    # ---- what comes in

    def receive(self, data: bytes, source: Address) -> None:
        """A datagram with our cid. Raises ``BadPacket``, with nothing changed but the path's credit."""
        packet = packets.read_packet(data, self.key_in, self.terms.tag_bytes)
        if not self.replay.is_new(packet.number):
            raise BadPacket("replay", f"packet {packet.number} came before, or is too old")
        if not self._is_path_good(packet, source, len(data)):
            raise BadPacket("path", f"a packet came from {source[0]}")
        ack = self.sender.nearest(packet.ack)
        if ack is None:
            raise BadPacket("ack", f"{packet.ack} acknowledges what was not sent")
        body = packets.read_body(packet)
        now = self.station.now
        self.heard_at = now
        if self.replay.note(packet.number):
            self._note_busy(packet.flags)
        if self.is_new:
            self.is_new = False
            self.confirm_at = NEVER
            self.station.confirmed(self)
        if packet.echo is not None:
            self._sample(*packet.echo)
        self._acknowledge(ack, packet.sack if ack & LOW == packet.ack else 0)
        self._ack_due = self._ack_due or bool(packet.flags & Flags.ACK_NOW)
        self._handle(packet, body, source)
        if self.is_open:
            self.station.make_ready(self)

    def _handle(self, packet: Packet, body: Body, source: Address) -> None:
        kind = packet.type
        if kind in (Type.DATA, Type.PING) and (self._echo is None or packet.number > self._echo[0]):
            self._echo = packet.number, self.station.now
        if isinstance(body, Data):
            self._take(body)
        elif kind is Type.PING:
            self._send(Type.PONG, packet.body)
        elif kind is Type.PONG:
            assert isinstance(body, int)
            self.station.answered(self, body)
        elif kind is Type.PATH_CHALLENGE:
            # To an address that is not proven, an answer goes only if no path is asked for.
            if source == self.address or packet.flags & Flags.PROBE:
                self._send(Type.PATH_RESPONSE, packet.body, source)
        elif kind is Type.PATH_RESPONSE:
            if self.path is not None and source == self.path.address and body == self.path.nonce:
                self._move()
        elif isinstance(body, Close):
            self.station.closed(self, ENDINGS[body])

    def _take(self, data: Data) -> None:
        receiver = self.receiver
        before = receiver.shown
        found, is_news = receiver.take(data)
        if receiver.shown == before:  # it came before, or is beyond the window
            self.station.counters["again"] += 1
        if receiver.is_broken:
            self.close(Close.PROTOCOL)
            return
        self._must_show(is_news)
        for whole in found:
            if self.is_open:  # the one before may have been one too many
                self.station.arrived(self, whole)

    def _must_show(self, at_once: bool) -> None:
        if at_once or self.receiver.shown >= 2 or not self.terms.ack_delay:
            self._ack_due = True
        elif self._ack_at == NEVER:
            self._ack_at = self.station.now + self.terms.ack_delay

    def settled(self) -> None:
        if self.is_open:
            self._must_show(False)
            self.station.make_ready(self)

    def _note_busy(self, flags: int) -> None:
        now = self.station.now
        self._peer_busy = bool(flags & Flags.BUSY)
        if not self._peer_busy:
            self._hold = self._held_until = 0
        elif now >= self._held_until:
            self._hold = min(2 * self._hold or self.trip.rto, max(MOST_WAIT, self.trip.rto))
            self._held_until = now + self._hold

    def _sample(self, number: int, held_us: int) -> None:
        times = self._times
        if times is not None and (at := times.get(number)) is not None:
            took = self.station.now - at - held_us * 1_000
            if took >= 0:
                self.trip.sample(took)
            self._times = {other: when for other, when in times.items() if other > number} or None

    def _acknowledge(self, ack: int, sack: int) -> None:
        sender = self.sender
        if not sender.flights:
            return
        before = sender.acked
        tokens, news, is_reduced = sender.acknowledge(ack, sack)
        if news:
            self.congestion.arrived(news)
        if is_reduced:
            self.congestion.lost()
        if news or sender.acked > before:
            self.trip.progress()
            self._rto_at = self.station.now + self.trip.wait if sender.flights else NEVER
        if tokens:
            self.station.acknowledged(self, tokens)

    # ---- the path

    def _is_path_good(self, packet: Packet, source: Address, size: int) -> bool:
        if source == self.address or packet.flags & Flags.PROBE:
            return True
        station, path = self.station, self.path
        if not station.is_gateway or not station.settings.validation:
            return False
        if path is not None:  # another new address waits until this one is decided
            if source == path.address:
                path.came(size)
            return True
        if packet.number <= self.replay.largest:
            return True
        if self._validations is None:
            self._validations = Validations()
        if not self._validations.may_begin(station.now):
            return False
        length = packets.HEAD.size + 8 + self.terms.tag_bytes
        self.path = Path(source, station.draw(8), length, station.now)
        self.path.came(size)
        return True

    def _challenge(self, now: int) -> None:
        path = self.path
        if path is not None:
            if now >= path.ends_at:
                self.path = None
            elif path.is_due(now):
                self._send(Type.PATH_CHALLENGE, path.nonce, path.address)

    def _move(self) -> None:
        assert self.path is not None
        before, self.address, self.path = self.address, self.path.address, None
        if before[0] != self.address[0]:
            self.trip.reset()
            self.congestion.reset()
            self._times = None
        self.trip.progress()
        self.sender.all_due()
        self._rto_at = NEVER
        while (lost := self.sender.lost()) is not None:  # without tokens
            self._transmit(*lost)
        self.station.moved(self)

    # ---- what goes out

    def flush(self) -> None:
        if not self.is_open:
            return
        if self.number >= packets.NUMBERS - MARGIN:
            self.station.broken(self)
            return
        self._challenge(self.station.now)
        if not (self.is_new and self.station.is_gateway):
            self._send_data()
        if self._ack_due:
            self._send(Type.ACK)
        self.watch()

    def _send_data(self) -> None:
        sender, congestion, budget = self.sender, self.congestion, self.station.budget
        while sender.under_way < congestion.window and (lost := sender.lost()) is not None and budget.take():
            self._transmit(*lost)
        while (
            sender.queue
            and len(sender.flights) < self.terms.window
            and sender.under_way < congestion.window
            and self.station.now >= self._held_until
        ):
            if sender.queue[0].until <= self.station.now and (expired := sender.take_expired(self.station.now)):
                self.station.expired(self, expired)
                continue
            budget.gain()
            self._transmit(*sender.fresh())
        if sender.flights and self._rto_at == NEVER:
            self._rto_at = self.station.now + self.trip.wait
        self._wake_at = self._held_until if sender.queue and self.station.now < self._held_until else NEVER

    def _transmit(self, sequence: int, flight: Flight) -> None:
        if flight.is_lost:
            self._note_repeat()
        else:
            self.station.counters["data"] += 1
        self.sender.transmitted(flight)
        self._note_time()
        self._send(Type.DATA, flight.body(sequence))
        if self._rto_at == NEVER:
            self._rto_at = self.station.now + self.trip.wait

    def _note_repeat(self) -> None:
        sender = self.sender
        self.station.counters["repeated"] += 1
        is_first = sender.acked >= self.repeated
        self.repeated = sender.next
        if is_first:
            self.station.repeating(self)

    def _note_time(self) -> None:
        if self._times is None:
            self._times = {}
        self._times[self.number] = self.station.now
        if len(self._times) > _TIMES:
            del self._times[next(iter(self._times))]

    def _send(self, kind: Type, body: bytes = b"", to: Address | None = None) -> None:
        station, receiver = self.station, self.receiver
        now, echo = station.now, None
        flags = (Flags.BUSY if station.is_busy or self.is_restrained else 0) | (
            Flags.ACK_NOW if self._cannot_wait else 0
        )
        if to is None or to == self.address:
            if self._echo is not None:
                number, came = self._echo
                echo = number, min((now - came) // 1_000, LOW)
                self._echo = None
            self._ack_due, self._ack_at, receiver.shown = False, NEVER, 0
            self.sent_at = now
        packet = Packet(kind, flags, self.cid, self.number, receiver.ack & LOW, receiver.sack, echo, body)
        self.number += 1
        data = packets.write_packet(packet, self.key_out, self.terms.tag_bytes)
        station.out.append((data, to or self.address))

    def ask(self) -> None:
        """Send an ACK that is to be answered at once."""
        self._cannot_wait = True
        self._send(Type.ACK)
        self._cannot_wait = False

    def ping(self, value: int) -> None:
        self._note_time()
        self._send(Type.PING, packets.write_u64(value))

    def confirm(self) -> None:
        self.ask()
        self.confirm_at = self.station.now + self.confirm_wait
        self.confirm_wait = min(2 * self.confirm_wait, MOST_WAIT)
        self.station.make_ready(self)

    def close(self, reason: Close) -> None:
        self._send(Type.CLOSE, bytes([reason]))
        self.station.closed(self, ENDINGS[reason])

    # ---- timers

    def earliest(self) -> int:
        if not self.is_open:
            return self.ends_at
        due = min(self._rto_at, self._ack_at, self.confirm_at, self.heard_at + self.terms.idle)
        due = min(due, self._wake_at, self.sent_at + self.keepalive)
        return due if self.path is None else min(due, self.path.earliest())

    def ring(self, now: int) -> None:
        self.station.now = now
        if not self.is_open or now >= self.heard_at + self.terms.idle:
            self.station.broken(self)
            return
        if now >= self._rto_at and not self._time_out():
            return
        if now >= self.confirm_at:
            self.confirm()
        self._ack_due = self._ack_due or now >= self._ack_at
        if now >= self.sent_at + self.keepalive:
            self.ping(0)
        self.flush()

    def _time_out(self) -> bool:
        """Returns whether the connection goes on."""
        oldest = self.sender.oldest()
        if oldest is None:
            # All has arrived, and is not durable at the peer: its acknowledgement may be lost.
            self.ask()
        else:
            sequence, flight = oldest
            if not self._peer_busy:
                if flight.repeats >= self.station.settings.retries:
                    self.station.broken(self)
                    return False
                flight.repeats += 1
            self.station.budget.take()
            self.congestion.timed_out()
            self.sender.timed_out()
            self._transmit(sequence, flight)
        self.trip.back_off()
        self._rto_at = self.station.now + self.trip.wait
        return True

    def check_invariants(self) -> None:
        assert not self.is_open or self.number <= packets.NUMBERS
        assert 1 <= self.congestion.window <= self.terms.window
        assert len(self._times or ()) <= _TIMES
        assert self.path is None or self.path.credit >= 0
        assert not self.is_open or not self.sender.flights or self.is_new or self._rto_at < NEVER
        self.sender.check_invariants(self.terms.window)
        self.receiver.check_invariants()
