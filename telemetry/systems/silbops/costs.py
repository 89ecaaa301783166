"""What both operations of both arms cost, and the break-even that follows: X*, the notifications per change of context
at which SilboPS and SIENA cost the same. Pure, but for reading a table.

``reference/prototype.csv`` has what a prototype's broker needed in one process, with both arms in turn and
subscriptions found by their rarest equality: µs of processor time for each filter of a change in SIENA, for a change
in SilboPS, for a notification in SIENA, and the ratio of a notification in SilboPS to one in SIENA with its 95 %
interval. The model:

- a change of SIENA is in proportion to the filters of a subscriber (s), one of SilboPS does not depend on them;
- a notification depends on the number of subscriptions (N) only;
- between measured N, costs are power laws of N, and ratios are linear in its logarithm. Nothing is said beyond them.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import log
from pathlib import Path
from typing import Any, NamedTuple

from telemetry.statistics.intervals import SIGNED, interval

PROTOTYPE = Path(__file__).parent / "reference" / "prototype.csv"


class Costs(NamedTuple):
    """µs of each operation of one arm, with all messages of a change."""

    change: float
    notification: float


def inverse(ours: Costs, theirs: Costs) -> float:
    """1 / X*: changes per notification at which SilboPS (``ours``) and SIENA cost the same; 0 and less: SilboPS never
    costs more."""
    saved = theirs.change - ours.change
    return (ours.notification - theirs.notification) / saved if saved else 0.0


@dataclass(frozen=True, slots=True)
class BreakEven:
    """X*. Intervals are of 95 %, and those of 1 / X* turned back."""

    value: float | None
    """``None``: there is none, SilboPS never costs more."""
    low: float | None
    """``None``: none in all of the interval, or it is unknown."""
    high: float | None
    """``None`` with a ``low``: it has no upper end, as there may be none."""
    n: int
    """Replicates, or rounds."""

    @classmethod
    def of(cls, inverses: Sequence[float]) -> BreakEven:
        """Over replicates."""
        found = interval(inverses, SIGNED)
        return cls(_turned(found["value"]), _turned(found["high"]), _turned(found["low"]), found["n"])


def _turned(value: float | None) -> float | None:
    return None if value is None or value <= 0 else 1 / value


@dataclass(frozen=True, slots=True)
class Measured:
    """The prototype's costs with so many subscriptions."""

    size: float
    siena_filter_us: float
    silbops_change_us: float
    siena_notification_us: float
    ratio: float
    low: float | None
    high: float | None
    rounds: int

    def break_even(self, filters: float) -> BreakEven:
        value, low, high = (
            None if ratio is None else _turned(self._inverse(filters, ratio))
            for ratio in (self.ratio, self.high, self.low)
        )
        return BreakEven(value, low, high, self.rounds)

    def _inverse(self, filters: float, ratio: float) -> float:
        theirs = Costs(self.siena_filter_us * filters, self.siena_notification_us)
        return inverse(Costs(self.silbops_change_us, self.siena_notification_us * ratio), theirs)


@cache
def prototype() -> Sequence[Measured]:
    """By size."""
    with PROTOTYPE.open(newline="") as file:
        rows = [{name: float(text) if text else None for name, text in row.items()} for row in csv.DictReader(file)]
    return [
        Measured(size=row.pop("subscriptions") or 0, rounds=int(row.pop("rounds") or 0), **row)  # type: ignore[arg-type]
        for row in rows
    ]


def modelled(filters: float, size: float) -> BreakEven:
    """By the model. Raises ``ValueError`` for a size beyond the measured ones."""
    return _at(size).break_even(filters)


def _at(size: float) -> Measured:
    known = prototype()
    below = [one for one in known if one.size <= size]
    above = [one for one in known if one.size >= size]
    if not below or not above:
        raise ValueError(f"size {size:g}")
    a, b = below[-1], above[0]
    if a is b:
        return a
    share = log(size / a.size) / log(b.size / a.size)
    return Measured(
        size,
        _power(a.siena_filter_us, b.siena_filter_us, share),
        _power(a.silbops_change_us, b.silbops_change_us, share),
        _power(a.siena_notification_us, b.siena_notification_us, share),
        a.ratio + share * (b.ratio - a.ratio),
        None if a.low is None or b.low is None else a.low + share * (b.low - a.low),
        None if a.high is None or b.high is None else a.high + share * (b.high - a.high),
        min(a.rounds, b.rounds),
    )


def _power(a: float, b: float, share: float) -> float:
    return float(a ** (1 - share) * b**share)


def as_point(x: float, found: BreakEven) -> dict[str, Any]:
    """For charts; ``y`` is ``None`` where there is no break-even."""
    return {"x": x, "y": found.value, "low": found.low, "high": found.high, "n": found.n, "replicates": []}
