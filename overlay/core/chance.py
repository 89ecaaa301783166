"""Random streams, passed to cores as arguments. Live: ``random.Random``; simulated: a counter-based ``Stream``.

There is one stream per (seed, node, purpose), derived by hash. New uses of randomness therefore never shift the draws
of others, and 10^5 Mersenne states (2.5 kB each) are avoided. ``Stream`` is SplitMix64 (Steele, Lea, Flood: Fast
splittable pseudorandom number generators, OOPSLA 2014).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

from overlay.core.hashes import blake2b

T = TypeVar("T")
_MASK = (1 << 64) - 1
_PURPOSES = ("walks", "replicas", "members", "upkeep")


class Chance(Protocol):
    """The part of ``random.Random`` that cores may use."""

    def random(self) -> float: ...
    def randrange(self, stop: int, /) -> int: ...
    def sample(self, population: Sequence[T], k: int) -> list[T]: ...


def derive_seed(seed: int, *names: object) -> int:
    """The 64-bit seed of the stream called ``names`` under ``seed``: BLAKE2b over the decimal seed and the names."""
    text = "|".join([str(seed), *map(str, names)])
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


class Stream:
    """A ``Chance`` of one 64-bit counter. Equal seeds give equal draws on any machine and Python."""

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def _next(self) -> int:
        self._state = z = (self._state + 0x9E3779B97F4A7C15) & _MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def random(self) -> float:
        """Uniform in [0, 1), 53 bits."""
        return (self._next() >> 11) * 2.0**-53

    def randrange(self, stop: int, /) -> int:
        """Uniform in [0, stop). The bias of multiply-shift is below stop / 2**64, too small to be observed in any
        run."""
        if stop <= 0:
            raise ValueError("empty range for randrange()")
        return (self._next() * stop) >> 64

    def sample(self, population: Sequence[T], k: int) -> list[T]:
        """``k`` distinct positions of ``population``, in random order (partial Fisher-Yates)."""
        pool = list(population)
        if not 0 <= k <= len(pool):
            raise ValueError("sample larger than population or negative")
        for i in range(k):
            j = i + self.randrange(len(pool) - i)
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:k]


@dataclass(frozen=True, slots=True)
class Chances:
    """The random streams of a broker, by purpose."""

    walks: Chance
    """The next neighbour of a search."""
    replicas: Chance
    """The brokers that keep a replica."""
    members: Chance
    """Helpers for indirect probes, and the candidates to join."""
    upkeep: Chance
    """Targets of the structured arm's lookups that refresh its contacts."""
    secret: bytes = b""
    """Of one life of a live server, 32 bytes from the operating system: seeds can be guessed. Empty where it is
    simulated, so that everything follows from the seed."""

    @classmethod
    def streams(cls, seed: int) -> Self:
        """A ``Stream`` for each purpose."""
        walks, replicas, members, upkeep = (Stream(derive_seed(seed, purpose)) for purpose in _PURPOSES)
        return cls(walks, replicas, members, upkeep)

    @classmethod
    def of_one(cls, chance: Chance, secret: bytes = b"") -> Self:
        """One source for all purposes. Draws of a live broker are never repeated, and a Mersenne state takes 2.5 kB."""
        return cls(chance, chance, chance, chance, secret)
