"""What the studies beyond Table B.1 have in common: arms by name, and values of one arm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from telemetry.studies.study import Quantity, Row, Rows, X, mean

Name = Callable[[Row], str]


def by_arm(rows: Rows, name: Name) -> dict[str, list[Row]]:
    """The rows of each arm, in the order in which arms first appear."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(name(row), []).append(row)
    return found


def means(rows: Rows, name: Name, measure: str, series: str, scale: float = 1.0) -> Mapping[tuple[str, X], Quantity]:
    """One value for each arm, as categories of one series; an arm that measured nothing is left out."""
    found: dict[tuple[str, X], Quantity] = {}
    for arm, own in by_arm(rows, name).items():
        if all(measure in row.measures for row in own):
            found[series, arm] = mean(own, measure) * scale
    return found


def ratio_of(rows: Rows, name: Name, one: str, other: str, measure: str) -> float:
    """Of the means of two arms. Raises ``KeyError``."""
    arms = by_arm(rows, name)
    below = mean(arms[other], measure)
    if not below:
        raise KeyError(measure)
    return mean(arms[one], measure) / below


def ratios_to(rows: Rows, name: Name, one: str, others: Sequence[str], measure: str) -> dict[str, float]:
    return {f"{one} / {other}": ratio_of(rows, name, one, other, measure) for other in others}
