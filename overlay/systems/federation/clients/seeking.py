"""Discovery of a broker (seed 001, section 9): FIND at the registration service, or DISCOVER by multicast."""

from __future__ import annotations

from overlay.channel import Down
from overlay.core.addresses import parse_address
from overlay.core.chance import Chance
from overlay.core.errors import WireError
from overlay.core.node import SECOND
from overlay.peers.peers import Heard
from overlay.systems.federation.clients.terms import Site, Terms
from overlay.systems.federation.names import SERVICE
from overlay.systems.federation.peers import HeardLoose, PeerEvent, Peers
from overlay.systems.federation.settings import BY_MULTICAST
from overlay.systems.federation.wire import messages as m

DISCOVER_AT = (0, SECOND, 3 * SECOND)
"""After the beginning."""


class Seeking:
    """One search. It ends with the brokers to try, in order; without any if none answered in time."""

    __slots__ = ("_number", "_peers", "_sent", "_terms", "due", "found", "is_over")

    def __init__(self, terms: Terms, peers: Peers, chance: Chance, req: int) -> None:
        """``req`` is the number of FIND."""
        self._terms, self._peers = terms, peers
        self.found: tuple[Site, ...] = ()
        self.is_over = False
        self._sent = 0
        self.due = peers.now
        """When to call ``ring``."""
        is_multicast = terms.settings.discovery == BY_MULTICAST
        self._number = chance.randrange(1 << 64) if is_multicast else req
        if is_multicast:
            self._discover()
        else:
            self._find()

    def ring(self) -> None:
        """``due`` has come."""
        if self._terms.settings.discovery == BY_MULTICAST and self._sent < len(DISCOVER_AT):
            self._discover()
        else:
            self._end(())

    def take(self, event: PeerEvent) -> bool:
        """Whether the event is about this search."""
        match event:
            case HeardLoose(name, m.Here(nonce, broker), _):
                if nonce == self._number and broker.id == name:
                    self._end(_sites([(broker.id, broker.endpoint)]))
            case Heard(peer=peer, message=m.Found(req, found)) if peer == SERVICE and req == self._number:
                self._end(_sites([(one.id, one.endpoint) for one in found]))
            case Heard(peer=peer, message=m.Nack(_, req)) if peer == SERVICE and req == self._number:
                self._end(())
            case Down(peer) if peer == SERVICE.encode():
                self._end(())
            case _:
                return False
        return True

    def _discover(self) -> None:
        for address in self._terms.group:
            self._peers.send_loose(address, m.Discover(self._number))
        last, self._sent = DISCOVER_AT[self._sent], self._sent + 1
        is_last = self._sent == len(DISCOVER_AT)
        self.due += self._terms.give_up if is_last else DISCOVER_AT[self._sent] - last

    def _find(self) -> None:
        """An answer takes at most as long as the channel takes to give up, and once more for the service itself."""
        self.due += 2 * self._terms.give_up
        service, peers = self._terms.service, self._peers
        if service is None or not peers.open(SERVICE, service):
            self.is_over = True
        else:
            peers.send(SERVICE, m.Find(self._number))

    def _end(self, found: tuple[Site, ...]) -> None:
        self.is_over, self.found = True, found
        self._peers.close(SERVICE)


def _sites(found: list[tuple[str, str]]) -> tuple[Site, ...]:
    sites = []
    for id, endpoint in found:
        try:
            sites.append(Site(id, parse_address(endpoint)))
        except WireError:
            continue  # checked when it was read; an own registry could still send none
    return tuple(sites)
