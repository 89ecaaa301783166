"""Conversations, held by real ends of the transport, so that no picture shows what neither sends. Pure.

Counterparts: the page of conversations, and ``docs/contextnet-wire.md``. Datagrams arrive at once and in order. A
message of a node is durable as soon as it has come.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

from brokerweb.systems.contextnet.wirelab.summaries import summary
from brokerweb.systems.contextnet.wirelab.table import BY_CODE
from brokerweb.wirelab.lab import Conversation, Line
from brokerweb.wirelab.pictures import drawn
from overlay.core.addresses import Address
from overlay.core.chance import Stream, derive_seed
from overlay.core.node import MILLISECOND
from overlay.core.timers import earliest
from overlay.systems.contextnet.records.codec import write
from overlay.systems.contextnet.records.records import Message
from overlay.systems.contextnet.transport import controls
from overlay.systems.contextnet.transport.events import Arrived
from overlay.systems.contextnet.transport.gate import Secret
from overlay.systems.contextnet.transport.gateway import GatewayEnd
from overlay.systems.contextnet.transport.node import NodeEnd
from overlay.systems.contextnet.transport.packets import Close, Kind
from overlay.systems.contextnet.transport.secrets import NO_SECRET, SECRET_BYTES
from overlay.systems.contextnet.transport.settings import TransportSettings

N, G, H = "node", "gateway", "another gateway"
ID: Final = bytes(15) + b"\x07"
ADDRESSES: dict[str, Address] = {N: ("192.0.2.7", 40_000), G: ("198.51.100.1", 7_000), H: ("198.51.100.2", 7_000)}
ELSEWHERE: Address = ("192.0.2.7", 41_000)
NOW_US: Final = 1_795_338_000_000_000


class Room:
    """A node and two gateways."""

    def __init__(self) -> None:
        settings = TransportSettings()
        self.now = 0
        self.lines: list[Line] = []
        """Since the last ``forget``."""
        self.node = NodeEnd(ID, NO_SECRET, 0, settings, Stream(derive_seed(1, N)))
        self.gateways = {
            name: GatewayEnd(
                number, bytes([number + 1]) * SECRET_BYTES, _secret_of, settings, Stream(derive_seed(1, name))
            )
            for number, name in enumerate((G, H))
        }
        self._names = {address: name for name, address in ADDRESSES.items()} | {ELSEWHERE: N}
        self._address = ADDRESSES[N]
        """Of the node."""

    def connect(self) -> None:
        self.node.connect((ADDRESSES[G],), self.now)
        self._exchange()

    def say(self, text: bytes = b"21.5", size: int = 0) -> None:
        """A message of the node."""
        message = Message(b"\x01" * 16, ID.hex(), "inbound", NOW_US, payload=text.ljust(size, b"."))
        self.node.send(Kind.MESSAGE, write(message), None, self.now)
        self._exchange()

    def tell(self, kind: Kind, data: bytes) -> None:
        """Something of the gateway."""
        self.gateways[G].send(ID, kind, data, None, self.now)
        self._exchange()

    def ping(self) -> None:
        self.gateways[G].ping(ID, 1, self.now)
        self._exchange()

    def move(self) -> None:
        self._address = ELSEWHERE

    def suspend(self) -> None:
        self.node.suspend(self.now)

    def close(self) -> None:
        self.node.close(self.now, Close.DONE)
        self._exchange()

    def forget_connection(self) -> None:
        """The gateway restarts."""
        self.gateways[G] = GatewayEnd(
            0, b"\x01" * SECRET_BYTES, _secret_of, TransportSettings(), Stream(derive_seed(2, G))
        )

    def wait(self, ms: int) -> None:
        """Let all timers do what they do."""
        until = self.now + ms * MILLISECOND
        while (due := earliest(*(end.next_timer() for _, end in self._ends()))) is not None and due <= until:
            self.now = max(self.now, due)
            for _, end in self._ends():
                end.handle_timer(self.now)
            self._exchange()
        self.now = until

    def forget(self) -> None:
        self.lines.clear()

    # ---- inner

    def _ends(self) -> list[tuple[str, NodeEnd | GatewayEnd]]:
        return [(N, self.node), *self.gateways.items()]

    def _exchange(self) -> None:
        under_way = deque(self._sent())
        while under_way:
            line = under_way.popleft()
            self.lines.append(line)
            source = self._address if line.sender == N else ADDRESSES[line.sender]
            end = self.node if line.receiver == N else self.gateways[line.receiver]
            end.receive_datagrams([(line.data, source)], self.now)
            self._settle()
            under_way.extend(self._sent())

    def _settle(self) -> None:
        for gateway in self.gateways.values():
            for event in gateway.events():
                if isinstance(event, Arrived) and event.receipt is not None:
                    gateway.settle(event.receipt, self.now)
        for told in self.node.events():
            if isinstance(told, Arrived) and told.kind is Kind.HAND_OVER:
                self.node.move(controls.read_hand_over(told.data).targets, self.now)

    def _sent(self) -> list[Line]:
        return [Line(name, self._names[to], data) for name, end in self._ends() for data, to in end.datagrams_to_send()]


def _secret_of(node: bytes) -> Secret:
    return Secret(NO_SECRET)


# ---- what is said


def _connected(room: Room) -> None:
    room.connect()
    room.wait(100)


def _open(room: Room) -> None:
    _connected(room)
    room.forget()


def _sent(room: Room) -> None:
    _open(room)
    room.say()
    room.wait(100)


def _fragmented(room: Room) -> None:
    _open(room)
    room.say(size=3_000)
    room.wait(100)


def _pinged(room: Room) -> None:
    _open(room)
    room.ping()


def _moved(room: Room) -> None:
    _open(room)
    room.move()
    room.say()
    room.wait(100)


def _handed_over(room: Room) -> None:
    _open(room)
    room.tell(Kind.HAND_OVER, controls.write_hand_over(controls.HandOver(3, (ADDRESSES[H],))))
    room.wait(100)


def _resumed(room: Room) -> None:
    _open(room)
    room.suspend()
    room.connect()
    room.wait(100)


def _reset(room: Room) -> None:
    _open(room)
    room.forget_connection()
    room.say()
    room.wait(100)


def _left(room: Room) -> None:
    _open(room)
    room.close()


CONVERSATIONS: tuple[tuple[str, Callable[[Room], None]], ...] = (
    ("A node connects: a cookie proves its address", _connected),
    ("A message, acknowledged when its record is durable", _sent),
    ("A message of three fragments", _fragmented),
    ("A ping of the gateway", _pinged),
    ("The node has a new address, which is validated", _moved),
    ("A hand-over: connect first, then leave", _handed_over),
    ("The connection is resumed, with the cookie of ACCEPT", _resumed),
    ("A gateway that has restarted does not know the connection", _reset),
    ("The node leaves", _left),
)
"""Title, and what is said."""


@cache
def held() -> Sequence[Conversation]:
    return tuple(_held(*one) for one in CONVERSATIONS)


def _held(title: str, hold: Callable[[Room], None]) -> Conversation:
    room = Room()
    hold(room)
    lines = tuple(room.lines)
    names = {name: name for name in (N, G, H)}
    return Conversation(title, tuple(drawn(lines, names, (N, G, H), _label, summary)), lines)


def _label(data: bytes) -> str:
    return BY_CODE[data[0] & 15].name
