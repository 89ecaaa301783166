"""The link model: what happens to a datagram between two neighbours. Pure and seeded.

Counterparts: ``overlay.runtime.udp`` holds one ``Shaper`` per neighbour and applies it to real datagrams on their way
out; ``overlay.sim.network`` does the same in virtual time. A ``Link`` is an edge of a topology and works both ways;
a ``LinkShape`` says what one direction does; a ``Shaper`` does it.

::

    data ─> partition? ─> loss? ─> queue full? ─> rate ─> corruption? ─> copies ─┬─> delay ± jitter (+ held back) ─>
                                                                               └─> each copy draws its own

Shaping counts a datagram's bytes as the protocol sees them, without UDP and IP headers.
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
"""A duplicated datagram arrives at most this often in all; faulty networks repeat a few times, not for ever."""


@dataclass(frozen=True, slots=True)
class LinkShape:
    """What one direction of a link does to datagrams. The default does nothing."""

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
        """Whether it leaves every datagram as it is, so that a driver may send straight away."""
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
"""What a link of a topology may be given, ``Link``'s fields in their order: one that is cut for good is no link."""


@dataclass(frozen=True, slots=True)
class Link:
    """An edge of a topology: broker ``a`` and broker ``b`` are neighbours, and both directions behave alike.

    The rest is what ``LinkShape`` says. Deliberately unchecked, unlike that: an editor must be able to hold a wrong
    link in order to say what is wrong with it (``topologies.check``).
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
        """The two brokers, the lower index first: equal for the same link written either way round."""
        return (self.a, self.b) if self.a <= self.b else (self.b, self.a)

    def shape(self) -> LinkShape:
        """What one direction does. Raises ``InvalidSetting``."""
        values = _values(self)
        try:
            return _shape(*values)
        except TypeError:  # something that cannot be looked up is no number, which the check says in a sentence
            return LinkShape(*values)

    def to_json(self) -> dict[str, Any]:
        """``a``, ``b``, delay, jitter and loss, and of the rest what is not as by default; ``Link(**…)`` is equal.

        So a configuration with plain links has the hash that it had when links knew no more than those.
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
        """What it does beside delay, jitter and loss: the settings that are not as by default."""
        values = {info.name: getattr(self, info.name) for info in LINK_SETTINGS[3:]}
        return {info.name: values[info.name] for info in LINK_SETTINGS[3:] if values[info.name] != info.default}


_values = attrgetter(*(info.name for info in LINK_SETTINGS))
_more = attrgetter(*(info.name for info in LINK_SETTINGS[3:]))
_PLAIN = _more(Link(0, 0))


@lru_cache(maxsize=4096, typed=True)  # a large overlay has many links and few kinds of them, and a check takes its time
def _shape(*values: Any) -> LinkShape:
    return LinkShape(*values)


class Shaper:
    """One direction of one link. ``shape`` may be replaced at any time, which is how a link is cut and healed."""

    __slots__ = ("_free_at", "_lost_in_a_row", "_shape", "_works", "chance", "counts")

    def __init__(self, shape: LinkShape, chance: Chance) -> None:
        self.shape = shape
        self.chance = chance
        self.counts: Counter[str] = Counter()
        """What was done so far: ``partitioned lost overflowed corrupted duplicated held_back``."""
        self._free_at = 0
        self._lost_in_a_row = 0

    @property
    def shape(self) -> LinkShape:
        return self._shape

    @shape.setter
    def shape(self, shape: LinkShape) -> None:
        self._shape = shape
        self._works = not shape.is_clear  # comparing shapes costs more than all the rest, and this is a hot path

    def transmit(self, data: bytes, now: int) -> list[tuple[int, bytes]]:
        """When (ns, never before ``now``) and as what ``data`` sent at ``now`` arrives; empty when it does not."""
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
        """Gilbert's two states, so that ``loss`` is the long-run share and ``loss_burst`` a run's mean length."""
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
        """When the last byte leaves the sender, first in first out."""
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
