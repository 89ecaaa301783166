"""The messages of a federation to and from others, by name. Brokers, clients and the registration service have one
each."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple, final

from overlay.channel import ChannelSettings, Loose
from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.messages.errors import BadMessage, Reason
from overlay.peers import peers
from overlay.peers.peers import Heard, HeardOperator, SessionEvent
from overlay.systems.federation.contextml.encoding import CONTEXTML
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.subjects import Subject
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.codec import CODEC


class HeardLoose(NamedTuple):
    """A message outside sessions. ``name`` is what the sender says."""

    name: str
    message: m.Discover | m.Here
    source: Address


PeerEvent = Heard[str, m.Message] | HeardLoose | HeardOperator | SessionEvent


@final
class Peers(peers.Peers[str, m.Message, PeerEvent]):
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
        codec = CONTEXTML if settings.encoding == "contextml" else CODEC
        channel = _channel_settings(settings.give_up_s)
        super().__init__(name.encode(), codec, channel, chance, wall_offset_ns, key, counters, SUBJECTS)
        self.name = name

    def id_of(self, peer: str) -> bytes:
        return peer.encode()

    def peer_of(self, id: bytes) -> str:
        return id.decode()

    def accept(self, peer: str, req: int) -> None:
        """Acknowledge a request that wants an answer."""
        if req:
            self.send(peer, m.Ack(req))

    def refuse(self, peer: str, message: m.Message, code: m.Code, words: str = "") -> None:
        """``words`` of more than 200 bytes are cut."""
        self._refuse(peer, CODES[type(message)], getattr(message, "req", 0), code, words)

    def refuse_malformed(self, peer: str, error: BadMessage) -> None:
        code = m.Code.LIMIT if error.reason is Reason.LIMIT else m.Code.BAD
        self._refuse(peer, error.kind, error.req, code, error.sentence)

    def _refuse(self, peer: str, kind: int, req: int, code: m.Code, words: str) -> None:
        self.counters[f"refused_{code.name.lower()}"] += 1
        self.send(peer, m.Nack(kind, req, code, peers.cut(words)))

    def read_loose(self, event: Loose) -> PeerEvent | None:
        try:
            name = event.id.decode()
            message = self.codec.parse(event.message)
        except (UnicodeDecodeError, BadMessage):
            return None
        if not isinstance(message, m.Discover | m.Here):
            return None
        self.counters[f"in_{type(message).__name__.lower()}"] += 1
        return HeardLoose(name, message, event.source)


@lru_cache(maxsize=16)
def _channel_settings(give_up_s: float) -> ChannelSettings:
    """Shared by all nodes of a process."""
    return ChannelSettings(give_up_s=give_up_s)


SUBJECTS: Final = frozenset(map(int, Subject))
CODES: Final = {layout.message: layout.code for layout in CODEC.layouts}
"""The number of each kind of message."""
