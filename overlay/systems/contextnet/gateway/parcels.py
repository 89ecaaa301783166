"""Messages of the log on their way to nodes: how many records are, and when each is settled.

A record is in the pool until each node that it is for has acknowledged it, or has begun to repeat, which *parks* it in
the queue of its connection: a silent node keeps no others waiting.
"""

from __future__ import annotations

from overlay.log.topics import Record
from overlay.systems.contextnet.records.records import Message


class Parcel:
    """A record under way. ``data``: the bytes of its message, common to all nodes that it is for."""

    __slots__ = ("attempts", "data", "epoch", "errands", "fresh", "is_traced", "left", "message", "record")

    def __init__(self, record: Record, message: Message, data: bytes, epoch: int = 0, attempts: int = 0) -> None:
        self.record, self.message, self.data = record, message, data
        self.epoch, self.attempts = epoch, attempts
        self.errands = 0
        """Of them, those that the transport has."""
        self.fresh = 0
        """Of these, those in the pool."""
        self.left = 0
        """Nodes that have neither acknowledged it nor had it stored."""
        self.is_traced = False
        """Whether it is for one node, which is."""


class Errand:
    """A parcel for one node: the token of the transport."""

    __slots__ = ("is_fresh", "parcel")

    def __init__(self, parcel: Parcel) -> None:
        self.parcel = parcel
        self.is_fresh = False
        """Whether it is in the pool; otherwise it is parked."""


class Pool:
    def __init__(self, size: int) -> None:
        self.size = size
        self.used = 0
        """Parcels with errands in it."""
        self.parked = 0
        """Errands."""
        self.bytes = 0
        """Of parcels with errands."""

    @property
    def room(self) -> int:
        return max(0, self.size - self.used)

    def add(self, errand: Errand, is_parked: bool) -> None:
        """The transport has taken it."""
        parcel = errand.parcel
        if not parcel.errands:
            self.bytes += len(parcel.data)
        parcel.errands += 1
        if is_parked:
            self.parked += 1
            return
        errand.is_fresh = True
        self.used += not parcel.fresh
        parcel.fresh += 1

    def park(self, errand: Errand) -> None:
        """Its node has begun to repeat; one that is parked stays so."""
        if errand.is_fresh:
            self._leave(errand)
            self.parked += 1

    def end(self, errand: Errand) -> None:
        """It has been acknowledged or given up."""
        if errand.is_fresh:
            self._leave(errand)
        else:
            self.parked -= 1
        parcel = errand.parcel
        parcel.errands -= 1
        if not parcel.errands:
            self.bytes -= len(parcel.data)

    def _leave(self, errand: Errand) -> None:
        errand.is_fresh = False
        errand.parcel.fresh -= 1
        self.used -= not errand.parcel.fresh

    def check_invariants(self, errands: list[Errand]) -> None:
        """``errands``: all that the transport has."""
        assert self.parked == sum(not errand.is_fresh for errand in errands)
        parcels = {id(errand.parcel): errand.parcel for errand in errands}.values()
        assert self.used == sum(parcel.fresh > 0 for parcel in parcels)
        assert self.bytes == sum(len(parcel.data) for parcel in parcels)
        assert sum(parcel.errands for parcel in parcels) == len(errands)
