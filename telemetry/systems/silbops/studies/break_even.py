"""E2.6: from how many notifications per change on SIENA is cheaper, in process.

X* = (T_E,cxt − T_S,cxt) / (T_S,not − T_E,not), of E SilboPS and S SIENA. There is none where SilboPS is not dearer at a
notification. Its reciprocal, in changes per notification, passes through 0 there, so it is what is judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from overlay.systems.silbops.names import SIENA, SILBOPS
from telemetry.charts.charts import axis
from telemetry.statistics.intervals import SIGNED
from telemetry.studies.criteria import Intervals, Shown, above, all_of, any_of, at_most, between
from telemetry.studies.judging import Result
from telemetry.studies.study import Claim, Plot, Quantities, Quantity, Row, Rows, Study, X, where
from telemetry.systems.silbops.costs import Costs, inverse
from telemetry.systems.silbops.in_process.measuring import WORK, measured
from telemetry.systems.silbops.published import DERIVED, PRINTED, find, slips_at
from telemetry.systems.silbops.studies.cells import CHANGE, DEFINITIONS, IN_PROCESS, NOTIFICATION, WRITTEN, only
from telemetry.systems.silbops.studies.telling import judged, of_claim

SIZES = (10_000, 80_000)
FILTERS = (1, 10)
PUBLISHED_AT = 80_000
BY_RULE, BY_BOTH = "one message", "both messages"
"""What a change of one filter costs SIENA: as the paper computes, and as it is."""
MESSAGES = 2
MIXED = "mixed, notifications / change"
FACTOR = 2
DOMINATES = "dominates"
PRINTED_AT = find(PRINTED, "break-even ratio", "notifications per context change")
CORRECTED_AT = {
    1: find(DERIVED, "break-even ratio", "two messages per change and one filter"),
    10: find(DERIVED, "break-even ratio", "two messages per change and 10 filters"),
}
PLACES = {
    arm: {CHANGE: ("time of a context change", said), NOTIFICATION: ("time of a notification", said)}
    for arm, said in ((SILBOPS, "SilboPS"), (SIENA, "SIENA"))
}
"""Metric and configuration of the published costs."""


def published() -> Rows:
    """The printed costs as runs, in which a change takes SIENA two messages for each filter."""
    costs = {arm: {name: find(PRINTED, *place).number for name, place in of.items()} for arm, of in PLACES.items()}
    return [
        Row(
            "central",
            1,
            {"arm": arm},
            {"filters_max": filters, "subscribers": PUBLISHED_AT // filters, **done},
            {**of, CHANGE: of[CHANGE] * (MESSAGES * filters if arm == SIENA else 1)},
        )
        for arm, of in costs.items()
        for filters in FILTERS
        for done in ({"changes": 1, "notifications": 0}, {"changes": 0, "notifications": 1})
    ]


def _costs(rows: Rows, arm: str) -> Costs:
    """With so many messages of a change in the SIENA arm as it sends. Raises ``KeyError``."""
    of = where(rows, arm=arm)
    change, notification = only(where(of, notifications=0)), only(where(of, changes=0))
    return Costs(change.measures[CHANGE], notification.measures[NOTIFICATION])


def _of(rows: Rows, size: int, filters: int) -> list[Row]:
    return where(rows, filters_max=filters, subscribers=size // filters)


def _inverse(rows: Rows, is_by_rule: bool = False) -> float:
    """1 / X*. ``is_by_rule``: one message of a change counts. Raises ``KeyError``."""
    theirs = _costs(rows, SIENA)
    return inverse(_costs(rows, SILBOPS), theirs._replace(change=theirs.change / MESSAGES) if is_by_rule else theirs)


def _name(filters: int, how: str) -> str:
    return f"s = {filters}, {how}"


def _quantities(rows: Rows, size: int) -> Quantities:
    narrow, wide = (_of(rows, size, filters) for filters in FILTERS)
    found = {
        _name(1, BY_RULE): _inverse(narrow, is_by_rule=True),
        _name(1, BY_BOTH): _inverse(narrow),
        _name(10, BY_BOTH): _inverse(wide),
    }
    return {**found, **{f"{MIXED} {ratio:g}": value for ratio, value in _mixed(narrow).items()}}


def _mixed(rows: Rows) -> dict[float, float]:
    """Time of SilboPS / SIENA in runs with both operations, by notifications per change. Raises ``KeyError``."""
    times: dict[str, dict[float, float]] = {SILBOPS: {}, SIENA: {}}
    for row in rows:
        changes, notifications = row.get("changes"), row.get("notifications")
        if changes and notifications:
            times[row.get("arm")][_ratio(notifications, changes)] = row.measures[WORK]
    return {ratio: ours / times[SIENA][ratio] for ratio, ours in sorted(times[SILBOPS].items())}


def _ratio(notifications: int, changes: int) -> float:
    return float(f"{notifications / changes:.1g}")


def _crosses(figures: Intervals) -> Shown:
    """SilboPS is cheaper in mixed runs below X* / 2, and dearer above 2 X*, as far as there are such runs."""
    changes = figures[_name(1, BY_BOTH)]["value"]
    if changes <= 0:
        return False
    parts: list[Shown] = []
    for name, one in figures.items():
        if name.startswith(MIXED):
            ratio = float(name.removeprefix(MIXED)) * changes
            if ratio <= 1 / FACTOR:
                parts.append(True if one["high"] < 1 else False if one["low"] >= 1 else None)
            elif ratio >= FACTOR:
                parts.append(True if one["low"] > 1 else False if one["high"] <= 1 else None)
    return all_of(parts) if parts else None


def _is_as_published(figures: Intervals) -> tuple[Shown, Shown]:
    by_rule, narrow, wide = (figures[name] for name in (_name(1, BY_RULE), _name(1, BY_BOTH), _name(10, BY_BOTH)))
    lies = any_of((between(by_rule, 1 / 2.5, 1 / 0.62), between(narrow, 1 / 4.9, 1 / 1.23)))
    exists = True if narrow["low"] > 0 else False if narrow["high"] <= 0 else None
    return all_of((lies, _crosses(figures))), all_of((exists, above(narrow, wide)))


def _dominates(figures: Intervals) -> Shown:
    return at_most(figures[_name(1, BY_BOTH)], 0)


def _claim(size: int) -> Claim:
    return Claim(
        f"break-even-{size}",
        f"SilboPS is cheaper where there are more changes than notifications ({size:,} subscriptions).",
        "X*, the notifications per change at which both cost the same, is in [0.62, 2.5] if a change is one message to "
        "SIENA, or in [1.23, 4.9] with both, with one filter of each subscriber; and mixed runs cross within a factor "
        "2 of it. Values are 1 / X*, and time of SilboPS / SIENA of mixed runs.",
        "X* exists with one filter, and is larger with ten. Where SilboPS never costs more it is called dominates.",
        partial(_quantities, size=size),
        _is_as_published,
        WRITTEN,
        "changes per notification, or ratio",
        SIGNED,
        source=PRINTED_AT.source,
        called={DOMINATES: _dominates},
    )


def _by_filters(rows: Rows, size: int) -> Mapping[tuple[str, X], Quantity]:
    """X* where there is one."""
    found = {
        (how, float(filters)): _inverse(_of(rows, size, filters), is_by_rule=how == BY_RULE)
        for how in (BY_RULE, BY_BOTH)
        for filters in FILTERS
    }
    return {place: 1 / one for place, one in found.items() if one > 0}


def _by_ratio(rows: Rows, size: int) -> Mapping[tuple[str, X], Quantity]:
    return {
        (f"{filters} filters of a subscriber", ratio): value
        for filters in FILTERS
        for ratio, value in _mixed(_of(rows, size, filters)).items()
    }


def tell(result: Result) -> Sequence[str]:
    said = []
    for size in SIZES:
        found = of_claim(result, f"break-even-{size}")
        inverses = {filters: found.get(_name(filters, BY_BOTH)) for filters in FILTERS}
        parts = [
            f"X* is {1 / one:.2g} with {filters} filter{'s' if filters > 1 else ''}"
            if one > 0
            else f"SilboPS never costs more with {filters} filter{'s' if filters > 1 else ''}"
            for filters, one in inverses.items()
            if one is not None
        ]
        if parts:
            called = judged(result, f"break-even-{size}").called
            said.append(f"At {size:,} subscriptions {', and '.join(parts)}{f': {called}' if called else ''}.")
    corrected = " and ".join(f"{one.value} with {filters}" for filters, one in CORRECTED_AT.items())
    said.append(
        f"Published is {PRINTED_AT.value}, from one message of a change; with both it is {corrected} filters of a "
        "subscriber."
    )
    return said


BREAK_EVEN_STUDY = Study(
    "E2.6",
    "Break-even",
    "From how many notifications per change of context on does SIENA cost less?",
    DEFINITIONS / "break-even.yaml",
    tuple(
        plot
        for size in SIZES
        for plot in (
            Plot(
                f"break-even-{size}",
                f"Notifications per change at which both cost the same, {size:,} subscriptions",
                axis("Filters of a subscriber"),
                axis("X*", log=True),
                partial(_by_filters, size=size),
                source=PRINTED_AT.source,
            ),
            Plot(
                f"mixed-{size}",
                f"Mixed runs, {size:,} subscriptions",
                axis("Notifications per change", log=True),
                axis("Time of SilboPS / SIENA", log=True),
                partial(_by_ratio, size=size),
            ),
        )
    ),
    (*map(_claim, SIZES),),
    names=("silbops-break-even",),
    says=f"SilboPS pays if there are fewer than {PRINTED_AT.value} notifications per change.",
    sources=(PRINTED_AT.source, CORRECTED_AT[1].source),
    published=published,
    limits=(
        IN_PROCESS,
        "Both arms find subscriptions by their rarest equality; by counting, and by leaf with many subscriptions, "
        "SilboPS is not dearer at a notification (E2.5).",
        *slips_at("211", "223"),
    ),
    tell=tell,
    measure=measured,
)
