"""What time and memory a broker and a client take, as measured: the service-time model of simulated runs. Pure.

Counterparts: ``overlay.sim.served`` lets simulated nodes take this time; ``telemetry.calibration`` measures it on live
brokers and writes it down, where ``overlay.runtime.calibrated`` finds it.

Two kinds of time are kept apart, because they add up differently:

- *service*: a processor is busy, and whatever else came waits. It is a sum over what was received and sent, and grows
  with the entries that a linear table scans; after a pause of its own a process finds its caches cold, and takes longer
  by a while (``cold``) and by more for each entry that it scans.
- *delivery*: nobody is busy. From the end of one process's service until another one has read the datagram, most of it
  the waking of a processor that slept, and the longer it slept the more; another process of the machine keeps it awake
  as well. What varies, varies here: a delivery is drawn from the measured distribution itself, so that medians and
  tails come out as they were.

::

    a timer comes due ── timer(idle) ──> client serves ── to_broker(idle) ──> broker serves ── to_client(idle) ──> …
                                                             broker serves ── between(idle) ──> broker serves

No figure here is fitted to anything that a run is to show, and none to the published table.
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
"""The ranks at which a distribution is kept; between two of them it is taken as even."""

FORMAT = 2
"""Of the JSON document."""


@dataclass(frozen=True)
class Curve:
    """A number that depends on how long a process slept, known at some of those times and even between them."""

    idle_s: tuple[float, ...]
    """Ascending, in seconds. Before the first and beyond the last the value stays."""
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
    """Delays in microseconds, as distributed after some times of sleep, and even between these."""

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
    """What a forked broker's memory is made of, bytes. A model: the simulated broker's own is not what is told."""

    idle_rss: float
    idle_pss: float
    idle_uss: float
    per_entry: float
    """Of an entry, beside the bytes that the table counts."""
    per_pending: float
    """Of a forwarded request that is remembered."""

    def __post_init__(self) -> None:
        _check_numbers("memory", tuple(asdict(self).values()))

    def over_idle(self, entries: int, table_bytes: int, pending: int) -> int:
        """Bytes that a broker with so much in it takes more than an idle one."""
        return round(table_bytes + self.per_entry * entries + self.per_pending * pending)


class Work(NamedTuple):
    """What a broker did in one service: counts since its driver looked last."""

    received: Sequence[int]
    """Codes of the messages."""
    sent: Sequence[int]
    moved_bytes: int
    """Received and sent."""
    scanned: int = 0
    """Entries that a linear table compared."""
    matched: int = 0
    """Of these, such as were about what was asked for; the latest valid of them was looked for."""


@dataclass(frozen=True)
class ServiceModel:
    """What was measured on one machine. Costs in microseconds of one processor with warm caches."""

    batch_us: float
    """To wake, receive what is there and go back to sleep, whatever it is."""
    received_us: Mapping[int, float]
    """To read and handle a message, by code."""
    other_us: float
    """The same of a message whose code was not measured."""
    sent_us: float
    """To make and send a datagram."""
    forwarded_us: float
    """On top of that, to send a request on: choosing whom, and remembering it."""
    kilobyte_us: float
    """Of 1,000 bytes received or sent."""
    scan_us: float
    """To search a linear table at all, beside what its entries cost: the short ways for a hit are closed to it."""
    scanned_us: Curve
    """Of an entry that a linear table compares: more after a sleep, when none of them is in a cache."""
    matched_us: Curve
    """On top of that, of one that is about what was asked for."""
    client_sends_us: float
    """How long a request keeps a client's process busy; it is sent first."""
    client_receives_us: float
    """How long a datagram does; it is heard first."""
    cold_us: Curve
    """By how much longer a broker serves after it slept."""
    to_broker: Delays
    """From a client's turning to a request, what it does until it has sent it included."""
    between: Delays
    to_client: Delays
    timer: Delays
    """How late a client's process is, when what is due comes after such a sleep."""
    memory: Memory
    measured: Mapping[str, Any] = field(default_factory=dict)
    """Where, when and how: ``name``, ``date``, ``machine``, ``code``, ``n`` and what is known of the precision."""

    def __post_init__(self) -> None:
        costs = {name: getattr(self, name) for name in _COSTS}
        for name, value in costs.items():
            _check_numbers(name, (value,))
        _check_numbers("received_us", tuple(self.received_us.values()))
        object.__setattr__(self, "received_us", {int(code): cost for code, cost in self.received_us.items()})

    def cost_ns(self, work: Work, idle_ns: int) -> int:
        """How long ``work`` keeps a broker's processor busy that slept for ``idle_ns`` before; at least 1 ns."""
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
        """The document again; ``from_json`` of it is equal."""
        document = {**asdict(self), "received_us": {str(code): cost for code, cost in self.received_us.items()}}
        return {"format": FORMAT, "ranks": list(RANKS), **_lists(document)}

    @classmethod
    def from_json(cls, document: Any) -> ServiceModel:
        """Raises ``InvalidSetting`` with the name of the first field that is wrong, missing or unknown."""
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
"""A broker sends a request only in order to pass it on."""

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
    """With lists for tuples, as JSON has them."""
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
    """The two places of the grid around a time, and how far it is from the first to the second.

    Straight, not along a logarithm: that is another one on another machine, by a bit, and digests must not be.
    """
    idle = idle_ns / SECOND
    place = bisect_right(grid_s, idle)
    if place == 0:
        return 0, 0, 0.0
    if place == len(grid_s):
        return place - 1, place - 1, 0.0
    low = grid_s[place - 1]
    return place - 1, place, (idle - low) / (grid_s[place] - low)
