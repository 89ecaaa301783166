"""The deadlines of a channel, in one heap with lazy deletion.

An owner has many deadlines and is in the heap once, at the earliest time at which it was ever to be looked at. A
deadline that moves to a later time costs nothing until the owner comes up; then it says when it is really due.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush, heapreplace

from overlay.core.node import NEVER


class Owner:
    """A class rather than a protocol: compiled code calls its methods directly."""

    __slots__ = ("queued_at", "rank")

    def __init__(self) -> None:
        self.rank = 0
        """Of those that are due at the same time, the lowest comes first. 0: it was never in the heap. Only
        ``Deadlines`` sets it, as the next one."""
        self.queued_at = NEVER
        """Of its valid entry in the heap; ``NEVER`` if there is none. Only ``Deadlines`` sets it."""

    def earliest(self) -> int:
        """Its next deadline (ns), or ``NEVER``."""
        raise NotImplementedError

    def ring(self, now: int) -> None:
        """Do all that is due."""
        raise NotImplementedError


class Deadlines:
    __slots__ = ("_count", "_entries", "_owners", "heap")

    def __init__(self) -> None:
        self.heap: list[tuple[int, int, int, Owner]] = []
        """Time, rank of the owner, number of the entry. Always the same list, so that a caller can see at once whether
        something may be due. Who comes first at one time depends on the owners alone, not on when a driver asks for
        the next deadline, which a replay does less often."""
        self._owners = self._entries = 0
        self._count = 0
        """Valid entries."""

    def set(self, owner: Owner, at: int) -> None:
        """``owner`` is due at ``at``, or earlier if it was before."""
        if at < owner.queued_at:
            self._count += owner.queued_at == NEVER
            owner.queued_at = at
            if not owner.rank:
                self._owners += 1
                owner.rank = self._owners
            self._entries += 1
            heappush(self.heap, (at, owner.rank, self._entries, owner))
            if len(self.heap) > 64 + 4 * self._count:
                self._sweep()

    def cancel(self, owner: Owner) -> None:
        if owner.queued_at != NEVER:
            self._count -= 1
            owner.queued_at = NEVER

    def next(self) -> int | None:
        """The earliest deadline (ns) of all owners."""
        heap = self.heap
        while heap:
            at, _, _, owner = heap[0]
            if at != owner.queued_at:
                heappop(heap)
                continue
            due = owner.earliest()
            if due == at:
                return at
            self._move(owner, due)
            if heap and heap[0][0] == due:  # still the first one, which need not be asked again
                return due
        return None

    def ring(self, now: int) -> None:
        """Let every owner that is due by ``now`` do its work."""
        if not self.heap or self.heap[0][0] > now:
            return
        while (at := self.next()) is not None and at <= now:
            owner = heappop(self.heap)[3]
            self.cancel(owner)
            owner.ring(now)
            self.set(owner, owner.earliest())

    def _move(self, owner: Owner, due: int) -> None:
        """The first entry of the heap is of this owner, which is due at another time."""
        if due == NEVER:
            heappop(self.heap)
            self.cancel(owner)
            return
        self._entries += 1
        owner.queued_at = due
        heapreplace(self.heap, (due, owner.rank, self._entries, owner))

    def _sweep(self) -> None:
        """Drop the entries that are not valid."""
        self.heap[:] = [entry for entry in self.heap if entry[0] == entry[3].queued_at]
        heapify(self.heap)

    def check_invariants(self, owners: list[Owner]) -> None:
        assert self._count == sum(owner.queued_at != NEVER for owner in owners)
        queued = {(at, id(owner)) for at, _, _, owner in self.heap}
        for owner in owners:
            due = owner.earliest()
            assert due == NEVER or owner.queued_at <= due, "it is looked at in time"
            assert owner.queued_at == NEVER or (owner.queued_at, id(owner)) in queued
