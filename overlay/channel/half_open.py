"""HELLOs that were answered, and whose senders have not proven yet that the answer reached them."""

from __future__ import annotations

from typing import NamedTuple

from overlay.channel.deadlines import Owner
from overlay.channel.settings import HALF_OPEN, MOST_HALF_OPEN, MOST_HALF_OPEN_OF_ONE
from overlay.core.node import NEVER


class HalfOpen(NamedTuple):
    peer: bytes
    theirs: int
    """The peer's incarnation."""
    ours: int
    """Told to this incarnation of the peer and to no other."""
    room: int
    at: int
    """Of its last HELLO (ns)."""


class HalfOpens(Owner):
    """At most 1,024, four for one id; the oldest goes. Each is forgotten after 3 s."""

    def __init__(self) -> None:
        super().__init__()
        self._by_ours: dict[int, HalfOpen] = {}
        """The oldest first."""
        self._of_peer: dict[bytes, list[int]] = {}

    def __len__(self) -> int:
        return len(self._by_ours)

    def get(self, ours: int) -> HalfOpen | None:
        return self._by_ours.get(ours)

    def find(self, peer: bytes, theirs: int) -> HalfOpen | None:
        return next((one for one in self.of(peer) if one.theirs == theirs), None)

    def of(self, peer: bytes) -> list[HalfOpen]:
        """Of this id, the oldest first."""
        return [self._by_ours[ours] for ours in self._of_peer.get(peer, ())]

    def keep(self, one: HalfOpen) -> None:
        self._remove(one.ours)
        self._by_ours[one.ours] = one
        mine = self._of_peer.setdefault(one.peer, [])
        mine.append(one.ours)
        if len(mine) > MOST_HALF_OPEN_OF_ONE:
            self._remove(mine[0])
        elif len(self._by_ours) > MOST_HALF_OPEN:
            self._remove(next(iter(self._by_ours)))

    def forget(self, peer: bytes) -> None:
        """A session with this id is up."""
        for ours in tuple(self._of_peer.get(peer, ())):
            self._remove(ours)

    def earliest(self) -> int:
        for one in self._by_ours.values():
            return one.at + HALF_OPEN
        return NEVER

    def ring(self, now: int) -> None:
        while self.earliest() <= now:
            self._remove(next(iter(self._by_ours)))

    def _remove(self, ours: int) -> None:
        one = self._by_ours.pop(ours, None)
        if one is not None:
            mine = self._of_peer[one.peer]
            mine.remove(ours)
            if not mine:
                del self._of_peer[one.peer]

    def check_invariants(self) -> None:
        assert len(self._by_ours) <= MOST_HALF_OPEN
        assert all(0 < len(mine) <= MOST_HALF_OPEN_OF_ONE for mine in self._of_peer.values())
        assert sorted(ours for mine in self._of_peer.values() for ours in mine) == sorted(self._by_ours)
        times = [one.at for one in self._by_ours.values()]
        assert times == sorted(times)
