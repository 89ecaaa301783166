"""The messages of a node to and from its peers, over the channel. Brokers, clients and other servers have one each.

What cannot be read is counted, refused at most once a second for each sender, and changes nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable
from functools import lru_cache
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, final

from overlay.channel import Back, Channel, ChannelSettings, Down, Loose, Moved, Quiet, Up
from overlay.channel import Message as Carried
from overlay.core.addresses import Address
from overlay.core.binary import MAX_DATAGRAM
from overlay.core.chance import Chance
from overlay.core.node import MILLISECOND, SECOND
from overlay.messages.codec import Codec
from overlay.messages.errors import BadMessage
from overlay.peers.questions import Inspect, read_question

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

P = TypeVar("P")
"""How a node names its peers."""
M = TypeVar("M")
"""Its messages."""
E = TypeVar("E")
"""What it is told: ``Heard[P, M]``, ``HeardOperator``, ``SessionEvent``, and messages outside sessions."""


class Meter(Protocol):
    def count(self, peer: Any, message: type[Any], size: int, now: int, *, is_sent: bool) -> None:
        """A message of ``size`` bytes that the node has sent to the peer, or received from it."""


@final
class Heard(Generic[P, M]):
    """A message of a peer, in order. A plain class: compiled, it is made with far less work than a tuple with names."""

    __slots__ = ("message", "peer", "size")

    def __init__(self, peer: P, message: M, size: int) -> None:
        self.peer = peer
        self.message = message
        self.size = size
        """Bytes of the message."""


class HeardOperator(NamedTuple):
    """A question of an operator's program."""

    message: Inspect
    source: Address


SessionEvent = Up | Moved | Quiet | Back | Down
"""Of the channel; ``peer`` is the id."""


class Peers(Generic[P, M, E]):
    """A system says how its peers are named and how it refuses what is malformed.

    ``now`` is that of the call that the node is answering; the node sets it first.
    """

    def __init__(
        self,
        id: bytes,
        codec: Codec,
        settings: ChannelSettings,
        chance: Chance,
        wall_offset_ns: int,
        key: bytes | None = None,
        counters: dict[str, int] | None = None,
        subjects: Container[int] = (),
    ) -> None:
        """``counters``: of several nodes together, 0 by default; without it each has its own. ``subjects``: what
        operators may ask about."""
        self.now = 0
        self.wall_offset_ns = wall_offset_ns
        """Unix nanoseconds minus ``now``."""
        self.channel = Channel(id, settings, chance, key)
        self.codec = codec
        self.counters: dict[str, int] = defaultdict(int) if counters is None else counters
        """``in_KIND`` and ``out_KIND`` messages, ``out_KIND_bytes``, ``refused_CODE`` by this node,
        ``malformed_REASON``, ``too_large``."""
        self.meter: Meter | None = None
        """Counts what is sent and received, in addition to ``counters``."""
        self._in, self._out, self._out_bytes = _names(codec)
        self._subjects = subjects
        self._refused: dict[bytes, int] = {}
        """When a malformed message of a peer was last refused."""
        self._known: tuple[int, frozenset[Address]] | None = None
        """When the addresses of all sessions were looked at, and those."""

    # ---- what differs between systems

    def id_of(self, peer: P) -> bytes:
        """That of its channel."""
        raise NotImplementedError

    def peer_of(self, id: bytes) -> P:
        """The inverse. Raises ``ValueError`` for an id that no peer has."""
        raise NotImplementedError

    def refuse_malformed(self, peer: P, error: BadMessage) -> None:
        """Tell a peer that its message could not be read."""
        raise NotImplementedError

    def read_loose(self, event: Loose) -> E | None:
        """A message outside sessions that is no question of an operator; ``None``: there are none."""
        return None

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

    def open(self, peer: P, address: Address, *, keep: bool = False) -> bool:
        """As ``Channel.open``."""
        return self.channel.open(self.id_of(peer), address, self.now, keep)

    def address(self, peer: P) -> Address | None:
        """As ``Channel.address``."""
        return self.channel.address(self.id_of(peer))

    def readdress(self, peer: P, address: Address) -> None:
        """As ``Channel.readdress``."""
        self.channel.readdress(self.id_of(peer), address, self.now)

    def close(self, peer: P) -> None:
        self.channel.close(self.id_of(peer), self.now)

    def give_up(self, peer: P) -> None:
        """As ``Channel.give_up``."""
        self.channel.give_up(self.id_of(peer), self.now)

    def pause(self, peer: P) -> None:
        """As ``Channel.pause``: the peer is to stop sending."""
        self.channel.pause(self.id_of(peer))

    def resume(self, peer: P) -> None:
        self.channel.resume(self.id_of(peer), self.now)

    def send(self, peer: P, message: M, drop: int | None = None) -> bool:
        """``drop`` is the priority with which a full outbox may drop it; ``None``: never. Returns ``False`` without a
        session, and for a message that is too large, which is counted."""
        data = self.encoded(message)
        if data is None:
            self.counters["too_large"] += 1
            return False
        if not self.channel.send(self.id_of(peer), data, self.now, drop):
            return False
        kind, counters = type(message), self.counters
        counters[self._out[kind]] += 1
        counters[self._out_bytes[kind]] += len(data)
        if self.meter is not None:
            self.meter.count(peer, kind, len(data), self.now, is_sent=True)
        return True

    def encoded(self, message: M) -> bytes | None:
        """``None`` if it is too large."""
        try:
            return self.codec.encode(message)
        except BadMessage:
            return None

    def send_each(self, peers: Iterable[P], message: M, drop: int | None = None) -> list[P]:
        """As ``send``, to several, written once. Returns those with a session."""
        data = self.encoded(message)
        if data is None:
            self.counters["too_large"] += 1
            return []
        return self.send_encoded(peers, type(message), data, drop)

    def send_encoded(self, peers: Iterable[P], kind: type, data: bytes, drop: int | None = None) -> list[P]:
        """A message of the class ``kind`` that is written already."""
        channel, now = self.channel, self.now
        sent = [peer for peer in peers if channel.send(self.id_of(peer), data, now, drop)]
        counters, count, size = self.counters, self._out[kind], self._out_bytes[kind]
        counters[count] += len(sent)
        counters[size] += len(sent) * len(data)
        if self.meter is not None:
            for peer in sent:
                self.meter.count(peer, kind, len(data), now, is_sent=True)
        return sent

    def send_loose(self, address: Address, message: M) -> bool:
        return self.channel.send_loose(address, self.codec.encode(message))

    def send_bare(self, address: Address, data: bytes) -> bool:
        """To a program on this host, outside sessions; not a message of the network."""
        return self.channel.send_loose(address, data, MAX_DATAGRAM)

    # ---- receiving

    def receive(self, data: bytes, source: Address) -> None:
        self.channel.receive(data, source, self.now)

    def events(self) -> list[E]:
        """What the channel reports, with messages read."""
        found: list[Any] = []
        for event in self.channel.events():
            if type(event) is Carried:
                self._read(event, found)
            elif type(event) is Loose:
                self._read_loose(event, found)
            else:
                found.append(event)
        return found

    def _read(self, event: Carried, found: list[Any]) -> None:
        try:
            peer = self.peer_of(event.peer)
            message = self.codec.parse(event.message)
        except BadMessage as error:
            self._refuse_malformed(event.peer, error)
        except ValueError:
            self.counters["malformed_name"] += 1
        else:
            self.counters[self._in[type(message)]] += 1
            if self.meter is not None:
                self.meter.count(peer, type(message), len(event.message), self.now, is_sent=False)
            found.append(Heard(peer, message, len(event.message)))

    def _refuse_malformed(self, peer: bytes, error: BadMessage) -> None:
        self.counters[f"malformed_{error.reason}"] += 1
        last = self._refused.get(peer)
        if last is not None and self.now < last + REFUSAL_EVERY:
            return
        self._refused.pop(peer, None)
        self._refused[peer] = self.now
        if len(self._refused) > MOST_REFUSED:
            del self._refused[next(iter(self._refused))]
        self.refuse_malformed(self.peer_of(peer), error)

    def _read_loose(self, event: Loose, found: list[Any]) -> None:
        question = read_question(event.message, self._subjects)
        if question is not None:
            found.append(HeardOperator(question, event.source))
            return
        other = self.read_loose(event)
        if other is None:
            self.counters["malformed_loose"] += 1
        else:
            found.append(other)

    def check_invariants(self) -> None:
        """(I5). Raises ``AssertionError``."""
        self.channel.check_invariants()
        assert len(self._refused) <= MOST_REFUSED


def cut(words: str) -> str:
    """At most 200 bytes of them, for a refusal."""
    return words.encode()[:_WORDS].decode(errors="ignore")


@lru_cache(maxsize=8)
def _names(codec: Codec) -> tuple[dict[type, str], dict[type, str], dict[type, str]]:
    """Of counters of each kind of message: received, sent, and bytes sent."""
    names = {layout.message: layout.name.lower() for layout in codec.layouts}
    return (
        {kind: f"in_{name}" for kind, name in names.items()},
        {kind: f"out_{name}" for kind, name in names.items()},
        {kind: f"out_{name}_bytes" for kind, name in names.items()},
    )
