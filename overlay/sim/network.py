"""What becomes of a datagram between two addresses. Counterpart of the kernel and of ``overlay.runtime.udp``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from overlay.core.addresses import Address
from overlay.core.chance import Stream, derive_seed
from overlay.core.links import LinkShape, Shaper
from overlay.core.node import MILLISECOND

LOCAL = LinkShape(delay_ms=0.05)
"""Between addresses that no link was laid between, such as a client and its broker."""

Direction = int | Shaper
"""A link that only delays is its delay (ns), which takes no chance and a tenth of the memory."""


class Network:
    """Every ordered pair of addresses is a direction of its own, and has its own stream of chance if it needs one."""

    def __init__(self, seed: int, default: LinkShape = LOCAL) -> None:
        self._seed = seed
        self._default = default
        self._default_delay = _delay_of(default)
        self._directions: dict[Address, dict[Address, Direction]] = {}
        """By source and destination. What is here one way is here the other way, too."""
        self._partitions: list[dict[Address, int]] = []
        """Of each partition that there is, the island of every address that is on one."""
        self.separated = 0
        """Datagrams that a partition swallowed."""

    def lay(self, a: Address, b: Address, shape: LinkShape) -> None:
        """Shape both directions between ``a`` and ``b``, from now on. What is on its way already arrives."""
        self.lay_one_way(a, b, shape)
        self.lay_one_way(b, a, shape)

    def lay_one_way(self, source: Address, to: Address, shape: LinkShape) -> None:
        """Shape the direction from ``source`` to ``to`` alone."""
        self._shape(source, to, shape)
        if source not in self._directions.get(to, ()):
            self._shape(to, source, self._default)

    def separate(self, *islands: Iterable[Address]) -> None:
        """Nothing passes from one island to another, from now on; with addresses on none, everything does."""
        self.divide([islands])

    def divide(self, partitions: Iterable[Iterable[Iterable[Address]]]) -> None:
        """Several partitions at once, in place of those that there are: nothing passes that any of them forbids."""
        self._partitions = [
            {address: i for i, island in enumerate(islands) for address in island} for islands in partitions
        ]

    def heal(self) -> None:
        self._partitions = []

    def transmit(self, data: bytes, source: Address, to: Address, now: int) -> Sequence[tuple[int, bytes]]:
        """When (ns) and as what the datagram arrives; see ``Shaper.transmit``."""
        if self._partitions and self._is_separated(source, to):
            self.separated += 1
            return ()
        directions = self._directions.get(source)
        direction = self._default_delay if directions is None else directions.get(to, self._default_delay)
        if direction is None:
            self.lay(source, to, self._default)
            direction = self._directions[source][to]
        if isinstance(direction, int):
            return ((now + direction, data),)
        return direction.transmit(data, now)

    @property
    def pairs(self) -> int:
        """Directions that something is known of."""
        return sum(map(len, self._directions.values()))

    def forget(self, address: Address) -> None:
        """An address that nobody will use again, so that a run with many short-lived ports stays small."""
        for other in self._directions.pop(address, ()):
            del self._directions[other][address]

    def _is_separated(self, source: Address, to: Address) -> bool:
        return any(
            source in islands and to in islands and islands[source] != islands[to] for islands in self._partitions
        )

    def _shape(self, source: Address, to: Address, shape: LinkShape) -> None:
        directions = self._directions.setdefault(source, {})
        known, delay = directions.get(to), _delay_of(shape)
        if isinstance(known, Shaper):
            known.shape = shape
        elif delay is None:
            directions[to] = Shaper(shape, Stream(derive_seed(self._seed, "link", source, to)))
        else:
            directions[to] = delay


@lru_cache(maxsize=4096)
def _delay_of(shape: LinkShape) -> int | None:
    """The delay (ns) of a shape that does nothing else."""
    return round(shape.delay_ms * MILLISECOND) if shape == replace(_PLAIN, delay_ms=shape.delay_ms) else None


_PLAIN = LinkShape()
