"""One question to the registration service: which brokers there are (FIND, seed 001, section 9). A ``Node``."""

from __future__ import annotations

from collections.abc import Sequence

from overlay.channel import Down
from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.peers.peers import Heard
from overlay.systems.federation.clients.terms import Terms
from overlay.systems.federation.names import SERVICE
from overlay.systems.federation.peers import PeerEvent, Peers
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.values import Found

_REQ = 1


class Finding:
    """``events()`` has nothing; look at ``is_over``, then at ``found``, or at ``refusal``; neither: no answer came."""

    def __init__(
        self,
        terms: Terms,
        service: Address,
        name: str,
        chance: Chance,
        now: int,
        position: tuple[float, float] | None = None,
    ) -> None:
        """``name`` is unique in the network."""
        self._peers = Peers(name, terms.settings, chance, terms.wall_offset_ns, terms.key, terms.counters)
        self._peers.now = now
        self.found: tuple[Found, ...] | None = None
        """At most 5, the nearest first; without ``position`` by id."""
        self.refusal: m.Nack | None = None
        self.is_over = not self._peers.open(SERVICE, service)
        self._peers.send(SERVICE, m.Find(_REQ, position))

    def close(self, now: int) -> None:
        self._peers.now = now
        self._peers.close(SERVICE)

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        self.handle_timer(now)
        for data, source in datagrams:
            self._peers.receive(data, source)
        self._take()

    def handle_timer(self, now: int) -> None:
        self._peers.now = now
        self._peers.channel.handle_timer(now)
        self._take()

    def next_timer(self) -> int | None:
        return self._peers.channel.next_timer()

    def datagrams_to_send(self) -> Sequence[tuple[bytes, Address]]:
        return self._peers.channel.datagrams_to_send()

    def events(self) -> Sequence[PeerEvent]:
        return ()

    def _take(self) -> None:
        for event in self._peers.events():
            match event:
                case Heard(peer=peer, message=m.Found(req, found)) if (peer, req) == (SERVICE, _REQ):
                    self.found = found
                case Heard(peer=peer, message=m.Nack(_, req) as refusal) if (peer, req) == (SERVICE, _REQ):
                    self.refusal = refusal
                case Down(peer) if peer == SERVICE.encode():
                    pass
                case _:
                    continue
            self.is_over = True
