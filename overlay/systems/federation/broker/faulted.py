"""A broker with the faults of ``fault_kinds``: it moves, is offline, or vanishes and returns as a new life."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from overlay.core.addresses import parse_address
from overlay.core.chance import Chances
from overlay.peers.peers import LEAVE_NS
from overlay.systems.federation.broker.broker import Broker
from overlay.systems.federation.broker.outages import Datagram, Outages
from overlay.systems.federation.config import ServerConfig
from overlay.systems.federation.fault_kinds import MOVE, OFFLINE, PROPER, VANISH
from overlay.systems.federation.wire import messages as m
from overlay.systems.roles import Place


class FaultedBroker(Broker):
    def __init__(
        self, config: ServerConfig, place: Place, chances: Chances, wall_offset_ns: int, key: bytes | None = None
    ) -> None:
        self.outages = Outages()
        self._past: Counter[str] = Counter()
        """Counters of lives before it vanished."""
        super().__init__(config, place, chances, wall_offset_ns, key)

    def fault(self, document: Mapping[str, Any], begins: bool, now: int) -> None:
        """One of ``fault_kinds`` begins or ends."""
        what = document["what"]
        if what == VANISH and not begins:
            self._return(now)
            return
        self._begin(now)
        if what == MOVE:
            self.address = parse_address(document["address"])
            self.membership.move(self.address)
        elif what == OFFLINE:
            self.outages.offline(begins)
            self._tell_link()
        else:
            self._vanish(document["way"] == PROPER, now)
        self._settle()
        self._end_input()

    @property
    def is_offline(self) -> bool:
        return self.outages.is_offline

    # ---- a Node

    def receive_datagrams(self, datagrams: Sequence[Datagram], now: int) -> None:
        if not self.outages:
            super().receive_datagrams(datagrams, now)
            return
        self.peers.now = now
        for datagram in self._passing(datagrams):
            super().receive_datagrams((datagram,), now)
            self._end_input()

    def handle_timer(self, now: int) -> None:
        super().handle_timer(now)
        self._end_input()

    def next_timer(self) -> int | None:
        return None if self.outages.silences(self.peers.now) else super().next_timer()

    def datagrams_to_send(self) -> Sequence[Datagram]:
        outgoing = super().datagrams_to_send()
        if not (self.outages or self.outages.has_output):
            return outgoing
        return self.outages.sent(self._passing(outgoing))

    # ---- inner

    def _passing(self, datagrams: Sequence[Datagram]) -> Sequence[Datagram]:
        config, place, _, _ = self._origin
        known = {at for name in config.server_names if (at := self.peers.address(name)) is not None}
        return self.outages.passing(datagrams, known.union(place.servers), self.peers.now)

    def _end_input(self) -> None:
        if self.outages:
            self.outages.keep(self._passing(super().datagrams_to_send()))

    def _tell_link(self) -> None:
        """Of a mobile broker: its clients, that it has gone offline or is back; and its neighbours, that it is back."""
        is_up = not self.outages.is_offline
        if self.notifying.carrying is not None:
            self.notifying.carrying.has_link = is_up
        if self.neighbours.own.is_mobile:
            for name in self.clients:
                self.peers.send(name, m.Link(is_up))
        if is_up:
            self.peers.channel.moved(self.peers.now)

    def _vanish(self, is_proper: bool, now: int) -> None:
        if is_proper and not self.outages.has_vanished:
            self._leave()
        self.outages.vanish(now + LEAVE_NS if is_proper else now)

    def _return(self, now: int) -> None:
        """It begins again, once no fault keeps it away."""
        self.outages.come_back()
        if self.outages.has_vanished:
            return
        self._past, events = self._counters(), self.station.log
        self._begin_life(self.peers.wall_offset_ns)
        self.station.log = events
        self.peers.now = now
        if self.notifying.carrying is not None:
            self.notifying.carrying.has_link = not self.outages.is_offline

    def _counters(self) -> Counter[str]:
        """Of all lives."""
        found = super()._counters()
        found.update(self._past)
        return found
