"""What is asked of the page and of REST, and the table that both have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from brokerweb.systems.silbops.breakeven.charts import MEASURED_FILTERS, MOST_FILTERS, corrected, sizes
from brokerweb.systems.silbops.breakeven.observed import Observed
from overlay.core.engines import SIMULATED
from overlay.core.errors import InvalidSetting
from telemetry.formatting import counted, sig3
from telemetry.systems.silbops.costs import BreakEven, modelled, prototype
from telemetry.systems.silbops.studies.break_even import PRINTED_AT, PUBLISHED_AT

MODEL, PUBLISHED, CORRECTED, PROTOTYPE = "model", "published", "corrected", "prototype"


@dataclass(frozen=True, slots=True)
class Chosen:
    filters: float
    subscriptions: float

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> Chosen:
        """``filters`` and ``subscriptions``. Raises ``InvalidSetting``."""
        return cls(
            _number(parameters, "filters", 10, 1, MOST_FILTERS),
            _number(parameters, "subscriptions", PUBLISHED_AT, *sizes()),
        )

    def found(self) -> BreakEven:
        """By the model."""
        return modelled(self.filters, self.subscriptions)

    def sentence(self) -> str:
        found = self.found()
        where = f"With {_filters(self.filters)} of a subscriber and {self.subscriptions:,.0f} subscriptions"
        if found.value is None:
            return f"{where}, SilboPS costs less at any number of notifications per change."
        return f"{where}, SilboPS costs less below {sig3(found.value)} notifications per change, SIENA above."


def table(chosen: Chosen, runs: Iterable[Observed]) -> Iterator[dict[str, Any]]:
    """Rows of ``kind``, ``experiment`` (id, name), ``filters``, ``subscriptions`` and the break-even."""
    yield _row(MODEL, chosen.filters, chosen.subscriptions, chosen.found())
    yield _row(PUBLISHED, 1, PUBLISHED_AT, BreakEven(PRINTED_AT.number, None, None, 1))
    for filters in sorted({1, chosen.filters}):
        yield _row(CORRECTED, filters, PUBLISHED_AT, BreakEven(corrected(filters), None, None, 1))
    for one in prototype():
        for filters in MEASURED_FILTERS:
            yield _row(PROTOTYPE, filters, one.size, one.break_even(filters))
    for run in runs:
        kind = "simulated" if run.engine == SIMULATED else "live"
        yield _row(kind, run.filters, run.subscriptions, run.found, run.experiment, run.name)


def _row(
    kind: str, filters: float, size: float, found: BreakEven, experiment: str = "", name: str = ""
) -> dict[str, Any]:
    return {
        "kind": kind,
        "experiment": experiment,
        "name": name,
        "filters": filters,
        "subscriptions": round(size),
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "n": found.n,
    }


def _number(parameters: Mapping[str, str], name: str, default: float, low: float, high: float) -> float:
    text = parameters.get(name, "").strip()
    if not text:
        return default
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        raise InvalidSetting(name, f"must be a number, not {text!r:.40}") from None
    if not low <= value <= high:
        raise InvalidSetting(name, f"must be {low:,g} to {high:,g}, not {value:,g}")
    return value


def _filters(number: float) -> str:
    return counted(int(number), "filter") if number == int(number) else f"{sig3(number)} filters"
