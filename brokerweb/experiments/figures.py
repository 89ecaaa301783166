"""The figures that tables of runs and of configurations show: those that the systems of these runs declare."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from brokerweb.experiments.models import Run
from overlay.systems.registry import servers_title
from telemetry.charts.live import KeyFigure
from telemetry.formatting import UNKNOWN, count
from telemetry.measures import Measure
from telemetry.systems.registry import all_telemetry, listed_figures, measures, measures_of, telemetry_of

OF_CONFIGURATIONS = 3
"""Figures in an experiment's table of configurations, which also shows intervals."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure of one run."""

    text: str
    of: str = ""
    """After a count: of how many."""

    @property
    def is_known(self) -> bool:
        return self.text != UNKNOWN


@dataclass(frozen=True, slots=True)
class Figure:
    """A column."""

    measure: Measure
    title: str
    counts: tuple[Measure, ...] = ()
    """The measures *this of that* that runs show instead of a share."""

    def cell(self, run: Run) -> Cell:
        if self.counts:
            values = [run.figures.get(one.key) for one in self.counts]
            return Cell(*map(count, values)) if all(value is not None for value in values) and values[-1] else _NONE
        return Cell(self.measure.text(run.figures.get(self.measure.key)))


_NONE = Cell(UNKNOWN)


def of_runs(systems: Iterable[str]) -> list[Figure]:
    """The figures in a list of runs of these systems."""
    declared = {_key(one.system.name, shown): shown for one in all_telemetry() for shown in one.key_figures}
    chosen = set(systems)
    known = measures(chosen)
    return [_figure(known[name], declared.get(known[name].key), chosen) for name in listed_figures(chosen)]


def of_configurations(system: str) -> list[Figure]:
    """The figures in an experiment's table of configurations."""
    known = measures_of(system)
    shown = [one for one in telemetry_of({"system": system}).key_figures if one.is_main]
    return [_figure(known[one.measure], one, [system]) for one in shown[:OF_CONFIGURATIONS]]


def requests_behind(share: Measure) -> str:
    """The lookup of the number of requests that a run's share is of."""
    known = measures_of(share.system).values()
    key = next((one.key for one in known if one.path == share.of_path), None)
    return "__".join(("summary", *share.of_path)) if key is None else f"figures__{key}"


def _key(system: str, shown: KeyFigure) -> str:
    return measures_of(system)[shown.measure].key


def _figure(measure: Measure, declared: KeyFigure | None, systems: Iterable[str]) -> Figure:
    title = servers_title(systems).fill(declared.title) if declared is not None else ""
    if declared is not None and declared.counts:
        known = measures_of(measure.system)
        return Figure(measure, title or measure.title, tuple(known[name] for name in declared.counts))
    return Figure(measure, measure.short or title or measure.title)
