"""What a gateway's end does over either transport: messages to nodes, epochs, lingering, resumption.

::

    absent ── HELLO ──> open ── broken ──> lingering ── linger_s ──> absent
                         ^                     │
                         └─ HELLO that resumes ┘
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from overlay.channel.deadlines import Deadlines
from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.core.node import NEVER, SECOND
from overlay.systems.contextnet.transport.admission import Admission
from overlay.systems.contextnet.transport.events import (
    ENDINGS,
    Acknowledged,
    Answered,
    Arrived,
    Ended,
    Ending,
    Expired,
    Lingering,
    Moved,
    Opened,
    Receipt,
    Repeating,
)
from overlay.systems.contextnet.transport.gate import Gate, Secret
from overlay.systems.contextnet.transport.layouts import BadPacket
from overlay.systems.contextnet.transport.line import Line
from overlay.systems.contextnet.transport.members import Members
from overlay.systems.contextnet.transport.packets import Close, Kind
from overlay.systems.contextnet.transport.receiver import Whole
from overlay.systems.contextnet.transport.sender import Outgoing
from overlay.systems.contextnet.transport.settings import (
    BYTES_PER_S,
    MESSAGES_PER_S,
    MOST_AHEAD,
    TOO_FAR_AHEAD,
    TransportSettings,
)
from overlay.systems.contextnet.transport.station import Station

_NEED_RECEIPTS: Final = (Kind.MESSAGE, Kind.CONTEXT)


class Serving(Station):
    is_gateway = True

    def __init__(
        self,
        number: int,
        secret_of: Callable[[bytes], Secret | None],
        settings: TransportSettings,
        chance: Chance,
        is_durable: bool,
        admission: Admission | None,
        gateways: tuple[Address, ...],
        wall_offset: int,
        deadlines: Deadlines | None,
        handshakes_per_s: int,
    ) -> None:
        super().__init__(settings, chance, deadlines, None)
        self._is_durable = is_durable
        self._table = Members(number)
        self.members = self._table.by_node
        self.gate = Gate(
            settings, chance, self._table, secret_of, admission, is_durable, handshakes_per_s, self._replace
        )
        self.gate.gateways, self.gate.wall_offset = gateways, wall_offset

    # ---- for the user

    def send(self, node: bytes, kind: Kind, data: bytes, token: object, now: int, until: int = NEVER) -> bool:
        """Returns False if the node has no connection, or too much waits for it. What has to wait until ``until`` (ns)
        is dropped when its turn comes (``Expired``)."""
        self.now = now
        member = self.members.get(node)
        if member is None or len(member.sender.queue) >= self.settings.queue_per_connection:
            return False
        member.sender.queue.append(Outgoing(kind, data, token, until))
        if member.connection is not None:
            member.connection.flush()
        return True

    def settle(self, receipt: Receipt, now: int) -> None:
        """The record of a message is durable."""
        self.now = now
        member = self.members.get(receipt.node)
        if member is not None and member.stream == receipt.stream and member.receiver.settle(receipt.sequence):
            if member.connection is not None:
                member.connection.settled()
            self._flush()

    def ping(self, node: bytes, value: int, now: int) -> bool:
        self.now = now
        member = self.members.get(node)
        if member is None or member.connection is None or not member.connection.is_open:
            return False
        member.connection.ping(value)
        return True

    def close(self, node: bytes, reason: Close, now: int) -> None:
        self.now = now
        member = self.members.get(node)
        if member is not None and member.connection is not None:
            if member.connection.is_open:
                member.connection.close(reason)
            else:
                self.closed(member.connection, ENDINGS[reason])

    def learn_epoch(self, node: bytes, epoch: int, now: int) -> None:
        """The node was seen elsewhere, with this epoch."""
        member = self.members.get(node)
        if member is not None and member.epoch < epoch:
            self.close(node, Close.SUPERSEDED, now)
        if epoch > self.epoch_of(node):
            self._table.remember(node, epoch)

    def epoch_of(self, node: bytes) -> int:
        """The highest known; 0 if there is none."""
        return self._table.epoch_of(node)

    def knows(self, address: Address) -> bool:
        """Whether a connection was accepted from this host."""
        return self._table.of_host(address[0]) > 0

    def present(self) -> list[bytes]:
        """The nodes that are open or lingering."""
        return [node for node, member in self.members.items() if member.is_told]

    def opened(self) -> list[bytes]:
        """The nodes that are open."""
        return [node for node, member in self.members.items() if member.is_open]

    def is_open(self, node: bytes) -> bool:
        """Whether the node is known to be there, and does not linger."""
        member = self.members.get(node)
        return member is not None and member.is_open

    def is_slow(self, node: bytes) -> bool:
        """Whether what is sent to this node, which has a connection, will wait for it."""
        connection = self.members[node].connection
        return connection is None or connection.is_slow

    def undelivered(self, node: bytes) -> list[object]:
        """The tokens of the messages for a node with a connection that it has not acknowledged, in order."""
        return [message.token for message in self.members[node].sender.undelivered()]

    # ---- for the driver

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        self.now = now
        for data, source in datagrams:
            try:
                self._receive(data, source)
            except BadPacket as error:
                self.counters[error.reason] += 1
        self._flush()

    def _receive(self, data: bytes, source: Address) -> None:
        """Raises ``BadPacket``."""
        raise NotImplementedError

    # ---- what connections tell

    def confirmed(self, connection: Line) -> None:
        member = self.members[connection.node]
        member.resumable = (connection.cid,)
        member.accept = b""
        member.is_told = True
        self.told.append(Opened(connection.node, member.epoch, None, member.resumed))

    def repeating(self, connection: Line) -> None:
        self.told.append(Repeating(connection.node))

    def arrived(self, connection: Line, whole: Whole) -> None:
        node = connection.node
        if not self._may_send(connection, len(whole.data)):
            return
        needs_receipt = self._is_durable and whole.kind in _NEED_RECEIPTS
        receipt = Receipt(node, self.members[node].stream, whole.sequence) if needs_receipt else None
        self.told.append(Arrived(node, whole.kind, whole.data, receipt))

    def _may_send(self, connection: Line, size: int) -> bool:
        """Above its rate a node is told that we are busy; one that goes on is closed."""
        member = self.members[connection.node]
        cost = max(SECOND // MESSAGES_PER_S, size * SECOND // BYTES_PER_S)
        member.spent_at = max(member.spent_at, self.now) + cost
        ahead = member.spent_at - self.now
        connection.is_restrained = ahead > MOST_AHEAD
        if ahead > TOO_FAR_AHEAD:
            self.counters["rate of a node"] += 1
            connection.close(Close.PROTOCOL)
            return False
        return True

    def acknowledged(self, connection: Line, tokens: list[object]) -> None:
        self.told += [Acknowledged(connection.node, token) for token in tokens]

    def expired(self, connection: Line, tokens: list[object]) -> None:
        self.told += [Expired(connection.node, token) for token in tokens]

    def answered(self, connection: Line, value: int) -> None:
        self.told.append(Answered(connection.node, value))

    def moved(self, connection: Line) -> None:
        if not self.gate.is_allowed(connection.address):
            connection.close(Close.PROTOCOL)
            return
        self.told.append(Moved(connection.node, connection.address))

    def broken(self, connection: Line) -> None:
        node, settings = connection.node, self.settings
        member = self.members[node]
        if connection.is_open and self._is_durable and settings.resume and settings.linger_s:
            connection.linger(self.now + settings.linger_s * SECOND)
            self.told.append(Lingering(node, member.epoch))
        else:
            self._end(node, Ending.BROKEN)

    def closed(self, connection: Line, reason: Ending) -> None:
        self._end(connection.node, reason)

    def _replace(self, node: bytes) -> None:
        self._end(node, Ending.REPLACED)

    def _end(self, node: bytes, reason: Ending) -> None:
        member = self.members[node]
        self._table.remove(node)
        tokens = tuple(message.token for message in member.sender.undelivered())
        if member.is_told or tokens:
            self.told.append(Ended(node, member.epoch, reason, tokens))

    def check_invariants(self) -> None:
        self._table.check_invariants()
        assert len(self.members) <= self.settings.max_connections
        for member in self.members.values():
            assert len(member.sender.queue) <= self.settings.queue_per_connection
        for connection in self._table.by_cid.values():
            connection.check_invariants()
