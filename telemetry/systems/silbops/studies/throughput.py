"""E2.5, Fig. 11 and Table 1: what context apart from content costs a notification, in process; and with a million
subscriptions, E2.5-million."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise

from overlay.systems.silbops.names import SIENA, SILBOPS
from telemetry.charts.charts import axis
from telemetry.statistics.intervals import SIGNED
from telemetry.studies.criteria import Intervals, Shown, all_of, any_of, at_least, between, negated
from telemetry.studies.judging import Result
from telemetry.studies.study import Claim, Plot, Quantities, Quantity, Rows, Study, X, where
from telemetry.systems.silbops.in_process.measuring import measured
from telemetry.systems.silbops.published import DERIVED, PRINTED, find, slips_at
from telemetry.systems.silbops.studies.cells import DEFINITIONS, IN_PROCESS, NOTIFICATION, WRITTEN, by
from telemetry.systems.silbops.studies.telling import judged, of_claim

PAIRS: Mapping[str, tuple[str, str]] = {
    "counting": ("counting", "counting"),
    "access": ("access", "access"),
    "leaf": ("leaf", "leaf"),
    "cells": ("access", "cells"),
}
"""The index of SilboPS and that of SIENA, by claim."""
PUBLISHED_AT = 80_000
PER_S = 1e6
"""µs."""
LOSS, RISE, LAST = "loss", "least rise", "last two"
REVERSED = "reversed"


def _throughputs(rows: Rows, arm: str, index: str) -> dict[int, list[float]]:
    """Notifications/s by size, in the order of how many there are. Raises ``KeyError``."""
    of = where(rows, arm=arm, index=index)
    sizes = sorted({row.get("subscriptions") for row in of})
    if not sizes:
        raise KeyError("subscriptions")
    return {
        size: [PER_S / us for us in by(where(of, subscriptions=size), "notifications", NOTIFICATION).values()]
        for size in sizes
    }


def _losses(rows: Rows, pair: str) -> Quantities:
    """With most notifications, the share of throughput that SilboPS loses; and how the throughput of each rises."""
    ours, theirs = (_throughputs(rows, arm, index) for arm, index in zip((SILBOPS, SIENA), PAIRS[pair], strict=True))
    found = {f"{LOSS} at {size:,}": 1 - ours[size][-1] / theirs[size][-1] for size in ours}
    for arm, of in ((SILBOPS, ours), (SIENA, theirs)):
        for size, values in of.items():
            steps = [later / earlier for earlier, later in pairwise(values)]
            if len(steps) > 1:
                found[f"{RISE} to the last but one, {arm} at {size:,}"] = min(steps[:-1])
            found[f"{LAST}, {arm} at {size:,}"] = steps[-1]
    return found


def _of(figures: Intervals, kind: str) -> Intervals:
    return {name: one for name, one in figures.items() if name.startswith(kind)}


def _is_small(figures: Intervals) -> tuple[Shown, Shown]:
    losses = _of(figures, LOSS).values()
    rises = all_of(at_least(one, 1) for one in _of(figures, RISE).values())
    settles = all_of(between(one, 0.9, 1.1) for one in _of(figures, LAST).values())
    small = all_of(between(one, 0, 0.10) for one in losses)
    return all_of((small, rises, settles)), all_of(between(one, -0.10, 0.20) for one in losses)


def _is_reversed(figures: Intervals) -> Shown:
    return any_of(negated(at_least(one, -0.10)) for one in _of(figures, LOSS).values())


POSITIONS = (
    "The paper does not say how SIENA found positions. Its constraints of position are in the index here; with "
    "counting they are counted like all others."
)
LOST = find(DERIVED, "throughput lost", "mean")


def _claim(pair: str, sizes: str, published: Mapping[str, float]) -> Claim:
    """``sizes``: at how many subscriptions, in words."""
    ours, theirs = PAIRS[pair]
    how = f"index {ours}" if ours == theirs else f"SilboPS by {ours}, SIENA by {theirs}"
    return Claim(
        f"loss-{pair}",
        f"SilboPS loses little throughput of notifications, which rises to a plateau ({how}).",
        f"1 − throughput of SilboPS / SIENA is in [0, 0.10] {sizes}; each throughput rises with the number of "
        "notifications, and the last two are within 10 %.",
        "Each loss is in [−0.10, 0.20]. Below −0.10 it is called reversed.",
        partial(_losses, pair=pair),
        _is_small,
        WRITTEN,
        "share or ratio",
        SIGNED,
        published,
        LOST.source,
        {REVERSED: _is_reversed},
    )


def _by_notifications(rows: Rows, size: int) -> Mapping[tuple[str, X], Quantity]:
    return {
        (f"{row.get('arm')}, {row.get('index')}", float(row.get("notifications"))): PER_S / row.measures[NOTIFICATION]
        for row in where(rows, subscriptions=size)
    }


def _plot(figure: str, size: int) -> Plot:
    return Plot(
        f"{figure}-{size}",
        f"Throughput with {size:,} subscriptions",
        axis("Notifications"),
        axis("Throughput", "/s", log=True),
        partial(_by_notifications, size=size),
    )


def _compared(loss: float) -> str:
    if loss > 0:
        return f"loses {loss:.0%}"
    return f"gains {-loss:.0%}" if loss > -1 else f"has {1 - loss:.1f} times as much"


def tell(result: Result) -> Sequence[str]:
    said = []
    for pair in PAIRS:
        parts = [
            f"{_compared(value)} at {name.removeprefix(f'{LOSS} at ')}"
            for name, value in of_claim(result, f"loss-{pair}").items()
            if name.startswith(LOSS)
        ]
        if parts:
            called = judged(result, f"loss-{pair}").called
            sentence = f"{' / '.join(dict.fromkeys(PAIRS[pair])).capitalize()}: SilboPS {' and '.join(parts)}"
            said.append(f"{sentence} subscriptions{f': {called}' if called else ''}.".replace("%", " %"))
    return said


THROUGHPUT_STUDY = Study(
    "E2.5",
    "Throughput",
    "How much throughput of notifications does it cost to test contexts after content?",
    DEFINITIONS / "throughput.yaml",
    tuple(_plot("11", size) for size in (10_000, PUBLISHED_AT)),
    tuple(
        _claim(pair, "at 10,000 and at 80,000 subscriptions", {f"{LOSS} at {PUBLISHED_AT:,}": LOST.number / 100})
        for pair in PAIRS
    ),
    names=("silbops-throughput",),
    says="With 80,000 subscriptions SIENA does 1,083 and 1,101 notifications/s, SilboPS 984 and 1,016: 8.4 % less. "
    "Throughput rises with the number of notifications.",
    sources=(find(PRINTED, "throughput").source, LOST.source),
    limits=(
        IN_PROCESS,
        POSITIONS,
        "E2.5-million has 1,000,000 subscriptions.",
        *slips_at("199", "201", "394"),
    ),
    tell=tell,
    measure=measured,
)
MILLION_STUDY = Study(
    "E2.5-million",
    "Throughput with a million subscriptions",
    "How much throughput does it cost to test contexts after content, with more subscriptions than the paper has?",
    DEFINITIONS / "throughput-million.yaml",
    tuple(_plot("million", size) for size in (120_000, 1_000_000)),
    tuple(_claim(pair, "with all subscriptions", {}) for pair in PAIRS),
    says="Nothing of so many subscriptions; with 80,000 SilboPS does 8.4 % less.",
    sources=(LOST.source,),
    limits=(
        IN_PROCESS,
        POSITIONS,
        "Each index is loaded alone, as all of them together would take 10 GB, so that contenders do not take turns: "
        "if the machine becomes slower or faster meanwhile, that counts for or against one of them.",
        "With 1,000,000 subscriptions there is one replicate, as in the contract, so its values have no intervals.",
    ),
    tell=tell,
    measure=measured,
)
