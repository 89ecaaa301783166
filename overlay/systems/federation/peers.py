"""The messages of a node to and from others, by name, over the channel. Brokers, clients and the registration service
have one each.

What cannot be read is counted, refused at most once a second for each sender, and changes nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple, final

from overlay.channel import Back, Channel, ChannelSettings, Down, Loose, Moved, Quiet, Up
from overlay.channel import Message as Carried
from overlay.core.addresses import Address
from overlay.core.binary import MAX_DATAGRAM
from overlay.core.chance import Chance
from overlay.core.node import MILLISECOND, SECOND
from overlay.messages.errors import BadMessage, Reason
from overlay.systems.federation.contextml.encoding import CONTEXTML
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.codec import CODEC
from overlay.systems.federation.wire.inspection import Inspect, read_question

if TYPE_CHECKING:
    from overlay.systems.federation.energy.meter import DeviceMeter  # only brokers of devices have one

REFUSAL_EVERY = SECOND
"""Between refusals of malformed messages to one sender."""
KNOWN_FOR = SECOND
"""Between two looks at the addresses of all sessions."""
MOST_REFUSED = 4_096
"""Senders whose last refusal is remembered."""
LEAVE_NS = 1_500 * MILLISECOND
"""Of driving after a server has left: the channel closes sessions within 1 s, and repeats BYE."""
_WORDS = 200
"""Bytes of the reason in a refusal."""


@final
class Heard:
    """A message of a peer, in order. A plain class: compiled, it is made with far less work than a tuple with names."""

    __slots__ = ("message", "peer", "size")

    def __init__(self, peer: str, message: m.Message, size: int) -> None:
        self.peer = peer
        self.message = message
        self.size = size
        """Bytes of the message."""


class HeardLoose(NamedTuple):
    """A message outside sessions. ``name`` is what the sender says."""

    name: str
    message: m.Discover | m.Here
    source: Address


class HeardOperator(NamedTuple):
    """A question of an operator's program."""

    message: Inspect
    source: Address


SessionEvent = Up | Moved | Quiet | Back | Down
"""Of the channel; ``peer`` is the name as bytes."""
PeerEvent = Heard | HeardLoose | HeardOperator | SessionEvent


class Peers:
    """``now`` is that of the call that the node is answering; the node sets it first."""

    def __init__(
        self,
        name: str,
        settings: Settings,
        chance: Chance,
        wall_offset_ns: int,
        key: bytes | None = None,
        counters: dict[str, int] | None = None,
    ) -> None:
        """``counters``: of several nodes together, 0 by default; without it each has its own."""
        self.name = name
        self.now = 0
        self.wall_offset_ns = wall_offset_ns
        """Unix nanoseconds minus ``now``."""
        self.channel = Channel(name.encode(), _channel_settings(settings.give_up_s), chance, key)
        self.codec = CONTEXTML if settings.encoding == "contextml" else CODEC
        self.counters: dict[str, int] = defaultdict(int) if counters is None else counters
        """``in_KIND`` and ``out_KIND`` messages, ``out_KIND_bytes``, ``refused_CODE`` by this node,
        ``malformed_REASON``, ``too_large``."""
        self.meter: DeviceMeter | None = None
        """Of a device whose energy is modelled: it counts what is sent and received."""
        self._refused: dict[bytes, int] = {}
        """When a malformed message of a peer was last refused."""
        self._known: tuple[int, frozenset[Address]] | None = None
        """When the addresses of all sessions were looked at, and those."""

    @property
    def wall_ms(self) -> int:
        """Unix milliseconds."""
        return (self.now + self.wall_offset_ns) // MILLISECOND

    def at_wall_ms(self, wall_ms: int) -> int:
        """The first ``now`` at which ``wall_ms`` has come."""
        return wall_ms * MILLISECOND - self.wall_offset_ns

    def knows(self, address: Address) -> bool:
        """Whether a session has this address, or had it within a second: those are served first beyond a backlog."""
        if self._known is None or self.now >= self._known[0] + KNOWN_FOR:
            self._known = self.now, self.channel.addresses()
        return address in self._known[1]

    # ---- sending

    def open(self, peer: str, address: Address, *, keep: bool = False) -> bool:
        """As ``Channel.open``."""
        return self.channel.open(peer.encode(), address, self.now, keep)

    def address(self, peer: str) -> Address | None:
        """As ``Channel.address``."""
        return self.channel.address(peer.encode())

    def readdress(self, peer: str, address: Address) -> None:
        """As ``Channel.readdress``."""
        self.channel.readdress(peer.encode(), address, self.now)

    def close(self, peer: str) -> None:
        self.channel.close(peer.encode(), self.now)

    def pause(self, peer: str) -> None:
        """As ``Channel.pause``: the peer is to stop sending."""
        self.channel.pause(peer.encode())

    def resume(self, peer: str) -> None:
        self.channel.resume(peer.encode(), self.now)

    def send(self, peer: str, message: m.Message, drop: int | None = None) -> bool:
        """``drop`` is the priority with which a full outbox may drop it; ``None``: never. Returns ``False`` without a
        session, and for a message that is too large, which is counted."""
        data = self.encoded(message)
        if data is None:
            self.counters["too_large"] += 1
            return False
        if not self.channel.send(peer.encode(), data, self.now, drop):
            return False
        kind, counters = type(message), self.counters
        counters[_OUT[kind]] += 1
        counters[_OUT_BYTES[kind]] += len(data)
        if self.meter is not None:
            self.meter.count(peer, kind, len(data), self.now, is_sent=True)
        return True

    def encoded(self, message: m.Message) -> bytes | None:
        """``None`` if it is too large."""
        try:
            return self.codec.encode(message)
        except BadMessage:
            return None

    def send_each(self, peers: Iterable[str], message: m.Message, drop: int | None = None) -> list[str]:
        """As ``send``, to several, written once. Returns those with a session."""
        data = self.encoded(message)
        if data is None:
            self.counters["too_large"] += 1
            return []
        return self.send_encoded(peers, type(message), data, drop)

    def send_encoded(self, peers: Iterable[str], kind: type, data: bytes, drop: int | None = None) -> list[str]:
        """A message of the class ``kind`` that is written already."""
        channel, now = self.channel, self.now
        sent = [peer for peer in peers if channel.send(peer.encode(), data, now, drop)]
        counters, count, size = self.counters, _OUT[kind], _OUT_BYTES[kind]
        counters[count] += len(sent)
        counters[size] += len(sent) * len(data)
        if self.meter is not None:
            for peer in sent:
                self.meter.count(peer, kind, len(data), now, is_sent=True)
        return sent

    def send_loose(self, address: Address, message: m.Discover | m.Here) -> bool:
        return self.channel.send_loose(address, self.codec.encode(message))

    def send_bare(self, address: Address, data: bytes) -> bool:
        """To a program on this host, outside sessions; not a message of the network."""
        return self.channel.send_loose(address, data, MAX_DATAGRAM)

    def accept(self, peer: str, req: int) -> None:
        """Acknowledge a request that wants an answer."""
        if req:
            self.send(peer, m.Ack(req))

    def refuse(self, peer: str, message: m.Message, code: m.Code, words: str = "") -> None:
        """``words`` of more than 200 bytes are cut."""
        self._refuse(peer, CODES[type(message)], getattr(message, "req", 0), code, words)

    def _refuse(self, peer: str, kind: int, req: int, code: m.Code, words: str) -> None:
        cut = words.encode()[:_WORDS].decode(errors="ignore")
        self.counters[f"refused_{code.name.lower()}"] += 1
        self.send(peer, m.Nack(kind, req, code, cut))

    # ---- receiving

    def receive(self, data: bytes, source: Address) -> None:
        self.channel.receive(data, source, self.now)

    def events(self) -> list[PeerEvent]:
        """What the channel reports, with messages read."""
        found: list[PeerEvent] = []
        for event in self.channel.events():
            if type(event) is Carried:
                self._read(event, found)
            elif type(event) is Loose:
                self._read_loose(event, found)
            else:
                found.append(event)  # type: ignore[arg-type]
        return found

    def _read(self, event: Carried, found: list[PeerEvent]) -> None:
        try:
            name = event.peer.decode()
            message = self.codec.parse(event.message)
        except UnicodeDecodeError:
            self.counters["malformed_name"] += 1
        except BadMessage as error:
            self._refuse_malformed(event.peer, error)
        else:
            self.counters[_IN[type(message)]] += 1
            if self.meter is not None:
                self.meter.count(name, type(message), len(event.message), self.now, is_sent=False)
            found.append(Heard(name, message, len(event.message)))

    def _refuse_malformed(self, peer: bytes, error: BadMessage) -> None:
        self.counters[f"malformed_{error.reason}"] += 1
        last = self._refused.get(peer)
        if last is not None and self.now < last + REFUSAL_EVERY:
            return
        self._refused.pop(peer, None)
        self._refused[peer] = self.now
        if len(self._refused) > MOST_REFUSED:
            del self._refused[next(iter(self._refused))]
        code = m.Code.LIMIT if error.reason is Reason.LIMIT else m.Code.BAD
        self._refuse(peer.decode(), error.kind, error.req, code, error.sentence)

    def _read_loose(self, event: Loose, found: list[PeerEvent]) -> None:
        if (question := read_question(event.message)) is not None:
            found.append(HeardOperator(question, event.source))
            return
        try:
            name = event.id.decode()
            message = self.codec.parse(event.message)
        except (UnicodeDecodeError, BadMessage):
            self.counters["malformed_loose"] += 1
            return
        if isinstance(message, m.Discover | m.Here):
            self.counters[_IN[type(message)]] += 1
            found.append(HeardLoose(name, message, event.source))
        else:
            self.counters["malformed_loose"] += 1

    def check_invariants(self) -> None:
        """(I5). Raises ``AssertionError``."""
        self.channel.check_invariants()
        assert len(self._refused) <= MOST_REFUSED


@lru_cache(maxsize=16)
def _channel_settings(give_up_s: float) -> ChannelSettings:
    """Shared by all nodes of a process."""
    return ChannelSettings(give_up_s=give_up_s)


_IN: Final = {layout.message: f"in_{layout.name.lower()}" for layout in CODEC.layouts}
_OUT: Final = {layout.message: f"out_{layout.name.lower()}" for layout in CODEC.layouts}
_OUT_BYTES: Final = {kind: f"{name}_bytes" for kind, name in _OUT.items()}
"""Counters of each kind of message."""
CODES: Final = {layout.message: layout.code for layout in CODEC.layouts}
"""The number of each kind of message."""
