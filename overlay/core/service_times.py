"""The service-time model of simulated runs: measured processor time and memory of brokers and clients. Pure.

Counterparts: ``overlay.sim.served`` applies these times to simulated nodes; ``telemetry.calibration`` measures them on
live brokers and writes the file that ``overlay.runtime.calibrated`` reads.

There are two kinds of time, because they add up differently:

- *service*: a processor is busy, and other input waits. Service time is a sum over the messages received and sent, and
  grows with the entries that a linear table scans. After a sleep the caches of a process are cold, so it takes longer:
  by a constant (``cold``), and by an extra amount for each entry scanned.
- *delivery*: no processor is busy. It lasts from the end of one process's service until another process has read the
  datagram, and is mostly the wake-up time of a processor, which grows with the length of its sleep. Other
  processes also keep the processor awake. All variation is here: deliveries are drawn from the measured distribution,
  so that medians and tails match it.

::

    a timer comes due ── timer(idle) ──> client serves ── to_broker(idle) ──> broker serves ── to_client(idle) ──> …
                                                             broker serves ── between(idle) ──> broker serves

No figure is fitted to the results of runs or to the published table.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import Any, NamedTuple

from overlay.core.errors import InvalidSetting
from overlay.core.node import SECOND

MICROSECOND = 1_000
"""Nanoseconds."""

RANKS = (0.0, 0.02, 0.05, *(i / 20 for i in range(2, 19)), 0.95, 0.98, 0.99, 0.995, 1.0)
"""The ranks at which distributions are stored, with linear interpolation between them."""

FORMAT = 2
"""Version of the JSON document."""


@dataclass(frozen=True)
class Curve:
    """A number as a function of the length of a sleep, interpolated linearly between some known points."""

    idle_s: tuple[float, ...]
    """Ascending, in seconds. Before the first and after the last point the value is constant."""
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        _check_idle(self.idle_s)
        if len(self.values) != len(self.idle_s):
            raise InvalidSetting("values", f"must be {len(self.idle_s)} numbers, one for each idle time")
        _check_numbers("values", self.values)

    def at(self, idle_ns: int) -> float:
        low, high, share = _between(self.idle_s, idle_ns)
        return self.values[low] + (self.values[high] - self.values[low]) * share


@dataclass(frozen=True)
class Delays:
    """Distributions of delays in microseconds after sleeps of some lengths, interpolated linearly between them."""

    idle_s: tuple[float, ...]
    """As in ``Curve``."""
    quantiles_us: tuple[tuple[float, ...], ...]
    """For each idle time, the delay at each of ``RANKS``."""

    def __post_init__(self) -> None:
        _check_idle(self.idle_s)
        if len(self.quantiles_us) != len(self.idle_s):
            raise InvalidSetting("quantiles_us", f"must be {len(self.idle_s)} lists, one for each idle time")
        for row in self.quantiles_us:
            if len(row) != len(RANKS):
                raise InvalidSetting("quantiles_us", f"must have {len(RANKS)} values in each list")
            _check_numbers("quantiles_us", row)
            if list(row) != sorted(row):
                raise InvalidSetting("quantiles_us", "must not fall from one rank to the next")

    def ns(self, idle_ns: int, rank: float) -> int:
        """The delay at ``rank`` (0 to 1) after ``idle_ns`` of sleep, in nanoseconds."""
        low, high, share = _between(self.idle_s, idle_ns)
        place = min(bisect_right(RANKS, rank) - 1, len(RANKS) - 2)
        along = (rank - RANKS[place]) / (RANKS[place + 1] - RANKS[place])
        one = self.quantiles_us[low]
        value = one[place] + (one[place + 1] - one[place]) * along
        if share:
            other = self.quantiles_us[high]
            value += (other[place] + (other[place + 1] - other[place]) * along - value) * share
        return round(value * MICROSECOND)


@dataclass(frozen=True)
class Memory:
    """The memory of a forked broker, bytes. It is a model, independent of the memory of the simulated broker object."""

    idle_rss: float
    idle_pss: float
    idle_uss: float
    per_entry: float
    """Per entry, in addition to the bytes that the table counts."""
    per_pending: float
    """Per pending forwarded request."""

    def __post_init__(self) -> None:
        _check_numbers("memory", tuple(asdict(self).values()))

    def over_idle(self, entries: int, table_bytes: int, pending: int) -> int:
        """Bytes of a broker with this content, in addition to an idle one."""
        return round(table_bytes + self.per_entry * entries + self.per_pending * pending)


class Work(NamedTuple):
    """The work of a broker in one service: counts since the driver's last query."""

    received: Sequence[int]
    """Codes of the messages received."""
    sent: Sequence[int]
    moved_bytes: int
    """Bytes received and sent."""
    scanned: int = 0
    """Entries compared by a linear table."""
    matched: int = 0
    """Entries among these that matched the request; the table searches the latest valid one of them."""


@dataclass(frozen=True)
class ServiceModel:
    """The measurements of one machine. Costs in microseconds of one processor with warm caches."""

    batch_us: float
    """To wake up, receive all available datagrams and sleep again, independent of the datagrams."""
    received_us: Mapping[int, float]
    """To parse and handle a message, by code."""
    other_us: float
    """The same for messages whose code was not measured."""
    sent_us: float
    """To create and send a datagram."""
    forwarded_us: float
    """In addition, to forward a request: choosing a neighbour, and adding a pending entry."""
    kilobyte_us: float
    """Per 1,000 bytes received or sent."""
    scan_us: float
    """To search a linear table, in addition to its entries: the fast path for hits does not apply to it."""
    scanned_us: Curve
    """Per entry that a linear table compares; higher after a sleep, when no entry is in a cache."""
    matched_us: Curve
    """In addition, per matching entry."""
    client_sends_us: float
    """How long a client's process is busy with a request, after sending it."""
    client_receives_us: float
    """The same for a received datagram, after receiving it."""
    cold_us: Curve
    """Additional service time of a broker after a sleep."""
    to_broker: Delays
    """From the start of a client's work on a request to the broker's reading it, the sending included."""
    between: Delays
    to_client: Delays
    timer: Delays
    """The delay of a client's process behind its schedule, after a sleep."""
    memory: Memory
    measured: Mapping[str, Any] = field(default_factory=dict)
    """Provenance: ``name``, ``date``, ``machine``, ``code``, ``n`` and the precision."""

    def __post_init__(self) -> None:
        costs = {name: getattr(self, name) for name in _COSTS}
        for name, value in costs.items():
            _check_numbers(name, (value,))
        _check_numbers("received_us", tuple(self.received_us.values()))
        object.__setattr__(self, "received_us", {int(code): cost for code, cost in self.received_us.items()})

    def cost_ns(self, work: Work, idle_ns: int) -> int:
        """Processor time of ``work`` after a sleep of ``idle_ns``; at least 1 ns."""
        received, other = self.received_us, self.other_us
        cost = self.batch_us + self.sent_us * len(work.sent) + self.kilobyte_us * work.moved_bytes / 1000
        for code in work.received:
            cost += received.get(code, other)
        for code in work.sent:
            if code in FORWARDS:
                cost += self.forwarded_us
        if work.scanned:
            cost += (
                self.scan_us + self.scanned_us.at(idle_ns) * work.scanned + self.matched_us.at(idle_ns) * work.matched
            )
        return max(1, round((cost + self.cold_us.at(idle_ns)) * MICROSECOND))

    def to_json(self) -> dict[str, Any]:
        """The JSON document; ``from_json`` of it is equal."""
        document = {**asdict(self), "received_us": {str(code): cost for code, cost in self.received_us.items()}}
        return {"format": FORMAT, "ranks": list(RANKS), **_lists(document)}

    @classmethod
    def from_json(cls, document: Any) -> ServiceModel:
        """Raises ``InvalidSetting`` with the name of the first field that is invalid, missing or unknown."""
        if not isinstance(document, Mapping):
            raise InvalidSetting("calibration", "must be an object")
        if document.get("format") != FORMAT or document.get("ranks") != list(RANKS):
            raise InvalidSetting("format", f"must be {FORMAT}, with the ranks of this version; calibrate again")
        values = {name: value for name, value in document.items() if name not in ("format", "ranks")}
        for name in (*_COSTS, *_PARTS, "received_us", "measured"):
            if name not in values:
                raise InvalidSetting(name, "is missing")
        for name in values:
            if name not in (*_COSTS, *_PARTS, "received_us", "measured"):
                raise InvalidSetting(name[:60], "is unknown")
        for name in ("received_us", "measured"):
            if not isinstance(values[name], Mapping):
                raise InvalidSetting(name, "must be an object")
        if not all(str(code).isdigit() for code in values["received_us"]):
            raise InvalidSetting("received_us", "must have the codes of messages as names")
        return cls(**{**values, **{name: _part(name, kind, values[name]) for name, kind in _PARTS.items()}})


FORWARDS = frozenset({3, 32})
"""Brokers send requests only to forward them."""

_COSTS = (
    "batch_us",
    "other_us",
    "sent_us",
    "forwarded_us",
    "kilobyte_us",
    "scan_us",
    "client_sends_us",
    "client_receives_us",
)
_PARTS: dict[str, type] = {
    "scanned_us": Curve,
    "matched_us": Curve,
    "cold_us": Curve,
    "to_broker": Delays,
    "between": Delays,
    "to_client": Delays,
    "timer": Delays,
    "memory": Memory,
}


def _part(name: str, kind: type, value: Any) -> Any:
    try:
        return kind(**{key: _tuples(item) for key, item in value.items()})
    except InvalidSetting as error:
        raise InvalidSetting(f"{name}.{error.field}", error.sentence) from None
    except (TypeError, AttributeError):
        raise InvalidSetting(name, f"must have the fields of {kind.__name__} and no others") from None


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _lists(value: Any) -> Any:
    """With lists instead of tuples, for JSON."""
    if isinstance(value, Mapping):
        return {name: _lists(item) for name, item in value.items()}
    return [_lists(item) for item in value] if isinstance(value, tuple | list) else value


def _check_idle(idle_s: tuple[float, ...]) -> None:
    _check_numbers("idle_s", idle_s)
    if not idle_s or list(idle_s) != sorted(set(idle_s)):
        raise InvalidSetting("idle_s", "must be one or more times, ascending")


def _check_numbers(name: str, values: Sequence[Any]) -> None:
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < 0:
            raise InvalidSetting(name, f"must be made of numbers of at least 0, not {value!r:.40}")


def _between(grid_s: tuple[float, ...], idle_ns: int) -> tuple[int, int, float]:
    """The two grid points around a time, and its position between them (0 to 1).

    Linear, not logarithmic: logarithms differ between machines in the last bit, and digests must not.
    """
    idle = idle_ns / SECOND
    place = bisect_right(grid_s, idle)
    if place == 0:
        return 0, 0, 0.0
    if place == len(grid_s):
        return place - 1, place - 1, 0.0
    low = grid_s[place - 1]
    return place - 1, place, (idle - low) / (grid_s[place] - low)
