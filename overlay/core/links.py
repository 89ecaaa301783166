"""The link model: delay, loss and other impairments between two neighbours. Pure and seeded.

Counterparts: ``overlay.runtime.udp`` has one ``Shaper`` per neighbour and applies it to outgoing real datagrams;
``overlay.sim.network`` does the same in virtual time. A ``Link`` is an edge of a topology, with equal directions. A
``LinkShape`` describes one direction, and a ``Shaper`` applies it.

::

    data ─> partition? ─> loss? ─> queue full? ─> rate ─> corruption? ─> copies ─┬─> delay ± jitter (+ held back) ─>
                                                                               └─> each copy draws its own

Sizes are protocol bytes, without UDP and IP headers.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Any

from overlay.core.chance import Chance
from overlay.core.errors import InvalidSetting
from overlay.core.node import MILLISECOND, SECOND
from overlay.core.settings import SettingInfo, check, describe, setting

MAX_COPIES = 5
"""Maximum arrivals of a duplicated datagram. Faulty networks repeat a datagram a few times, not for ever."""


@dataclass(frozen=True, slots=True)
class LinkShape:
    """Impairments of one direction of a link. The default has none."""

    delay_ms: float = setting(
        0.0, unit="ms", low=0, high=60_000, help="One-way delay. It slows down each hop of a search."
    )
    jitter_ms: float = setting(
        0.0,
        unit="ms",
        low=0,
        high=60_000,
        help="Uniform variation of the delay in both directions; at most the delay. Jitter reorders datagrams.",
    )
    loss: float = setting(
        0.0, unit="fraction", low=0, high=1, help="Share of datagrams lost. Each lost hop costs a client's time-out."
    )
    loss_burst: float = setting(
        0.0,
        unit="datagrams",
        low=0,
        high=1000,
        help="Mean length of a loss burst (Gilbert model); 0 makes losses independent.",
    )
    loss_burst_limit: int = setting(
        0,
        unit="datagrams",
        low=0,
        high=1000,
        help="Maximum length of a loss burst, which makes the actual loss a little lower; 0 sets no limit.",
    )
    duplication: float = setting(
        0.0, unit="fraction", low=0, high=1, help=f"Probability of another copy, up to {MAX_COPIES} in all."
    )
    reordering: float = setting(
        0.0, unit="fraction", low=0, high=1, help="Share of datagrams held back, so that later ones overtake them."
    )
    reordering_ms: float = setting(50.0, unit="ms", low=0, high=60_000, help="How long a datagram is held back.")
    corruption: float = setting(
        0.0,
        unit="fraction",
        low=0,
        high=1,
        help="Share of copies with one bit flipped. UDP's checksum hides this on real networks; faulty hosts do not.",
    )
    rate_bytes_per_s: float = setting(
        0.0, unit="bytes/s", low=0, high=1e12, help="Capacity; 0 is unlimited. A low rate queues, then drops."
    )
    queue_bytes: int = setting(
        131_072,
        unit="bytes",
        low=65_507,
        high=1 << 30,
        help="Queue in front of the rate limit. A long queue trades loss for delay. At least one datagram fits.",
    )
    partition: bool = setting(False, unit="", help="The link is cut: no datagram passes.")

    def __post_init__(self) -> None:
        check(self)
        if self.jitter_ms > self.delay_ms:
            raise InvalidSetting("jitter_ms", f"{self.jitter_ms:g} ms is more than the delay of {self.delay_ms:g} ms")
        if 0 < self.loss_burst < 1:
            raise InvalidSetting("loss_burst", "a run of losses is at least 1 datagram; 0 makes losses independent")
        if self.loss_burst and self.loss < 1 and self.loss > self.loss_burst / (self.loss_burst + 1):
            highest = self.loss_burst / (self.loss_burst + 1)
            raise InvalidSetting("loss", f"runs of {self.loss_burst:g} on average cannot lose more than {highest:.3g}")

    @property
    def is_clear(self) -> bool:
        """Whether it has no effect, so that a driver can send directly."""
        return self == CLEAR


CLEAR = LinkShape()

# The link profiles of quic-interop-runner, against which QUIC's implementations are tested.
PROFILES: dict[str, LinkShape] = {
    "clear": CLEAR,
    "L1": LinkShape(delay_ms=15, loss=0.30, loss_burst_limit=3, rate_bytes_per_s=1_250_000),
    "L2": LinkShape(delay_ms=15, loss=0.02, loss_burst_limit=3, rate_bytes_per_s=1_250_000),
    "C1": LinkShape(delay_ms=15, corruption=0.30, rate_bytes_per_s=1_250_000),
    "C2": LinkShape(delay_ms=15, corruption=0.02, rate_bytes_per_s=1_250_000),
    "LR": LinkShape(delay_ms=750, rate_bytes_per_s=1_250_000),
}


LINK_SETTINGS: tuple[SettingInfo, ...] = tuple(info for info in describe(LinkShape) if info.name != "partition")
"""The settings of a link in a topology, in the order of ``Link``'s fields. Without ``partition``: a link that is always
cut is no link."""


@dataclass(frozen=True, slots=True)
class Link:
    """An edge of a topology: brokers ``a`` and ``b`` are neighbours, and both directions have the same shape.

    The other fields are those of ``LinkShape``. Unlike there, they are not checked, because an editor must be able to
    represent an invalid link in order to report its error (``topologies.check``).
    """

    a: int
    b: int
    delay_ms: float = 0.0
    jitter_ms: float = 0.0
    loss: float = 0.0
    loss_burst: float = 0.0
    loss_burst_limit: int = 0
    duplication: float = 0.0
    reordering: float = 0.0
    reordering_ms: float = 50.0
    corruption: float = 0.0
    rate_bytes_per_s: float = 0.0
    queue_bytes: int = 131_072

    @property
    def ends(self) -> tuple[int, int]:
        """The two brokers, the lower index first, so that both notations of a link are equal."""
        return (self.a, self.b) if self.a <= self.b else (self.b, self.a)

    def shape(self) -> LinkShape:
        """The shape of each direction. Raises ``InvalidSetting``."""
        values = _values(self)
        try:
            return _shape(*values)
        except TypeError:  # not hashable, so not a number; the check reports it
            return LinkShape(*values)

    def to_json(self) -> dict[str, Any]:
        """``a``, ``b``, delay, jitter, loss, and the other settings that are not the default; ``Link(**…)`` is equal.

        A configuration with plain links therefore keeps the hash that it had before the other settings existed.
        """
        document = {
            "a": self.a,
            "b": self.b,
            "delay_ms": self.delay_ms,
            "jitter_ms": self.jitter_ms,
            "loss": self.loss,
        }
        return document if _more(self) == _PLAIN else document | self.more()

    def more(self) -> dict[str, Any]:
        """The settings other than delay, jitter and loss that are not the default."""
        values = {info.name: getattr(self, info.name) for info in LINK_SETTINGS[3:]}
        return {info.name: values[info.name] for info in LINK_SETTINGS[3:] if values[info.name] != info.default}


_values = attrgetter(*(info.name for info in LINK_SETTINGS))
_more = attrgetter(*(info.name for info in LINK_SETTINGS[3:]))
_PLAIN = _more(Link(0, 0))


@lru_cache(maxsize=4096, typed=True)  # a large overlay has many links of few kinds, and a check is slow
def _shape(*values: Any) -> LinkShape:
    return LinkShape(*values)


class Shaper:
    """Applies the shape of one direction of a link. Faults cut and heal links by replacing ``shape`` at any time."""

    __slots__ = ("_free_at", "_lost_in_a_row", "_shape", "_works", "chance", "counts")

    def __init__(self, shape: LinkShape, chance: Chance) -> None:
        self.shape = shape
        self.chance = chance
        self.counts: Counter[str] = Counter()
        """Counters: ``partitioned lost overflowed corrupted duplicated held_back``."""
        self._free_at = 0
        self._lost_in_a_row = 0

    @property
    def shape(self) -> LinkShape:
        return self._shape

    @shape.setter
    def shape(self, shape: LinkShape) -> None:
        self._shape = shape
        self._works = not shape.is_clear  # cached: a hot path, in which comparing shapes would dominate

    def transmit(self, data: bytes, now: int) -> list[tuple[int, bytes]]:
        """The arrivals of ``data`` sent at ``now``, as (ns, never before ``now``; bytes); empty if it is lost."""
        if not self._works:
            return [(now, data)]
        shape = self._shape
        dropped = self._why_dropped(len(data), now)
        if dropped:
            self.counts[dropped] += 1
            return []
        sent_at = self._queue(len(data), now) if shape.rate_bytes_per_s else now
        if not (shape.duplication or shape.corruption):
            return [(sent_at + self._latency(), data)]
        return [(sent_at + self._latency(), self._corrupt(data)) for _ in range(self._copies())]

    def _why_dropped(self, size: int, now: int) -> str:
        shape = self._shape
        if shape.partition:
            return "partitioned"
        if shape.loss and self._is_lost():
            return "lost"
        if shape.rate_bytes_per_s:
            waiting = max(0, self._free_at - now) * shape.rate_bytes_per_s / SECOND
            return "overflowed" if waiting + size > shape.queue_bytes else ""
        return ""

    def _is_lost(self) -> bool:
        """The Gilbert model: ``loss`` is the long-run share and ``loss_burst`` the mean length of a burst."""
        loss, burst, limit = self._shape.loss, self._shape.loss_burst, self._shape.loss_burst_limit
        if limit and self._lost_in_a_row >= limit:
            probability = 0.0
        elif not burst or loss == 1:
            probability = loss
        else:
            probability = 1 - 1 / burst if self._lost_in_a_row else loss / (1 - loss) / burst
        is_lost = self.chance.random() < probability
        self._lost_in_a_row = self._lost_in_a_row + 1 if is_lost else 0
        return is_lost

    def _queue(self, size: int, now: int) -> int:
        """When the last byte leaves the sender, first in, first out."""
        self._free_at = max(now, self._free_at) + round(size * SECOND / self._shape.rate_bytes_per_s)
        return self._free_at

    def _copies(self) -> int:
        copies = 1
        while copies < MAX_COPIES and self._happens(self._shape.duplication, "duplicated"):
            copies += 1
        return copies

    def _latency(self) -> int:
        shape = self._shape
        latency = shape.delay_ms
        if shape.jitter_ms:
            latency += shape.jitter_ms * (2 * self.chance.random() - 1)
        if shape.reordering and self._happens(shape.reordering, "held_back"):
            latency += shape.reordering_ms
        return max(0, round(latency * MILLISECOND))

    def _corrupt(self, data: bytes) -> bytes:
        if not data or not self._happens(self._shape.corruption, "corrupted"):
            return data
        flipped = bytearray(data)
        bit = self.chance.randrange(8 * len(data))
        flipped[bit // 8] ^= 1 << bit % 8
        return bytes(flipped)

    def _happens(self, probability: float, name: str) -> bool:
        if not probability or self.chance.random() >= probability:
            return False
        self.counts[name] += 1
        return True
