"""Faults of links while real brokers run: slow, lossy, cut or otherwise impaired.

The supervisor writes the active faults to a page of memory shared with the brokers that it
forks. Their shapers read it before sending a datagram. Signals would require handlers in every broker, and
would be delayed in busy ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from mmap import mmap

from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.core.links import LinkShape, Shaper
from overlay.deployment.deployment import Deployment
from overlay.faults.faults import Direction, Fault, are_separated, shape_under, unlinked

PENDING, ACTIVE, OVER = range(3)
"""The states of a fault."""


class SharedFaults:
    """The states of the faults of a deployment: a byte for each, written only by the supervisor."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        self.faults = faults
        self._page = mmap(-1, max(1, len(faults)))

    def tell(self, active: Iterable[int]) -> None:
        there = set(active)
        for index, state in enumerate(self.flags()):
            if index in there:
                self._page[index] = ACTIVE
            elif state == ACTIVE:
                self._page[index] = OVER

    def flags(self) -> bytes:
        return self._page[: len(self.faults)]

    def close(self) -> None:
        """For the supervisor; children keep the page until they end."""
        self._page.close()


class FaultyShaper(Shaper):
    """A direction between two brokers, with the shape of its link under the active faults."""

    __slots__ = ("_base", "_flags", "_is_linked", "_shared", "_way")

    def __init__(
        self, base: LinkShape, chance: Chance, way: Direction, shared: SharedFaults, *, is_linked: bool = True
    ) -> None:
        """``is_linked``: the topology has a link there, so that faults of all links affect it."""
        super().__init__(base, chance)
        self._base, self._way, self._shared, self._is_linked = base, way, shared, is_linked
        self._flags = b""

    def transmit(self, data: bytes, now: int) -> list[tuple[int, bytes]]:
        flags = self._shared.flags()
        if flags != self._flags:
            self._flags = flags
            self._take([fault for fault, state in zip(self._shared.faults, flags, strict=True) if state == ACTIVE])
        return super().transmit(data, now)

    def _take(self, faults: list[Fault]) -> None:
        shape = shape_under(self._base, self._way, faults, is_linked=self._is_linked)
        self.shape = replace(shape, partition=True) if are_separated(*self._way, faults) else shape


def faulty_directions(deployment: Deployment, broker: int, addresses: tuple[Address, ...]) -> dict[Address, Direction]:
    """The directions of a server that faults can affect, by links or partitions.

    Datagrams in other directions need no check.
    """
    linked = {other for link in deployment.graph.links if broker in link.ends for other in link.ends}
    others = {other for fault in deployment.faults for other in linked if fault.strikes((broker, other))}
    beyond = unlinked(deployment.faults, (link.ends for link in deployment.graph.links))
    others |= {
        to
        for source, to in beyond
        if source == broker and any(fault.strikes((broker, to), is_linked=False) for fault in deployment.faults)
    }
    for fault in deployment.faults:
        if any(broker in island for island in fault.islands):
            others.update(other for island in fault.islands if broker not in island for other in island)
    return {addresses[other]: (broker, other) for other in others - {broker}}
