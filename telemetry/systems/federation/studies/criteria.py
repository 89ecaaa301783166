"""The predicates A to Q of the criteria, as pure functions of values with intervals over seeds.

They were written from the paper's words before any run. A predicate holds or fails; it is open (``None``) with fewer
than ten replicates, or if a query in one of its cells was not satisfied, whose number is then among its values.
"Significant" is: the 95 % interval of the paired difference excludes 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from math import comb

from telemetry.studies.criteria import Interval, Intervals, Shown, all_of, negated

REPLICATES = 10
OF_ENERGY = 5
"""Repetitions of E1.3, the paper's."""
UNSATISFIED = "unsatisfied queries"
"""The quantity with the number of them in the cells of a claim."""
UNITS = {UNSATISFIED: "queries"}
"""Of quantities whose unit is not that of their claim."""
ROUNDING = 1e-9
CAP = 0.15

Predicate = Callable[[Intervals], bool]
Judge = Callable[[Intervals], tuple[Shown, Shown]]


def shown(predicate: Predicate, figures: Intervals, replicates: int = REPLICATES) -> Shown:
    """Whether it holds, ``None`` while that cannot be said."""
    is_enough = all(figure["n"] >= replicates for figure in figures.values())
    is_valid = not any(figures[UNSATISFIED]["replicates"]) if UNSATISFIED in figures else True
    return predicate(figures) if is_enough and is_valid else None


def alone(criterion: Predicate, shape: Predicate | None = None, replicates: int = REPLICATES) -> Judge:
    """A claim of one predicate; without another one it is its own shape."""
    return partial(_alone, criterion=criterion, shape=shape or criterion, replicates=replicates)


def _alone(figures: Intervals, criterion: Predicate, shape: Predicate, replicates: int) -> tuple[Shown, Shown]:
    return shown(criterion, figures, replicates), shown(shape, figures, replicates)


def together(criterion: Mapping[str, Predicate], shape: Mapping[str, Predicate], replicates: int = REPLICATES) -> Judge:
    """A claim of several: each sees the values whose names begin with its letters and a colon, and the unsatisfied."""
    return partial(_together, criterion=criterion, shape=shape, replicates=replicates)


def _together(
    figures: Intervals, criterion: Mapping[str, Predicate], shape: Mapping[str, Predicate], replicates: int
) -> tuple[Shown, Shown]:
    return _all(figures, criterion, replicates), _all(figures, shape, replicates)


def _all(figures: Intervals, predicates: Mapping[str, Predicate], replicates: int) -> Shown:
    return all_of(shown(one, of(name, figures), replicates) for name, one in predicates.items())


def of(name: str, figures: Intervals) -> dict[str, Interval]:
    """The values of one predicate, without its letters."""
    found = {key.removeprefix(f"{name}: "): one for key, one in figures.items() if key.startswith(f"{name}: ")}
    return {**found, UNSATISFIED: figures[UNSATISFIED]} if UNSATISFIED in figures else found


def judged(figures: Intervals) -> dict[str, Interval]:
    """Without the number of unsatisfied queries."""
    return {name: one for name, one in figures.items() if name != UNSATISFIED}


def rises(figure: Interval) -> bool:
    """A significant rise."""
    return bool(figure["low"] > 0)


def falls(figure: Interval) -> bool:
    return bool(figure["high"] < 0)


# ---- E1.1


def rise_name(arm: str, low: float, high: float) -> str:
    """Of the difference of means of an arm at two rates."""
    return f"{arm}, {high:g} − {low:g}"


def _rates(name: str) -> tuple[float, float]:
    """The lower and the higher rate of ``rise_name``."""
    high, low = name.rpartition(", ")[2].split(" − ")
    return float(low), float(high)


def rises_with_rate(figures: Intervals) -> bool:
    """A: both means rise from the lowest to the highest rate (the paper's are 10 and 60), and none falls between
    neighbouring rates. Values have the names of ``rise_name``."""
    found = judged(figures)
    lows, highs = zip(*map(_rates, found), strict=True)
    ends = min(lows), max(highs)
    return all(rises(one) if _rates(name) == ends else not falls(one) for name, one in found.items())


def rises_less(figures: Intervals) -> bool:
    """B: ``rise of three / rise of one`` is at most a half, and below 1 with its whole interval."""
    (ratio,) = judged(figures).values()
    return bool(ratio["value"] <= 0.5 + ROUNDING and ratio["high"] < 1)


SD_RATIO, SD_DIFFERENCE = "SD with one", "SD of three − of one"


def spreads_less(figures: Intervals) -> bool:
    """C: the deviation with one broker grows markedly, and three have a smaller one. The names of both values begin
    with those above, and go on with the rates."""
    ratio, difference = (
        next(one for name, one in figures.items() if name.startswith(start)) for start in (SD_RATIO, SD_DIFFERENCE)
    )
    return bool(ratio["value"] >= 1.5 - ROUNDING) and falls(difference)


def is_faster(figures: Intervals) -> bool:
    """D: three are faster than one at 50 and at 60: differences, all significant."""
    return all(falls(one) for one in judged(figures).values())


def keeps_cap(figures: Intervals) -> bool:
    """E: (hits - 1) / subscriptions is never above the cap, at no broker and second of any run."""
    return all(value <= CAP + ROUNDING for one in judged(figures).values() for value in one["replicates"])


FEW, MANY = 100, 2_000


def queries_suffice(figures: Intervals) -> bool:
    """F: means of one arm by number of queries (``1,000 queries``): those of 1,000 to 3,000 are alike, and that of 100
    is uncertain."""
    found = {int(name.split()[0].replace(",", "")): one for name, one in judged(figures).items()}
    base = found[MANY]
    alike = all(abs(one["value"] / base["value"] - 1) <= 0.1 + ROUNDING for n, one in found.items() if n >= 1_000)
    return alike and _width(found[FEW]) >= 2 * _width(base) * (1 - ROUNDING)


def _width(figure: Interval) -> float:
    return float(figure["high"] - figure["low"])


A_TO_E: Mapping[str, Predicate] = {
    "A": rises_with_rate,
    "B": rises_less,
    "C": spreads_less,
    "D": is_faster,
    "E": keeps_cap,
}
OF_SHAPE = {name: A_TO_E[name] for name in ("A", "B", "E")}


# ---- E1.2

SPREAD = "25 to 75 %, short links"
"""The quartile distance of T_S. Other names: ``5 %``, the difference of that quantile, long links − short ones."""


def overlaps(figures: Intervals, shift: float = 0.0) -> bool:
    """G: each quantile from 5 to 95 % differs by at most a quarter of the quartile distance."""
    most = 0.25 * figures[SPREAD]["value"] * (1 + ROUNDING)
    return all(abs(value - shift) <= most for share, value in _quantiles(figures).items() if 5 <= share <= 95)


def overlaps_shifted(figures: Intervals) -> bool:
    """The same after subtracting the difference of medians."""
    return overlaps(figures, _quantiles(figures)[50])


def differs_at_ends(figures: Intervals) -> bool:
    """H: the largest difference outside 5 to 95 % exceeds the median one inside."""
    found = {share: abs(value) for share, value in _quantiles(figures).items()}
    inside = sorted(value for share, value in found.items() if 5 <= share <= 95)
    outside = [value for share, value in found.items() if not 5 <= share <= 95]
    middle = len(inside) // 2
    median = inside[middle] if len(inside) % 2 else (inside[middle - 1] + inside[middle]) / 2
    return max(outside) > median


def _quantiles(figures: Intervals) -> dict[int, float]:
    """The differences, by percentage."""
    return {int(name.split()[0]): one["value"] for name, one in judged(figures).items() if name != SPREAD}


# ---- E1.3: energies of a query by mode

NO_BROKER, HTTP, BULK, BULK_IPC = "none", "mcxb", "bulk", "bulk-ipc"


def saves(figures: Intervals) -> bool:
    """I: a broker on the device saves energy."""
    return bool(figures[HTTP]["value"] < figures[NO_BROKER]["value"])


def bulk_costs(figures: Intervals) -> bool:
    return bool(figures[HTTP]["value"] < figures[BULK]["value"])


def bulk_costs_little(figures: Intervals) -> bool:
    """J: bulk costs a little more than that, by HTTP."""
    return bulk_costs(figures) and bool(figures[BULK]["value"] <= 1.15 * figures[HTTP]["value"] * (1 + ROUNDING))


def ipc_saves_as_published(figures: Intervals) -> bool:
    """K: bulk by IPC saves about 30 %."""
    left = figures[BULK_IPC]["value"] / figures[NO_BROKER]["value"]
    return bool(0.65 - ROUNDING <= left <= 0.75 + ROUNDING)


def keeps_order(figures: Intervals) -> bool:
    """The order alone, with J's left side."""
    return bool(figures[BULK_IPC]["value"] < figures[HTTP]["value"]) and saves(figures) and bulk_costs(figures)


LEFT = "bulk-ipc / none"


def is_about_70(figures: Intervals) -> bool:
    """K, of the ratio."""
    return bool(0.65 - ROUNDING <= figures[LEFT]["value"] <= 0.75 + ROUNDING)


def saves_as_published(figures: Intervals) -> bool:
    return saves(figures) and bulk_costs_little(figures) and ipc_saves_as_published(figures)


def repeats(figures: Intervals) -> bool:
    """L: each repetition is within 3 % of the mean of its mode."""
    return all(
        abs(value / (sum(one["replicates"]) / len(one["replicates"])) - 1) <= 0.03 + ROUNDING
        for one in judged(figures).values()
        for value in one["replicates"]
    )


# ---- E1.4: times in seconds

PROPER, IMPROPER = "known, proper", "known, improper"
SHORTEST, LONGEST = "shortest grace", "longest grace"
TOLD_PROPER, TOLD_IMPROPER = "told, proper", "told, improper"
EXACTLY_S = 1e-3
"""Of simulated removals: exact, but for the resolution of validity on the wall clock."""


def is_quick(figures: Intervals, keepalive_s: float) -> bool:
    """M: a proper disappearance is known within a tenth of the period."""
    return bool(figures[PROPER]["value"] <= 0.1 * keepalive_s * (1 + ROUNDING))


def is_exact(figures: Intervals, keepalive_s: float) -> bool:
    """N: every removal is two periods after the last sign of life."""
    graces = [value for name in (SHORTEST, LONGEST) for value in figures[name]["replicates"]]
    return all(abs(value - 2 * keepalive_s) <= EXACTLY_S + ROUNDING for value in graces)


def takes_longer(figures: Intervals) -> bool:
    """O: an improper one takes ten times as long."""
    return bool(figures[IMPROPER]["value"] >= 10 * figures[PROPER]["value"] * (1 - ROUNDING))


def is_told_alike(figures: Intervals) -> bool:
    """P: from the removal on both take as long, within a factor of 2."""
    ratio = figures[TOLD_IMPROPER]["value"] / figures[TOLD_PROPER]["value"]
    return bool(0.5 - ROUNDING <= ratio <= 2 + ROUNDING)


def settles(figures: Intervals, bound_s: float, diameter: int | None = None) -> bool:
    """Q: settled within the bound, always; by diameter (``2 hops``), up to the largest one asked for."""
    of_diameters = {int(name.split()[0]): one for name, one in figures.items()}
    chosen = [one for hops, one in of_diameters.items() if diameter is None or hops <= diameter]
    return all(value <= bound_s * (1 + ROUNDING) for one in chosen for value in one["replicates"])


# ---- sign tests

SIGNIFICANT = 0.05


def sign_test(differences: Iterable[float]) -> float:
    """How likely at least so many of them are positive by chance, one-sided; of zeros it takes no notice."""
    signs = [value > 0 for value in differences if value]
    as_many = sum(comb(len(signs), count) for count in range(sum(signs), len(signs) + 1))
    return float(as_many / 2 ** len(signs))


def is_positive(figure: Interval) -> Shown:
    """By a sign test over replicates: positive, or ``False``: negative; ``None``: neither is shown."""
    values = figure["replicates"]
    if sign_test(values) <= SIGNIFICANT:
        return True
    return False if sign_test([-value for value in values]) <= SIGNIFICANT else None


def is_negative(figure: Interval) -> Shown:
    return negated(is_positive(figure))


def by_signs(figures: Intervals) -> tuple[Shown, Shown]:
    """Every difference is positive, where its name ends in ``longer``, or negative. The hypothesis is its own shape."""
    if UNSATISFIED in figures and any(figures[UNSATISFIED]["replicates"]):
        return None, None
    found = judged(figures)
    holds = all_of(is_positive(one) if name.endswith("longer") else is_negative(one) for name, one in found.items())
    return holds, holds
