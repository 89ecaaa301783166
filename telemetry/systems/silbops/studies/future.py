"""E2.7 to E2.10: publisher scope, moving cameras, handover, and the gap of a change. Nothing was published."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from telemetry.charts.charts import axis
from telemetry.statistics.intervals import COUNT, SIGNED
from telemetry.studies.criteria import Intervals, Shown, all_of, are_at_most, at_least, at_most
from telemetry.studies.study import Claim, Plot, Quantities, Quantity, Row, Rows, Source, Study, X, where
from telemetry.systems.silbops.studies.cells import DEFINITIONS, only

WRITTEN = "2026-11-29, from the paper's words on future work; no run of this study was known"
FUTURE = Source("Section 6, future work", "227-249")
SIMULATED = "All values are simulated, with calibrated service times, or default ones where nothing was calibrated."
MET = "The same: the claim is met or not."
PER_CHANGES = 1_000
NONE_LOST = are_at_most(0, 0)


def _of_each(rows: Rows, measure: str, names: Sequence[str]) -> Quantities:
    """A measure of each run, by the values that tell the runs apart. Raises ``KeyError``."""
    if not rows:
        raise KeyError(measure)
    return {", ".join(f"{name} {row.get(name)}" for name in names): row.measures[measure] for row in rows}


def _lost(rows: Rows, names: Sequence[str]) -> Quantities:
    """Raises ``KeyError`` where nothing was due, which cannot be lost either."""
    _some(rows, "due")
    return _of_each(rows, "lost", names)


def _some(rows: Rows, measure: str) -> None:
    if not sum(row.measures[measure] for row in rows):
        raise KeyError(measure)


def _by(rows: Rows, x: str, names: Sequence[str], value: Callable[[Row], float]) -> Mapping[tuple[str, X], Quantity]:
    """By ``x``, a series for each combination of the other values. Raises ``KeyError``."""
    return {(", ".join(f"{name} {row.get(name)}" for name in names), float(row.get(x))): value(row) for row in rows}


def _measure(name: str) -> Callable[[Row], float]:
    return lambda row: row.measures[name]


# ---- E2.7


def _same_deliveries(rows: Rows) -> Quantities:
    """Deliveries with publisher_scope − without it, by admitted share. Raises ``KeyError`` where there are none."""
    _some(rows, "deliveries")
    on, off = (
        {row.get("admitted_share"): row for row in where(rows, publisher_scope=value)} for value in (True, False)
    )
    return {f"{share:g}": on[share].measures["deliveries"] - off[share].measures["deliveries"] for share in sorted(on)}


def _fewer_messages(rows: Rows) -> Quantities:
    """At the smallest share: messages per publication with publisher_scope / without it."""
    share = min(row.get("admitted_share") for row in rows)
    with_it, without = (
        only(where(rows, admitted_share=share, publisher_scope=value)).measures["messages_per_publication"]
        for value in (True, False)
    )
    return {f"{share:g}": with_it / without}


def _are_zero(figures: Intervals) -> tuple[Shown, Shown]:
    found = all_of(part for one in figures.values() for part in (at_least(one, 0), at_most(one, 0)))
    return found, found


def _are_below_one(figures: Intervals) -> tuple[Shown, Shown]:
    found = all_of(True if one["high"] < 1 else False if one["low"] >= 1 else None for one in figures.values())
    return found, found


SCOPE_STUDY = Study(
    "E2.7",
    "Publisher scope",
    "What does it save if publishers limit who gets a notification, instead of subscribers?",
    DEFINITIONS / "publisher-scope.yaml",
    tuple(
        Plot(
            measure,
            title,
            axis("Share of subscribers admitted", log=True),
            axis(title, unit, zero=True),
            partial(_by, x="admitted_share", names=("publisher_scope",), value=_measure(measure)),
            COUNT,
        )
        for measure, title, unit in (
            ("messages_per_publication", "Messages per publication", ""),
            ("notification_core", "Broker time per notification", "µs"),
        )
    ),
    (
        Claim(
            "useful",
            "Subscribers get the same useful notifications either way.",
            "At each share, as many deliveries with publisher_scope as without.",
            MET,
            _same_deliveries,
            _are_zero,
            WRITTEN,
            "deliveries",
            SIGNED,
            source=FUTURE,
        ),
        Claim(
            "fewer",
            "With few subscribers admitted, brokers forward less.",
            "At the smallest share, fewer messages per publication with publisher_scope.",
            MET,
            _fewer_messages,
            _are_below_one,
            WRITTEN,
            source=FUTURE,
        ),
    ),
    names=("silbops-publisher-scope",),
    limits=(SIMULATED,),
)

# ---- E2.8


CAMERAS_STUDY = Study(
    "E2.8",
    "Moving cameras",
    "What does it cost to forward the contexts of publishers, and to withdraw subscriptions that are false for all?",
    DEFINITIONS / "moving-cameras.yaml",
    tuple(
        Plot(
            name,
            title,
            axis("Speed", "m/s"),
            axis(title, zero=True),
            partial(_by, x="speed_m_s", names=("publisher_context", "prune"), value=value),
            COUNT,
        )
        for name, title, value in (
            ("messages", "Messages per second", _measure("messages_per_s")),
            ("rows", "Subscription rows", _measure("rows")),
        )
    ),
    (
        Claim(
            "none-lost",
            "Nothing is lost, however contexts travel and subscriptions are withdrawn.",
            "No run loses a publication that was due.",
            MET,
            partial(_lost, names=("publisher_context", "prune", "speed_m_s")),
            NONE_LOST,
            WRITTEN,
            "publications",
            COUNT,
            source=FUTURE,
        ),
    ),
    names=("silbops-moving-cameras",),
    limits=(SIMULATED,),
)

# ---- E2.9


def _kept(rows: Rows) -> Quantities:
    """Lost beyond what is kept, of the runs that keep most."""
    most = max((row.get("keep_messages") for row in rows), default=0)
    return _of_each(where(rows, keep_messages=most), "lost_kept", ("handover_interval_s",))


HANDOVER_STUDY = Study(
    "E2.9",
    "Handover",
    "Does a subscriber lose publications when it moves to another broker?",
    DEFINITIONS / "handover.yaml",
    tuple(
        Plot(
            measure,
            title,
            axis("Time between handovers", "s"),
            axis(title, unit, zero=True),
            partial(_by, x="handover_interval_s", names=("keep_messages",), value=_measure(measure)),
            COUNT,
        )
        for measure, title, unit in (
            ("repeats", "Repeats", ""),
            ("change_effective_mean", "Mean time to effect", "µs"),
        )
    ),
    (
        Claim(
            "none-lost",
            "A handover loses nothing, however few notifications are kept.",
            "No run loses a publication that was due.",
            MET,
            partial(_lost, names=("handover_interval_s", "keep_messages")),
            NONE_LOST,
            WRITTEN,
            "publications",
            COUNT,
            source=FUTURE,
        ),
        Claim(
            "kept",
            "What is kept is enough.",
            "With 100 notifications kept, none is lost while a subscriber is away.",
            MET,
            _kept,
            NONE_LOST,
            WRITTEN,
            "publications",
            COUNT,
            source=FUTURE,
        ),
    ),
    names=("silbops-handover",),
    limits=(SIMULATED,),
)

# ---- E2.10

ARMS = {
    "SIENA, remove first": {"arm": "siena", "siena_change": "remove-first"},
    "SIENA, add first": {"arm": "siena", "siena_change": "add-first"},
    "SilboPS": {"arm": "silbops"},
}


def _lost_per_changes(rows: Rows) -> Quantities:
    """Lost publications per 1,000 changes of context, by arm. Raises ``KeyError``, also where nothing was due."""
    _some(rows, "due")
    runs = {arm: only(where(rows, **settings)).measures for arm, settings in ARMS.items()}
    return {arm: PER_CHANGES * found["lost"] / found["context_changes"] for arm, found in runs.items()}


def _only_the_first(figures: Intervals) -> tuple[Shown, Shown]:
    first, *others = ARMS
    low, high = figures[first]["low"], figures[first]["high"]
    is_some = True if low > 0 else False if high <= 0 else None
    found = all_of((is_some, *(at_most(figures[arm], 0) for arm in others)))
    return found, found


GAP_STUDY = Study(
    "E2.10",
    "Gap of a change",
    "What is lost while a subscription is replaced because the context has changed?",
    DEFINITIONS / "gap.yaml",
    (),
    (
        Claim(
            "gap",
            "SIENA loses publications in the gap of a change; neither SilboPS nor SIENA with add-first does.",
            "Lost per 1,000 changes: more than 0 in the first, 0 in the two others.",
            MET,
            _lost_per_changes,
            _only_the_first,
            WRITTEN,
            "publications",
            COUNT,
            source=FUTURE,
        ),
    ),
    names=("silbops-gap",),
    limits=(SIMULATED, "The gap is as long as a broker takes for two messages, and as the links delay them."),
)

FUTURE_STUDIES = (SCOPE_STUDY, CAMERAS_STUDY, HANDOVER_STUDY, GAP_STUDY)
