"""The messages of a broker or client of SilboPS to and from its peers.

A peer is bytes: the name of a broker in UTF-8, or the 16 bytes of a client.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import final

from overlay.core.chance import Chance
from overlay.messages.errors import BadMessage
from overlay.peers import peers
from overlay.peers.peers import Heard, HeardOperator, SessionEvent
from overlay.systems.silbops.settings import Settings
from overlay.systems.silbops.wire import messages as m
from overlay.systems.silbops.wire.codec import SIENA, SILBOPS, code_of

Peer = bytes
PeerEvent = Heard[Peer, m.Message] | HeardOperator | SessionEvent


@final
class Peers(peers.Peers[Peer, m.Message, PeerEvent]):
    def __init__(
        self,
        id: Peer,
        settings: Settings,
        chance: Chance,
        wall_offset_ns: int,
        key: bytes | None = None,
        counters: dict[str, int] | None = None,
        subjects: Container[int] = (),
    ) -> None:
        """As the common ones."""
        codec = SIENA if settings.is_siena else SILBOPS
        super().__init__(id, codec, settings.channel, chance, wall_offset_ns, key, counters, subjects)

    def id_of(self, peer: Peer) -> bytes:
        return peer

    def peer_of(self, id: bytes) -> Peer:
        return id

    def is_full(self, peer: Peer) -> bool:
        """As ``Channel.is_full``."""
        return self.channel.is_full(peer)

    def queued(self, peer: Peer) -> int:
        """As ``Channel.queued``."""
        return self.channel.queued(peer)

    def decoded(self, undelivered: Sequence[bytes]) -> list[m.Message]:
        """Messages of this node that a session has handed back when it ended."""
        return [self.codec.parse(one) for one in undelivered]

    def accept(self, peer: Peer, req: int) -> None:
        """What was asked is done."""
        self.send(peer, m.Ok(req))

    def refuse(self, peer: Peer, req: int, code: m.Code, text: str) -> None:
        """``text`` of more than 200 bytes is cut."""
        self.counters[f"refused_{code.name.lower()}"] += 1
        self.send(peer, m.Refused(req, code, peers.cut(text)))

    def refuse_malformed(self, peer: Peer, error: BadMessage) -> None:
        self.refuse(peer, error.req, code_of(error), error.sentence)
