"""What becomes of a datagram between two addresses. Counterpart of the kernel and of ``overlay.runtime.udp``."""

from __future__ import annotations

from collections.abc import Iterable

from overlay.addresses import Address
from overlay.chance import Stream, derive_seed
from overlay.links import LinkShape, Shaper

LOCAL = LinkShape(delay_ms=0.05)
"""Between addresses that no link was laid between, such as a client and its broker."""


class Network:
    """Every ordered pair of addresses is a direction with its own shaper and its own stream of chance."""

    def __init__(self, seed: int, default: LinkShape = LOCAL) -> None:
        self._seed = seed
        self._default = default
        self._shapes: dict[tuple[Address, Address], LinkShape] = {}
        self._shapers: dict[tuple[Address, Address], Shaper] = {}
        self._islands: dict[Address, int] = {}
        self.separated = 0
        """Datagrams that a partition swallowed."""

    def lay(self, a: Address, b: Address, shape: LinkShape) -> None:
        """Shape both directions between ``a`` and ``b``, from now on. What is on its way already arrives."""
        self.lay_one_way(a, b, shape)
        self.lay_one_way(b, a, shape)

    def lay_one_way(self, source: Address, to: Address, shape: LinkShape) -> None:
        """Shape the direction from ``source`` to ``to`` alone."""
        self._shapes[source, to] = shape
        if (source, to) in self._shapers:
            self._shapers[source, to].shape = shape

    def separate(self, *islands: Iterable[Address]) -> None:
        """Nothing passes from one island to another, from now on; with addresses on none, everything does."""
        self._islands = {address: i for i, island in enumerate(islands) for address in island}

    def heal(self) -> None:
        self._islands = {}

    def transmit(self, data: bytes, source: Address, to: Address, now: int) -> list[tuple[int, bytes]]:
        """When (ns) and as what the datagram arrives; see ``Shaper.transmit``."""
        if self._islands.get(source, -1) != self._islands.get(to, -1) and {source, to} <= self._islands.keys():
            self.separated += 1
            return []
        return self._shaper((source, to)).transmit(data, now)

    def forget(self, address: Address) -> None:
        """An address that nobody will use again, so that a run with many short-lived ports stays small."""
        for pairs in (self._shapers, self._shapes):
            for pair in [pair for pair in pairs if address in pair]:
                del pairs[pair]

    def _shaper(self, pair: tuple[Address, Address]) -> Shaper:
        if pair not in self._shapers:
            chance = Stream(derive_seed(self._seed, "link", *pair))
            self._shapers[pair] = Shaper(self._shapes.get(pair, self._default), chance)
        return self._shapers[pair]
