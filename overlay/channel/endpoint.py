"""One end of a session without its state: who, where, both directions, and what shows the peer what has arrived."""

from __future__ import annotations

from typing import Final

from overlay.channel import wire
from overlay.channel.deadlines import Owner
from overlay.channel.events import Message
from overlay.channel.receiver import Receiver
from overlay.channel.sender import Sender
from overlay.channel.station import Station
from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND, NEVER

ACK_AFTER: Final = 20 * MILLISECOND
"""Longest wait of an acknowledgement for something to ride on."""


class Endpoint(Owner):
    __slots__ = (
        *("ack_at", "ack_due", "address", "first_room", "is_ready", "ours", "peer"),
        *("receiver", "sender", "station", "theirs", "unshown"),
    )

    def __init__(self, station: Station, peer: bytes, address: Address, ours: int) -> None:
        super().__init__()
        self.station, self.peer, self.address, self.ours = station, peer, address, ours
        self.theirs = 0
        """The peer's incarnation; 0 while it is not known."""
        self.sender: Sender | None = None
        self.receiver: Receiver | None = None
        self.first_room = 0
        """The peer's room before anything was sent."""
        self.ack_at = NEVER
        """When an acknowledgement goes alone."""
        self.ack_due = False
        """Whether it goes with the next drain."""
        self.unshown = 0
        """Datagrams of records that no acknowledgement has shown yet."""
        self.is_ready = False
        """Whether it is in the list of those that may have something to send."""

    @property
    def own_room(self) -> int:
        return self.station.limits.window if self.receiver is None else self.receiver.room

    def start_sending(self) -> Sender:
        self.sender = Sender(self.station.limits, self.first_room)
        return self.sender

    def start_receiving(self) -> Receiver:
        self.receiver = Receiver(self.station.limits.window)
        return self.receiver

    def make_ready(self) -> None:
        if not self.is_ready:
            self.is_ready = True
            self.station.ready.append(self)  # type: ignore[arg-type]  # every endpoint is a session

    def deliver(self, messages: list[bytes]) -> None:
        peer, events = self.peer, self.station.events
        for message in messages:
            events.append(Message(peer, message))

    def note_records(self, is_urgent: bool) -> None:
        """A datagram of records has arrived, which an acknowledgement is to show."""
        self.unshown += 1
        if is_urgent or self.unshown > 1:
            self.ack_due = True
            self.make_ready()
        else:
            self.ack_at = at = self.station.now + ACK_AFTER
            if at < self.queued_at:
                self.set_timer(at)

    def shown(self) -> None:
        """A datagram to the peer's address carries the acknowledgement."""
        self.unshown, self.ack_due, self.ack_at = 0, False, NEVER

    def datagram(self, kind: int, body: bytes = b"") -> bytes:
        """Without records, with acknowledgement."""
        receiver = self.receiver
        if receiver is None:
            return wire.head(kind, self.theirs, self.station.limits.window) + body
        ack, sack = receiver.ack & wire.LOW, receiver.sack
        return wire.HEAD.pack(wire.MAGIC, kind, receiver.room, self.theirs, 0, ack, sack) + body

    def send(self, kind: int, body: bytes = b"") -> None:
        """To the peer's address."""
        self.station.send(self.datagram(kind, body), self.address)
        self.shown()

    def set_timer(self, at: int) -> None:
        if at < self.queued_at:
            self.station.deadlines.set(self, at)
