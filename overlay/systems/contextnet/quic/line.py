"""A QUIC connection with our frames on its stream 0, alike at both ends.

::

    stranger ── HELLO, ACCEPT ──> open ── CLOSE ──> ending ── the peer ends it, or CLOSING ──> gone
       │                           │                  ^
       └───────── REFUSE ──────────┼──────────────────┘
                                   └── silent ──> broken: lingering at a gateway

QUIC repeats what is lost, but gives up only after ``idle_s``. A line whose peer shows no sign of life is broken as
early as Tether's: after all the time-outs of ``retries``. Signs of life are frames: aioquic tells of nothing less.
"""

from __future__ import annotations

from typing import Final

from aioquic.quic import events as quic_events
from aioquic.quic.connection import END_STATES, QuicConnection

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND, NEVER, SECOND
from overlay.systems.contextnet.quic import frames
from overlay.systems.contextnet.quic.board import Board
from overlay.systems.contextnet.quic.frames import Frame, Parser
from overlay.systems.contextnet.quic.terms import CLOSING, HANDSHAKE, due, seconds
from overlay.systems.contextnet.transport import packets
from overlay.systems.contextnet.transport.events import ENDINGS
from overlay.systems.contextnet.transport.layouts import BadPacket, Type, refuse
from overlay.systems.contextnet.transport.line import Line
from overlay.systems.contextnet.transport.packets import Close
from overlay.systems.contextnet.transport.receiver import WINDOW, Receiver
from overlay.systems.contextnet.transport.sender import Flight, Sender
from overlay.systems.contextnet.transport.settings import FIRST_RTO, MOST_WAIT, TransportSettings
from overlay.systems.contextnet.transport.station import Station

STREAM: Final = 0
_WANT_ANSWERS: Final = (Type.ACCEPT, Type.DATA, Type.PING)


def patience_of(settings: TransportSettings) -> int:
    """How long (ns) a peer may be silent that was asked: as long as Tether repeats before it gives up."""
    waits = [min(settings.rto_min_ms * MILLISECOND << i, MOST_WAIT) for i in range(settings.retries + 1)]
    return sum(waits)


class QuicLine(Line):
    __slots__ = (
        *("_ack_at", "_ask_at", "_ask_wait", "_board", "_broken_at", "_ends_at", "_first", "_held_until", "_hold"),
        *("_parser", "_quic_at", "_sent_at", "_shown", "_wake_at", "is_new", "nonce", "quic", "window"),
    )

    def __init__(
        self, station: Station, board: Board, quic: QuicConnection, address: Address, first: bytes = b""
    ) -> None:
        """Without a node: a stranger. ``first``: at a gateway, the id by which the node knows it at first."""
        super().__init__(station, b"", 0, address, Sender(), Receiver(is_durable=False))
        self.is_open = False
        self.quic: QuicConnection | None = quic
        """``None`` once it is gone."""
        self.nonce = b""
        """Of the HELLO."""
        self.is_new = True
        """No frame has come since the ACCEPT: a gateway sends no DATA."""
        self.window = station.settings.window
        self._board, self._parser, self._first = board, Parser(), first
        self._shown = -1
        """The acknowledgement that the peer was told last; -1: it is to be told at once."""
        self._ack_at = self._ask_at = self._broken_at = self._wake_at = self._quic_at = NEVER
        self._ask_wait = FIRST_RTO
        self._hold = self._held_until = 0
        """A busy peer gets nothing new until then."""
        self._sent_at = station.now
        self._ends_at = station.now + HANDSHAKE
        board.strangers[self] = None
        board.by_cid[quic.host_cid] = self
        if first:
            board.by_cid[first] = self

    def join(self, node: bytes, cid: int, sender: Sender, receiver: Receiver) -> None:
        """It is the connection of this node."""
        self.node, self.cid, self.sender, self.receiver = node, cid, sender, receiver
        self.is_open, self._ends_at = True, NEVER
        del self._board.strangers[self]

    @property
    def is_slow(self) -> bool:
        """The peer is asked for a sign of life, or said that it is busy."""
        return not self.is_open or self._ask_wait > FIRST_RTO or self.station.now < self._held_until

    # ---- what comes in

    def receive(self, data: bytes, source: Address) -> None:
        """A datagram with one of our ids."""
        quic, station = self.quic, self.station
        assert quic is not None
        if station.is_gateway and source != self.address and not station.settings.validation:
            refuse("path", f"a packet came from {source[0]}")
        try:
            quic.receive_datagram(data, source, seconds(station.now))
        except Exception:  # noqa: BLE001 (an error of the library ends this connection, and no other)
            station.counters["library"] += 1
            self._gone()
            return
        self._hear()
        station.make_ready(self)

    def _hear(self) -> None:
        """What aioquic tells."""
        while self.quic is not None and (event := self.quic.next_event()) is not None:
            if isinstance(event, quic_events.StreamDataReceived):
                if event.stream_id != STREAM or event.end_stream:
                    self.hang_up()
                else:
                    self._read(event.data)
            elif isinstance(event, quic_events.HandshakeCompleted):
                self._board.secured(self)
            elif isinstance(event, quic_events.ConnectionIdIssued):
                self._board.by_cid[event.connection_id] = self
            elif isinstance(event, quic_events.ConnectionIdRetired):
                self._board.by_cid.pop(event.connection_id, None)
        if self.quic is not None and self.quic._state in END_STATES:
            self._gone()  # not once it has drained: it answers nothing
        if self.is_open:
            self._look_at_path()

    def _look_at_path(self) -> None:
        assert self.quic is not None
        path = self.quic._network_paths[0]  # get_peer_address() has it before it is validated, too
        if path.is_validated and path.addr != self.address:
            self.address = path.addr
            self.station.moved(self)

    def _read(self, data: bytes) -> None:
        try:
            for frame in self._parser.feed(data):
                if self.quic is None:
                    return
                self._read_frame(frame)
        except BadPacket as error:
            self.station.counters[error.reason] += 1
            if self.is_open:
                self.close(Close.PROTOCOL)
            else:
                self.hang_up()

    def _read_frame(self, frame: Frame) -> None:
        if not self.is_open:
            if self in self._board.strangers:
                self._board.greeted(self, frame)
            return
        self._broken_at = NEVER
        if self._ask_at != NEVER:
            self._ask_at = self.station.now + self._ask_wait if self.sender.flights else NEVER
        if self.is_new:
            self.is_new = False
            self.station.confirmed(self)
        kind = frame.type
        if kind is Type.DATA:
            self._take(packets.read_data(frame.body))
        elif kind is Type.ACK:
            self._acknowledged(*frames.read_ack(frame.body))
        elif kind is Type.PING:
            self._write(Type.PONG, packets.check_size(frame.body, 8))
        elif kind is Type.PONG:
            self.station.answered(self, packets.read_u64(frame.body))
        elif kind is Type.CLOSE:
            self.station.closed(self, ENDINGS[packets.read_close(frame.body)])
        else:
            refuse("type", f"{kind.name} is not for an open connection")

    def _take(self, data: packets.Data) -> None:
        receiver = self.receiver
        found, _ = receiver.take(data)
        if receiver.is_broken or receiver.sack >> (receiver.expected - receiver.ack):
            refuse("order", "parts came that make no message, or not in order")
        for whole in found:
            if self.is_open:  # the one before may have been one too many
                self.station.arrived(self, whole)
        if self.station.is_busy or self.is_restrained:
            self._shown = -1  # it is told

    def _acknowledged(self, low: int, is_busy: bool) -> None:
        station, sender = self.station, self.sender
        ack = sender.nearest(low)
        if ack is None:
            refuse("ack", f"{low} acknowledges what was not sent")
        if not is_busy:
            self._hold = self._held_until = 0
        elif station.now >= self._held_until:
            self._hold = min(2 * self._hold or station.settings.rto_min_ms * MILLISECOND, MOST_WAIT)
            self._held_until = station.now + self._hold
        if ack > sender.acked:
            self._ask_wait = FIRST_RTO
            tokens, _, _ = sender.acknowledge(ack, 0)
            if not sender.flights:
                self._ask_at = NEVER
            if tokens:
                station.acknowledged(self, tokens)

    # ---- what goes out

    def flush(self) -> None:
        if self.quic is None:
            return
        if self.is_open and not (self.is_new and self.station.is_gateway):
            is_sent = self._send_data()
            if self.receiver.ack != self._shown:
                self._may_show(is_sent)
        self._transmit()

    def _transmit(self) -> None:
        assert self.quic is not None
        self.station.out += self.quic.datagrams_to_send(seconds(self.station.now))
        if self.quic._state in END_STATES:  # an error of the peer
            self._gone()
        self._watch()

    def _send_data(self) -> bool:
        """Returns whether there was any."""
        sender, now, is_sent = self.sender, self.station.now, False
        while (lost := sender.lost()) is not None:  # on the connection before
            self.station.counters["repeated"] += 1
            self._send(*lost)
            is_sent = True
        while sender.queue and len(sender.flights) < self.window and now >= self._held_until:
            if sender.queue[0].until <= now and (expired := sender.take_expired(now)):
                self.station.expired(self, expired)
                continue
            self.station.counters["data"] += 1
            self._send(*sender.fresh())
            is_sent = True
        self._wake_at = self._held_until if sender.queue and now < self._held_until else NEVER
        return is_sent

    def _send(self, sequence: int, flight: Flight) -> None:
        self.sender.transmitted(flight)
        self._write(Type.DATA, flight.body(sequence))

    def _may_show(self, is_sent: bool) -> None:
        """At once with DATA, or if half a window waits for it; otherwise DATA may come within ``ack_delay_ms``."""
        delay, now = self.station.settings.ack_delay_ms * MILLISECOND, self.station.now
        if is_sent or self._shown < 0 or self.receiver.ack - self._shown >= self.window // 2 or not delay:
            self._show()
        elif self._ack_at == NEVER:
            self._ack_at = now + delay
        elif now >= self._ack_at:
            self._show()

    def _show(self) -> None:
        self._shown, self._ack_at = self.receiver.ack, NEVER
        self._write(Type.ACK, frames.write_ack(self._shown, self.station.is_busy or self.is_restrained))

    def _write(self, kind: Type, body: bytes) -> None:
        assert self.quic is not None
        now = self._sent_at = self.station.now
        self.quic.send_stream_data(STREAM, frames.write(kind, body))
        if kind in _WANT_ANSWERS:
            if self._broken_at == NEVER:
                self._broken_at = now + patience_of(self.station.settings)
            if self._ask_at == NEVER and kind is Type.DATA:
                self._ask_at = now + self._ask_wait

    def greet(self, kind: Type, body: bytes) -> None:
        """HELLO, ACCEPT or REFUSE; the last one ends the connection."""
        self._write(kind, body)
        if kind is Type.REFUSE:
            self._board.strangers.pop(self, None)
            self._ends_at = self.station.now + CLOSING
        self.station.make_ready(self)

    def settled(self) -> None:
        if self.is_open:
            self.station.make_ready(self)

    def confirm(self) -> None:
        self.is_new = False
        self._show()
        self.station.make_ready(self)

    def ping(self, value: int) -> None:
        self._write(Type.PING, packets.write_u64(value))
        self._transmit()

    def close(self, reason: Close) -> None:
        self._write(Type.CLOSE, bytes([reason]))
        self._ends_at = self.station.now + CLOSING
        self.station.closed(self, ENDINGS[reason])

    # ---- its end

    def stop(self) -> None:
        was_open, self.is_open = self.is_open, False
        if self.quic is None:
            self._ends_at = NEVER
            self.station.deadlines.cancel(self)
        elif was_open and self._ends_at != NEVER:  # the CLOSE is to arrive
            self._transmit()
        else:
            self.hang_up()

    def linger(self, until: int) -> None:
        self.stop()
        self._ends_at = until
        self.station.deadlines.set(self, until)

    def hang_up(self) -> None:
        """End the connection of QUIC at once."""
        if self.quic is not None:
            self.quic.close()
            self.station.out += self.quic.datagrams_to_send(seconds(self.station.now))
            self._gone()

    def _gone(self) -> None:
        """There is no connection of QUIC any more."""
        board, quic = self._board, self.quic
        assert quic is not None
        self.quic, self._quic_at = None, NEVER
        for cid in (*(one.cid for one in quic._host_cids), self._first):
            board.by_cid.pop(cid, None)
        self.station.deadlines.cancel(self)
        if self.is_open:
            self.station.broken(self)
        else:
            self._ends_at = NEVER
            if self in board.strangers:
                del board.strangers[self]
                board.lost(self)

    # ---- timers

    def _watch(self) -> None:
        if self.quic is not None:
            self._quic_at = due(self.quic.get_timer(), self.station.now, NEVER)
            self.station.deadlines.set(self, self.earliest())

    def earliest(self) -> int:
        if not self.is_open:
            return min(self._quic_at, self._ends_at)
        first = min(self._quic_at, self._ack_at, self._ask_at, self._broken_at, self._wake_at)
        return first if self.station.is_gateway else min(first, self._sent_at + self._keepalive)

    @property
    def _keepalive(self) -> int:
        return self.station.settings.keepalive_s * SECOND

    def ring(self, now: int) -> None:
        self.station.now = now
        if self.quic is None:
            self.station.broken(self)  # it has lingered
            return
        if not self.is_open and now >= self._ends_at:
            self.hang_up()
            return
        if now >= self._quic_at:
            self.quic.handle_timer(seconds(now))
            self._hear()
        if self.is_open:
            self._look_at_silence(now)
        self.flush()

    def _look_at_silence(self, now: int) -> None:
        if now >= self._broken_at:
            self.station.broken(self)
            return
        if now >= self._ask_at:
            is_first = self._ask_wait == FIRST_RTO
            self._ask_wait = min(2 * self._ask_wait, MOST_WAIT)
            self._ask_at = now + self._ask_wait
            self._write(Type.PING, packets.write_u64(0))
            if is_first:
                self.station.repeating(self)
        elif not self.station.is_gateway and now >= self._sent_at + self._keepalive:
            self._write(Type.PING, packets.write_u64(0))

    def check_invariants(self) -> None:
        assert not self.is_open or self.quic is not None
        assert not self.is_open or self.node
        self.sender.check_invariants(WINDOW)
        self.receiver.check_invariants()
