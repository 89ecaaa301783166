"""Candidate addresses of a session: the peer was heard from there, or is said to be there. PROBEs prove it."""

from __future__ import annotations

from overlay.channel.endpoint import Endpoint
from overlay.channel.round_trip import FIRST, MOST
from overlay.channel.settings import MOST_PATHS
from overlay.channel.wire import PROBE, number
from overlay.core.addresses import Address
from overlay.core.node import NEVER, SECOND

PAUSE = SECOND
"""A candidate that was given up is probed again if it is heard so much later."""


class Path:
    __slots__ = ("address", "at", "count", "is_ordered", "last", "nonce", "wait")

    def __init__(self, address: Address, nonce: int, now: int, *, is_ordered: bool = False) -> None:
        self.address, self.nonce = address, nonce
        self.is_ordered = is_ordered
        """Whether the user said so; otherwise its PROBEs are answers to what came from there."""
        self.begin(now)

    def begin(self, now: int) -> None:
        self.count = 0
        """PROBEs sent."""
        self.at = now
        """Of the next one; ``NEVER`` if there is none."""
        self.last = now
        """Of the last one."""
        self.wait = FIRST

    def sent(self, now: int, most: int) -> None:
        """A PROBE was due: sent, or refused by the limits of answers."""
        self.count += 1
        self.last = now
        self.at = now + self.wait if self.count < most else NEVER
        self.wait = min(2 * self.wait, MOST)

    def may_begin_again(self, now: int) -> bool:
        return self.at == NEVER and now - self.last >= PAUSE


class Paths:
    """Those of one session: the newest four. Only sessions that had one have this object."""

    __slots__ = ("_endpoint", "_paths")

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._paths: list[Path] = []

    def __len__(self) -> int:
        return len(self._paths)

    def add(self, address: Address, *, is_ordered: bool = False) -> None:
        """Probe it, unless that is being done or was done a moment ago."""
        now = self._endpoint.station.now
        path = next((one for one in self._paths if one.address == address), None)
        if path is None:
            path = Path(address, self._endpoint.station.draw(), now, is_ordered=is_ordered)
            self._paths.append(path)
            if len(self._paths) > MOST_PATHS:
                del self._paths[0]
        elif is_ordered or path.may_begin_again(now):
            path.is_ordered |= is_ordered
            path.begin(now)
        if path.at <= now:
            self._probe(path)

    def prove(self, address: Address, nonce: int) -> bool:
        """Whether this is the nonce that was sent to this candidate, which is none any more then."""
        for path in self._paths:
            if path.address == address and path.nonce == nonce:
                self._paths.remove(path)
                return True
        return False

    def earliest(self) -> int:
        return min((path.at for path in self._paths), default=NEVER)

    def ring(self, until: int) -> None:
        """Probe those that are due by then; all of them with ``NEVER``."""
        for path in self._paths:
            if path.at <= until:
                self._probe(path)

    def _probe(self, path: Path) -> None:
        station = self._endpoint.station
        data = self._endpoint.datagram(PROBE, number(path.nonce))
        station.send(data, path.address) if path.is_ordered else station.answer(data, path.address)
        path.sent(station.now, station.limits.path_probes)
        self._endpoint.set_timer(path.at)
