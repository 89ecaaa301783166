"""The two charts of the break-even: over the filters of a subscriber, and over subscriptions. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from brokerweb.systems.silbops.breakeven.observed import Observed
from overlay.core.engines import SIMULATED
from telemetry.charts.charts import Chart, Series, axis, chart, point, series
from telemetry.formatting import sig3
from telemetry.systems.silbops.costs import BreakEven, as_point, modelled, prototype
from telemetry.systems.silbops.studies.break_even import CORRECTED_AT, PRINTED_AT, PUBLISHED_AT

Y = axis("Notifications per change", log=True)
STEPS = 48
"""Points of a curve: as many as are drawn as a line without marks."""
MOST_FILTERS = 50
MEASURED_FILTERS = (1, 10, MOST_FILTERS)
AS_PRINTED = "Printed: one message for a change"
CORRECTED = "Printed costs, two messages for each filter"
UNBOUNDED = (
    "Where an interval has no upper end, SilboPS may never cost more, and no whisker is drawn; the table says so."
)

OF_RUNS = "Runs may have other numbers of filters or subscriptions than the curve: the table has both."


def sizes() -> tuple[float, float]:
    """Fewest and most subscriptions of the model."""
    return prototype()[0].size, prototype()[-1].size


def corrected(filters: float) -> float:
    """X* from the printed costs, as they were, with two messages for each filter."""
    return CORRECTED_AT[1].number * filters


def over_filters(size: float, runs: Iterable[Observed]) -> Chart:
    xs = _steps(1, MOST_FILTERS)
    points = [as_point(s, one.break_even(s)) for one in prototype() if one.size == size for s in MEASURED_FILTERS]
    return chart(
        "over-filters",
        f"Break-even against filters of a subscriber, {size:,.0f} subscriptions",
        axis("Filters of a subscriber", log=True),
        Y,
        [
            _curve(f"Model, {size:,.0f} subscriptions", xs, lambda s: modelled(s, size)),
            series("Prototype, in process", "measured", "", _existing(points), line=False),
            *_of_runs(runs, lambda one: one.filters),
            _published(AS_PRINTED, [(1, PRINTED_AT.number)]),
            _published(CORRECTED, [(s, corrected(s)) for s in (1, 2, 5, 10, 20, MOST_FILTERS)]),
        ],
        [f"The printed costs are of {PUBLISHED_AT:,} subscriptions.", OF_RUNS, UNBOUNDED],
    )


def over_sizes(filters: float, runs: Iterable[Observed]) -> Chart:
    least, most = sizes()
    points = [as_point(one.size, one.break_even(filters)) for one in prototype() if filters in MEASURED_FILTERS]
    printed = [(PUBLISHED_AT, PRINTED_AT.number)] if filters == 1 else []
    said = f"{sig3(filters)} filter{'' if filters == 1 else 's'}"
    return chart(
        "over-subscriptions",
        f"Break-even against subscriptions, {said} of a subscriber",
        axis("Subscriptions", log=True),
        Y,
        [
            _curve(f"Model, {said}", _steps(least, most), lambda n: modelled(filters, n)),
            series("Prototype, in process", "measured", "", _existing(points), line=False),
            *_of_runs(runs, lambda one: one.subscriptions),
            _published(AS_PRINTED, printed),
            _published(CORRECTED, [(PUBLISHED_AT, corrected(filters))]),
        ],
        ["A gap: there is no break-even, SilboPS never costs more.", OF_RUNS, UNBOUNDED],
    )


def _curve(name: str, xs: Sequence[float], of: Callable[[float], BreakEven]) -> Series:
    found = [(x, of(x)) for x in xs]
    return series(name, "measured", "", [point(x, one.value, n=one.n) for x, one in found])


def _of_runs(runs: Iterable[Observed], x: Callable[[Observed], float]) -> list[Series]:
    found: dict[bool, list[dict[str, Any]]] = {}
    for one in runs:
        found.setdefault(one.engine == SIMULATED, []).append(as_point(x(one), one.found))
    return [
        series(
            "Runs, times charged by the simulator" if is_simulated else "Live runs",
            "simulated" if is_simulated else "measured",
            "",
            sorted(_existing(points), key=lambda one: one["x"]),
            line=False,
        )
        for is_simulated, points in sorted(found.items())
    ]


def _published(name: str, points: Sequence[tuple[float, float]]) -> Series:
    return series(name, "published", "", [point(x, y) for x, y in points])


def _existing(points: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one for one in points if one["y"] is not None]


def _steps(low: float, high: float) -> list[float]:
    """Evenly on a logarithmic axis."""
    return [float(f"{low * (high / low) ** (at / (STEPS - 1)):.4g}") for at in range(STEPS)]
