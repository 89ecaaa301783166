"""The wire of a client over the channel, by ``overlay.systems.silbops.peers``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from overlay.channel import Down
from overlay.core.addresses import Address
from overlay.peers.peers import Heard as HeardPeer
from overlay.systems.silbops.clients.wires import Ended, Heard, ToBroker, ToClient
from overlay.systems.silbops.peers import Peers
from overlay.systems.silbops.wire import messages as m


class ChannelWire:
    """Brokers are known by name here, by its bytes there."""

    def __init__(self, peers: Peers) -> None:
        self.peers = peers

    def open(self, broker: str, address: Address, now: int) -> bool:
        self.peers.now = now
        return self.peers.open(broker.encode(), address)

    def send(self, broker: str, message: ToBroker, now: int) -> bool:
        self.peers.now = now
        return self.peers.send(broker.encode(), message)

    def has_session(self, broker: str) -> bool:
        return self.peers.address(broker.encode()) is not None

    def is_full(self, broker: str) -> bool:
        return self.peers.is_full(broker.encode())

    def close(self, broker: str, now: int) -> None:
        self.peers.now = now
        self.peers.close(broker.encode())

    def receive(self, datagrams: Iterable[tuple[bytes, Address]], now: int) -> None:
        self.peers.now = now
        for data, source in datagrams:
            self.peers.receive(data, source)

    def handle_timer(self, now: int) -> None:
        self.peers.now = now
        self.peers.channel.handle_timer(now)

    def next_timer(self) -> int | None:
        return self.peers.channel.next_timer()

    def datagrams_to_send(self) -> Sequence[tuple[bytes, Address]]:
        return self.peers.channel.datagrams_to_send()

    def events(self) -> Sequence[Heard | Ended]:
        found: list[Heard | Ended] = []
        for event in self.peers.events():
            if isinstance(event, HeardPeer):
                if isinstance(event.message, ToClient):
                    found.append(Heard(event.peer.decode(errors="replace"), event.message))
                else:
                    self.peers.counters["dropped_unexpected"] += 1
            elif isinstance(event, Down):
                publications = [one for one in self.peers.decoded(event.undelivered) if isinstance(one, m.Publish)]
                found.append(Ended(event.peer.decode(errors="replace"), event.reason, publications))
        return found

    def check_invariants(self) -> None:
        self.peers.check_invariants()
