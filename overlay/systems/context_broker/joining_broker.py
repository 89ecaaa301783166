"""A broker that finds its way into a network from a bootstrap list, without a controller. Pure.

Counterparts: ``clients.bootstrap`` finds brokers; ``overlay.programs.context_broker.joining`` drives it. The broker
asks the nearest ones found to become neighbours, and one of the list that is drawn at random: brokers that are all near
to each other would otherwise be a network of their own. It does so again whenever it has too few neighbours, and
monitors those that it has. The orders are those that a controller would send (8, 0), so that recordings have them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from overlay.core.addresses import Address, parse_networks
from overlay.core.chance import Chance
from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.clients.bootstrap import FIRST_PAUSE_NS, LONGEST_PAUSE_NS, Bootstrapper
from overlay.systems.context_broker.clients.exchange import WallClock
from overlay.systems.context_broker.wire.codec import encode
from overlay.systems.context_broker.wire.messages import BrokerJoining, StartNeighborsMonitoring


class JoiningBroker:
    """Wraps a broker: the same interface. ``config`` is the broker's; ``neighbours_wanted`` and ``neighbours_least``
    apply."""

    def __init__(self, server: Any, config: BrokerConfig, wall_offset_ns: int, chance: Chance) -> None:
        self._server = server
        self._wall = WallClock(wall_offset_ns)
        self._chance = chance
        self._wanted, self._least = config.neighbours_wanted, config.neighbours_least
        self._controller = _controller(config)
        self._listed: frozenset[Address] = frozenset()
        self._rounds = 0
        self._pause_ns = FIRST_PAUSE_NS
        self._is_leaving = self._has_ordered = False
        self.bootstrap = Bootstrapper(self._wall, chance, wanted=2 * self._wanted)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._server, name)

    def renew(self, listed: Iterable[Address], now: int) -> None:
        """The bootstrap list, or a newer one."""
        others = [one for one in listed if one != self._server.address]
        self._listed = frozenset(others)
        self.bootstrap.renew(others, now)

    def set_wall_clock(self, offset_ns: int) -> None:
        self._wall.offset_ns = offset_ns
        self._server.set_wall_clock(offset_ns)

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        if not self.bootstrap.is_searching:
            self._server.receive_datagrams(datagrams, now)
            return
        rest = [(data, source) for data, source in datagrams if not self.bootstrap.expects(data, source)]
        if len(rest) < len(datagrams):
            self.bootstrap.receive_datagrams([one for one in datagrams if one not in rest], now)
        if rest:
            self._server.receive_datagrams(rest, now)
        self._go_on(now)

    def receive_datagram(self, data: bytes, source: Address, now: int) -> None:
        self.receive_datagrams(((data, source),), now)

    def handle_timer(self, now: int) -> None:
        timer = self.bootstrap.next_timer()
        if timer is not None and timer <= now:
            self.bootstrap.handle_timer(now)
            self._go_on(now)
        self._server.handle_timer(now)

    def next_timer(self) -> int | None:
        own, other = self._server.next_timer(), None if self._is_leaving else self.bootstrap.next_timer()
        if own is None or other is None:
            return other if own is None else own
        return own if own < other else other

    def datagrams_to_send(self) -> Sequence[tuple[bytes, Address]]:
        outgoing: Sequence[tuple[bytes, Address]] = self._server.datagrams_to_send()
        if self._has_ordered:
            outgoing = [one for one in outgoing if one[1] != self._controller]
        probes = self.bootstrap.datagrams_to_send()
        return [*outgoing, *probes] if probes else outgoing

    def leave(self, now: int) -> int:
        self._is_leaving = True
        left: int = self._server.leave(now)
        return left

    def _go_on(self, now: int) -> None:
        """After a round: join if there are too few neighbours."""
        found = self.bootstrap
        if found.rounds == self._rounds or self._is_leaving:
            return
        self._rounds = found.rounds
        neighbours = set(self._server.neighbours)
        others = [one for one in found.nearest if one not in neighbours and one != self._server.address]
        if len(neighbours) >= self._least and (neighbours & self._listed or not self._listed & found.live.keys()):
            self._pause_ns = FIRST_PAUSE_NS
            return
        if len(neighbours) + len(others) < self._least:  # others may be about to join
            found.look_again(now + self._pause_ns)
            self._pause_ns = min(2 * self._pause_ns, LONGEST_PAUSE_NS)
        missing = max(self._wanted - len(neighbours), 1)
        listed = [one for one in others if one in self._listed]
        chosen = dict.fromkeys(self._chance.sample(listed, 1) if listed and not neighbours & self._listed else ())
        chosen |= dict.fromkeys(others)
        if chosen:
            self._order(list(chosen)[:missing], now)

    def _order(self, chosen: Sequence[Address], now: int) -> None:
        wall_ms = (now + self._wall.offset_ns) // MILLISECOND
        orders = encode(BrokerJoining(wall_ms, tuple(chosen))), encode(StartNeighborsMonitoring(wall_ms))
        self._has_ordered = True
        self._server.receive_datagrams([(order, self._controller) for order in orders], now)


def _controller(config: BrokerConfig) -> Address:
    """An address from which the broker takes orders; nothing is sent there."""
    networks = parse_networks(config.controller_networks, "controller_networks")
    host = next(iter(networks[0].hosts())) if networks else "127.0.0.1"
    return str(host), 1
