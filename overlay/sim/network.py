"""The simulated network between addresses. Counterpart of the kernel and of ``overlay.runtime.udp``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from overlay.core.addresses import Address
from overlay.core.chance import Stream, derive_seed
from overlay.core.link_shapes import laid_over
from overlay.core.links import LinkShape, Shaper
from overlay.core.node import MILLISECOND

LOCAL = LinkShape(delay_ms=0.05)
"""The shape between addresses without a link, such as a client and its broker."""

Direction = int | Shaper
"""A link with only a delay is stored as the delay (ns), without a random stream and in a tenth of the memory."""


class Network:
    """Every ordered pair of addresses is a separate direction, with its own random stream if needed."""

    def __init__(self, seed: int, default: LinkShape = LOCAL) -> None:
        self._seed = seed
        self._default = default
        self._default_delay = _delay_of(default)
        self._directions: dict[Address, dict[Address, Direction]] = {}
        """By source and destination. Both directions of a pair are always present."""
        self._partitions: list[dict[Address, int]] = []
        """For each active partition: the island of every address that is on one."""
        self.separated = 0
        """Datagrams lost by partitions."""

    def lay(self, a: Address, b: Address, shape: LinkShape) -> None:
        """Set the shape of both directions between ``a`` and ``b``. Datagrams in transit still arrive."""
        self.lay_one_way(a, b, shape)
        self.lay_one_way(b, a, shape)

    def lay_one_way(self, source: Address, to: Address, shape: LinkShape) -> None:
        """Set the shape of the direction from ``source`` to ``to`` only."""
        self._shape(source, to, shape)
        if source not in self._directions.get(to, ()):
            self._shape(to, source, self._default)

    def separate(self, *islands: Iterable[Address]) -> None:
        """Start a partition: no datagrams between islands. Addresses on no island are not affected."""
        self.divide([islands])

    def divide(self, partitions: Iterable[Iterable[Iterable[Address]]]) -> None:
        """Replace the partitions by several ones: a datagram passes only if none of them forbids it."""
        self._partitions = [
            {address: i for i, island in enumerate(islands) for address in island} for islands in partitions
        ]

    def heal(self) -> None:
        self._partitions = []

    def transmit(self, data: bytes, source: Address, to: Address, now: int) -> Sequence[tuple[int, bytes]]:
        """The arrivals of a datagram as (ns, bytes); see ``Shaper.transmit``."""
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
        """The number of known directions."""
        return sum(map(len, self._directions.values()))

    def forget(self, address: Address) -> None:
        """Forget an address that is not used again, so that runs with many short-lived ports stay small."""
        for other in self._directions.pop(address, ()):
            del self._directions[other][address]

    def rename(self, old: Address, new: Address) -> None:
        """The node at ``old`` has moved to ``new``, with its links and partitions. What is sent to ``old`` is lost."""
        for other, direction in self._directions.pop(old, {}).items():
            self._directions.setdefault(new, {})[other] = direction
            self._directions[other][new] = self._directions[other].pop(old)
        for islands in self._partitions:
            if old in islands:
                islands[new] = islands.pop(old)

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


class ShapedNetwork(Network):
    """A network in which some pairs of hosts, such as a client and a server, have a shape of their own."""

    def __init__(self, seed: int, default: LinkShape, shape_between: Callable[[str, str], LinkShape | None]) -> None:
        """``shape_between`` is called once for each source and destination; ``None`` for pairs without one."""
        super().__init__(seed, default)
        self._shape_between = shape_between
        self._hosts: dict[tuple[str, str], Shaper | None] = {}

    def transmit(self, data: bytes, source: Address, to: Address, now: int) -> Sequence[tuple[int, bytes]]:
        hosts = source[0], to[0]
        if hosts not in self._hosts:
            self._hosts[hosts] = self._make_shaper(*hosts)
        shaper = self._hosts[hosts]
        return super().transmit(data, source, to, now) if shaper is None else shaper.transmit(data, now)

    def _make_shaper(self, source: str, to: str) -> Shaper | None:
        shape = self._shape_between(source, to)
        if shape is None or shape.is_clear:
            return None
        return Shaper(_laid_over(self._default, shape), Stream(derive_seed(self._seed, "link", source, to)))


@lru_cache(maxsize=4096)
def _laid_over(base: LinkShape, shape: LinkShape) -> LinkShape:
    return laid_over(base, [shape])


@lru_cache(maxsize=4096)
def _delay_of(shape: LinkShape) -> int | None:
    """The delay (ns) of a shape without other effects, otherwise ``None``."""
    return round(shape.delay_ms * MILLISECOND) if shape == replace(_PLAIN, delay_ms=shape.delay_ms) else None


_PLAIN = LinkShape()
