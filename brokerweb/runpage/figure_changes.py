"""The key figures of a what-if run and of its original, next to each other; over seeds, if there are several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from brokerweb.brokers.names import ServerNames
from brokerweb.experiments.whatif import Seed
from telemetry.measures import Measure
from telemetry.statistics.intervals import between, interval
from telemetry.systems.registry import measures_of, telemetry_of


@dataclass(frozen=True, slots=True)
class Changed:
    """One figure, as text."""

    title: str
    before: str
    after: str
    difference: str
    interval: str
    """95 % over seeds; empty with fewer than two."""


def of_seeds(seeds: Sequence[Seed], servers: ServerNames) -> list[Changed]:
    """In the order of the run's page, without those that were not measured in both runs of any seed."""
    system = seeds[0].after.system
    known = measures_of(system)
    found = []
    for one in telemetry_of({"system": system}).key_figures:
        measure = known[one.measure]
        pairs = [(measure.of(seed.before.summary), measure.of(seed.after.summary)) for seed in seeds]
        both = [(before, after) for before, after in pairs if before is not None and after is not None]
        if both:
            found.append(_changed(servers.fill(one.title or measure.title), measure, both))
    return found


def _changed(title: str, measure: Measure, pairs: Sequence[tuple[float, float]]) -> Changed:
    before, after = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    was, now = (measure.text(interval(values, measure.scale)["value"]) for values in (before, after))
    change = between(after, before, measure.scale, is_paired=True)
    ends = "" if change.low is None else f"{measure.difference(change.low)} to {measure.difference(change.high)}"
    return Changed(title, was, now, measure.difference(change.value), ends)
