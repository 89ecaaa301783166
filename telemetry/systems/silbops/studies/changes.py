"""E2.1, E2.2 and E2.3, Figs. 7 to 9: what a change of context costs a broker, in process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import fmean, median

from overlay.systems.silbops.names import SIENA, SILBOPS
from overlay.systems.silbops.workload import ALL, ONE
from telemetry.charts.charts import axis
from telemetry.statistics.lines import Line, line
from telemetry.studies.criteria import Intervals, Shown, all_of, at_least, at_most, between
from telemetry.studies.judging import Result
from telemetry.studies.study import Claim, Plot, Quantities, Quantity, Rows, Study, X, where
from telemetry.systems.silbops.in_process.measuring import measured
from telemetry.systems.silbops.published import DERIVED, PRINTED, find, slips_at
from telemetry.systems.silbops.studies.cells import ARMS, CHANGE, DEFINITIONS, IN_PROCESS, PROFILES, WRITTEN, by
from telemetry.systems.silbops.studies.telling import of_claim

TIME_AXIS = axis("Broker time per change", "µs", log=True)
RATIO = "SIENA / SilboPS"
SCOPES = {ONE: "one filter of a subscriber", ALL: "all filters of a subscriber"}

# ---- E2.1


def _cost(rows: Rows, profile: str, scope: str) -> Quantities:
    """The ratio, over all numbers of changing connections, and how far each arm is from flat."""
    of = where(rows, profile=profile, change_scope=scope)
    times = {arm: [*by(where(of, arm=arm), "changing_subscribers", CHANGE).values()] for arm in ARMS}
    uneven = {f"{arm}: (max − min) / median": (max(found) - min(found)) / median(found) for arm, found in times.items()}
    return {RATIO: fmean(times[SIENA]) / fmean(times[SILBOPS]), **uneven}


def _is_dear_and_flat(figures: Intervals) -> tuple[Shown, Shown]:
    ratio, uneven = figures[RATIO], [one for name, one in figures.items() if name != RATIO]
    criterion = all_of([between(ratio, 316, 3_162), *(at_most(one, 0.2) for one in uneven)])
    return criterion, all_of([at_least(ratio, 10), *(at_most(one, 0.5) for one in uneven)])


ORDERS = find(PRINTED, "gain", "SIENA vs SilboPS")


def _of_cost(profile: str, scope: str) -> Claim:
    return Claim(
        f"cost-{profile}-{scope}",
        f"A change costs SIENA three orders of magnitude more, both a fixed amount for each connection "
        f"({SCOPES[scope]}, {PROFILES[profile]}).",
        "SIENA / SilboPS is in [316, 3,162], and the times of each arm over numbers of connections differ by at most "
        "0.2 of their median.",
        "It is at least 10, and they differ by at most 0.5.",
        partial(_cost, profile=profile, scope=scope),
        _is_dear_and_flat,
        WRITTEN,
        published={RATIO: 10**ORDERS.number},
        source=ORDERS.source,
    )


def _by_connections(rows: Rows, scope: str) -> Mapping[tuple[str, X], Quantity]:
    return _by_arm(where(rows, change_scope=scope), "changing_subscribers")


def _by_arm(rows: Rows, field: str) -> Mapping[tuple[str, X], Quantity]:
    return {
        (f"{row.get('arm')}, {PROFILES[row.get('profile')]}", float(row.get(field))): row.measures[CHANGE]
        for row in rows
    }


def _tell_cost(result: Result) -> Sequence[str]:
    return [
        f"{PROFILES[profile].capitalize()}, {SCOPES[scope]}: a change costs SIENA {found[RATIO]:,.3g} times as much."
        for profile in PROFILES
        for scope in SCOPES
        if RATIO in (found := of_claim(result, f"cost-{profile}-{scope}"))
    ]


COST_STUDY = Study(
    "E2.1",
    "Cost of a change",
    "How much less does a broker do for a change of context that is apart from subscriptions?",
    DEFINITIONS / "change-cost.yaml",
    tuple(
        Plot(
            f"7-{scope}",
            f"Broker time per change, {name}",
            axis("Changing connections"),
            TIME_AXIS,
            partial(_by_connections, scope=scope),
        )
        for scope, name in SCOPES.items()
    ),
    tuple(_of_cost(profile, scope) for profile in PROFILES for scope in SCOPES),
    names=("silbops-change-cost",),
    says="Both arms have a fixed cost for each connection; SilboPS gains three orders of magnitude.",
    sources=(ORDERS.source, find(DERIVED, "ratio of a change", "one filter").source),
    limits=(IN_PROCESS, *slips_at("187", "193", "255")),
    tell=_tell_cost,
    measure=measured,
)

# ---- E2.2

TENFOLD = 10


def _line(rows: Rows) -> Line:
    """The time of all changes, µs, by their number."""
    return line([(changes, changes * each) for changes, each in by(rows, "changes", CHANGE).items()])


def _load(rows: Rows, profile: str) -> Quantities:
    """R² for each number of subscriptions and subscribers, and the slope with most subscriptions / with a tenth.

    Raises ``KeyError``.
    """
    of = where(rows, profile=profile)
    shapes = sorted({(row.get("subscriptions"), row.get("subscribers")) for row in of})
    if not shapes:
        raise KeyError("subscriptions")
    lines = {(size, of_whom): _line(where(of, subscriptions=size, subscribers=of_whom)) for size, of_whom in shapes}
    most = shapes[-1][0]
    slopes: dict[int, list[float]] = {size: [] for size in (most, most // TENFOLD)}
    for (size, _), one in lines.items():
        slopes.get(size, []).append(one.slope)
    fits = {f"R² at {size:,}, {of_whom:,} connections": one.fit for (size, of_whom), one in lines.items()}
    if not slopes[most // TENFOLD]:
        raise KeyError("subscriptions")
    ratio = fmean(slopes[most]) / fmean(slopes[most // TENFOLD])
    return {f"slope at {most:,} / at {most // TENFOLD:,}": ratio, **fits}


def _is_proportional(figures: Intervals) -> tuple[Shown, Shown]:
    fits = all_of(at_least(one, 0.98) for name, one in figures.items() if name.startswith("R²"))
    (slope,) = (one for name, one in figures.items() if name.startswith("slope"))
    return all_of([fits, between(slope, 0.8, 1.25)]), all_of([fits, at_most(slope, 2)])


PROPORTIONAL = find(PRINTED, "dependence of time on changes")
LEAST_COST = find(PRINTED, "cost (upper bound)")


def _of_load(profile: str) -> Claim:
    return Claim(
        f"load-{profile}",
        "The time of changes is in proportion to their number, and depends on neither connections nor subscriptions "
        f"({PROFILES[profile]}).",
        "R² of time on changes is at least 0.98 at each number of subscriptions, and the slope with most of them, with "
        "100,000 at the paper's scale, is 0.8 to 1.25 times that with a tenth.",
        "The same R², and the slope is at most twice that with a tenth.",
        partial(_load, profile=profile),
        _is_proportional,
        WRITTEN,
        source=PROPORTIONAL.source,
    )


def _by_subscriptions(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    shapes = {(row.get("profile"), row.get("subscriptions"), row.get("subscribers")) for row in rows}
    found: dict[tuple[str, X], list[float]] = {}
    for profile, size, of_whom in sorted(shapes):
        slope = _line(where(rows, profile=profile, subscriptions=size, subscribers=of_whom)).slope
        found.setdefault((PROFILES[profile], float(size)), []).append(slope)
    return {place: fmean(slopes) for place, slopes in found.items()}


LOAD_STUDY = Study(
    "E2.2",
    "Changes by subscriptions",
    "Does a change of context cost more with more subscriptions or connections?",
    DEFINITIONS / "change-load.yaml",
    (
        Plot(
            "8",
            "Slope of time on changes",
            axis("Subscriptions", log=True),
            axis("Slope", "µs", zero=True),
            _by_subscriptions,
        ),
    ),
    tuple(_of_load(profile) for profile in PROFILES),
    names=("silbops-change-load",),
    says=f"The time is proportional to changes, at most {LEAST_COST.value} µs for each, and depends on neither the "
    "number of connections nor of subscriptions.",
    sources=(PROPORTIONAL.source, LEAST_COST.source),
    limits=(IN_PROCESS, *slips_at("189")),
    measure=measured,
)

# ---- E2.3

FEWEST, MOST = 1, 50
FIT, START, FLAT, GAIN = "SIENA: R²", "SIENA: intercept / time", "SilboPS: time at 50 / at 1", f"{RATIO} at 50"


def _width(rows: Rows, profile: str) -> Quantities:
    of = where(rows, profile=profile)
    silbops, siena = (by(where(of, arm=arm), "filters_max", CHANGE) for arm in ARMS)
    fitted = line([*siena.items()])
    return {
        FIT: fitted.fit,
        START: fitted.intercept / siena[MOST],
        FLAT: silbops[MOST] / silbops[FEWEST],
        GAIN: siena[MOST] / silbops[MOST],
    }


def _is_linear_and_constant(figures: Intervals) -> tuple[Shown, Shown]:
    shapes = all_of((at_least(figures[FIT], 0.98), at_most(figures[START], 0.2), between(figures[FLAT], 0.8, 1.25)))
    return all_of((shapes, at_least(figures[GAIN], 5_000))), shapes


WIDE = find(DERIVED, "ratio of a change", "50 filters per subscriber")
LINEAR = find(PRINTED, "shape over subscriptions per subscriber", "SIENA")


def _of_width(profile: str) -> Claim:
    return Claim(
        f"width-{profile}",
        "The time of a change grows with the filters of a subscriber in SIENA, and is constant in SilboPS "
        f"({PROFILES[profile]}).",
        "SIENA: R² of time on filters is at least 0.98, and the intercept at most 0.2 of the time at 50. SilboPS: the "
        "time at 50 filters is 0.8 to 1.25 times that at 1. SIENA / SilboPS at 50 is at least 5,000.",
        "All but the last.",
        partial(_width, profile=profile),
        _is_linear_and_constant,
        WRITTEN,
        published={GAIN: WIDE.number},
        source=WIDE.source,
    )


def _by_filters(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    return _by_arm(rows, "filters_max")


def _tell_width(result: Result) -> Sequence[str]:
    return [
        f"{PROFILES[profile].capitalize()}: with 50 filters a change costs SIENA {found[GAIN]:,.3g} times as much."
        for profile in PROFILES
        if GAIN in (found := of_claim(result, f"width-{profile}"))
    ]


WIDTH_STUDY = Study(
    "E2.3",
    "Changes by filters",
    "How does the cost of a change grow with the filters of a subscriber?",
    DEFINITIONS / "change-width.yaml",
    (Plot("9", "Broker time per change", axis("Filters of a subscriber"), TIME_AXIS, _by_filters),),
    tuple(_of_width(profile) for profile in PROFILES),
    names=("silbops-change-width",),
    says="SIENA's time is linear in the filters of a subscriber, 105 µs for each message and 10 ms at 50 filters; that "
    "of SilboPS is constant.",
    sources=(LINEAR.source, WIDE.source),
    limits=(IN_PROCESS, *slips_at("191", "193")),
    tell=_tell_width,
    measure=measured,
)

CHANGE_STUDIES = (COST_STUDY, LOAD_STUDY, WIDTH_STUDY)
