"""The load of a server, from its ticks: over the last second, and after measuring over that complete phase. Pure.

A process writes a last tick when it ends, possibly a tenth of a second after the previous one. Such a short interval is
no basis for a rate per second, so rates are over full seconds or the complete measuring phase.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from overlay.journal.counters import growth
from overlay.journal.facts import Tick
from telemetry.summary.series import SECOND_US
from telemetry.systems.contract import Counters

WHOLE_US = SECOND_US * 9 // 10
"""Minimum interval of a rate; live processes write ticks every second, within some milliseconds."""
KEPT = 8
"""Ticks kept until the start and end of measuring are known from another journal, some seconds later at most."""

Load = dict[str, float | None]


@dataclass(frozen=True, slots=True)
class _Stand:
    """The cumulative values of a broker at one of its ticks, over all its lives."""

    at_us: int
    counts: Mapping[str, int]
    cpu_us: int | None
    """``None`` if unknown."""
    gauges: Mapping[str, int]


def rates(counts: Mapping[str, int], elapsed_s: float, shown: Counters) -> Load:
    """Rates of counters that grew by ``counts``: ``NAME_per_s`` of those shown, and ``load_per_s``."""
    per_s = {name: count / elapsed_s for name, count in counts.items()}
    received = sum(rate for name, rate in per_s.items() if name.startswith("in_"))
    return {
        "load_per_s": sum(per_s.get(name, 0.0) for name in shown.load) if shown.load else received,
        "received_per_s": received,
        "sent_per_s": sum(rate for name, rate in per_s.items() if name.startswith("out_")),
        **{f"{name}_per_s": per_s.get(name, 0.0) for name in (*shown.load, *shown.rates)},
    }


def totals(loads: Sequence[Load], private_bytes: Iterable[float | None], shown: Counters) -> Load:
    """Sums over all servers; ``None`` where nothing is known."""
    names = ("load_per_s", "cores", *shown.totals)
    found = {name: _sum(load.get(name) for load in loads) for name in names}
    return {**found, "private_bytes": _sum(private_bytes)}


def _sum(values: Iterable[float | None]) -> float | None:
    """Sum of the known values; ``None`` if there are none."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


class ServerLoad:
    """Follows the ticks of one server."""

    def __init__(self, shown: Counters, since_us: int | None = None) -> None:
        """``since_us`` is the start of measuring, if known."""
        self._shown = shown
        self._since_us = since_us
        self._until_us: int | None = None
        self._begin: _Stand | None = None
        """The last tick before measuring, or the first one if the broker started later."""
        self._stands: deque[_Stand] = deque(maxlen=KEPT)
        self._counts: Counter[str] = Counter()
        self._cpu_us = 0

    def take(self, before: Tick | None, tick: Tick, grown: Mapping[str, int]) -> None:
        """Add a tick, with its predecessor and the growth of the counters."""
        if self._until_us is not None and self._stands and self._stands[-1].at_us >= self._until_us:
            return  # a broker waiting for its end has no load
        self._counts.update(grown)
        self._cpu_us += growth([before.cpu_us if before else 0, tick.cpu_us])
        gauges = {name: tick.counters[name] for name in self._shown.gauges if name in tick.counters}
        stand = _Stand(tick.at_us, self._counts.copy(), self._cpu_us if tick.cpu_us else None, gauges)
        self._stands.append(stand)
        if self._since_us is not None and (self._begin is None or tick.at_us <= self._since_us):
            self._begin = stand

    def measuring_began(self, at_us: int) -> None:
        self._since_us = at_us
        earlier = [stand for stand in self._stands if stand.at_us <= at_us]
        self._begin = next(iter([*earlier[-1:], *self._stands]), None)

    def measuring_ended(self, at_us: int) -> None:
        self._until_us = at_us

    def told(self) -> Load:
        """Rates per second, cores and gauges; empty if less than a second is known."""
        if self._begin is not None and self._until_us is not None:
            return self._of_measuring(self._begin, self._until_us)
        stands = [stand for stand in self._stands if self._until_us is None or stand.at_us <= self._until_us]
        if not stands:
            return {}
        earlier = [stand for stand in stands if stand.at_us <= stands[-1].at_us - WHOLE_US]
        return _between(earlier[-1], stands[-1], self._shown) if earlier else {}

    def _of_measuring(self, begin: _Stand, until_us: int) -> Load:
        """Up to the last tick in the phase, or the first one after it if that is less than a second."""
        later = [stand for stand in self._stands if stand.at_us >= begin.at_us + WHOLE_US]
        inside = [stand for stand in later if stand.at_us <= until_us]
        end = next(iter([*inside[-1:], *later]), None)
        return _between(begin, end, self._shown) if end else {}


def _between(begin: _Stand, end: _Stand, shown: Counters) -> Load:
    elapsed_us = end.at_us - begin.at_us
    counts = {name: end.counts[name] - begin.counts.get(name, 0) for name in end.counts}
    return {
        "cores": None if begin.cpu_us is None or end.cpu_us is None else (end.cpu_us - begin.cpu_us) / elapsed_us,
        **rates(counts, elapsed_us / SECOND_US, shown),
        **end.gauges,
    }
