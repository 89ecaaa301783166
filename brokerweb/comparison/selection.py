"""Which runs a comparison is of, and the figures of each: a few columns of each run, however much is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet

from brokerweb.experiments.models import Run, RunQuerySet, RunState
from brokerweb.runlist.filtering import named_fields, runs_matching
from overlay.core.engines import SIMULATED
from overlay.core.errors import InvalidSetting
from telemetry.filters import parse
from telemetry.reports.grouping import Value
from telemetry.systems.registry import measures

MOST_RUNS = 20_000
_TOLD = ("pk", "configuration_hash", "seed", "engine", "verdict")
ASKING_FOR_CHANGED = {"changed", "id", "configuration"}
"""Fields of a filter that choose single runs or single configurations, or changed runs themselves."""


class Figures(NamedTuple):
    """One run and what it measured."""

    run: str
    configuration: str
    seed: str
    engine: str
    verdict: str
    """valid or suspect, as the run judged itself."""
    values: tuple[float | None, ...]
    """In the order in which they were asked for."""
    requests: tuple[float | None, ...] = ()
    """Of how many requests each of them is, where it is a share."""

    def value(self, at: int) -> Value | None:
        found = self.values[at]
        made = self.requests[at] if self.requests else None
        return None if found is None else Value(self.configuration, self.seed, found, made)


@dataclass(frozen=True)
class Selection:
    """The runs that are compared, oldest first."""

    runs: list[Figures]
    not_done: int
    """Runs that the filter fits and that have no result."""
    repeats: int
    """Simulated runs of which there is a later one with the same configuration and seed: it follows from these."""
    changed: int = 0
    """Finished runs that repeat another with one thing changed, left out since nothing asks for them."""

    def representatives(self) -> dict[str, str]:
        """Of each configuration, the first run that has it."""
        found: dict[str, str] = {}
        for one in self.runs:
            found.setdefault(one.configuration, one.run)
        return found


def select(field: str, text: str, runs: Sequence[str], metrics: Sequence[str], now: datetime) -> Selection:
    """The runs that ``text`` fits, of those named by ``runs`` if there are any. Raises ``InvalidSetting``.

    Runs that repeat another with one thing changed are left out, unless ``runs`` or the filter asks for them.
    """
    found, asks_for_changed = _matching(field, text, now)
    changed = 0
    if runs:
        found = found.filter(pk__in=runs)
    elif not asks_for_changed:
        changed = found.filter(state=RunState.DONE).changed().count()
        found = found.unchanged()
    counted = found.order_by().aggregate(all=Count("pk"), done=Count("pk", filter=Q(state=RunState.DONE)))
    if counted["done"] > MOST_RUNS:
        raise InvalidSetting(
            field,
            f"fits {counted['done']:,} finished runs, and at most {MOST_RUNS:,} are compared at once; "
            "name an experiment, a tag or a time, as in “created > 7d ago”",
        )
    rows = _figures(found.filter(state=RunState.DONE), metrics)
    kept = without_repeats(rows)
    return Selection(kept, counted["all"] - counted["done"], len(rows) - len(kept), changed)


def of_configuration(name: str, metrics: Sequence[str]) -> Selection:
    """All finished runs of one configuration, whatever else is compared; changed ones where it has no others."""
    found = Run.objects.filter(configuration_hash=name, state=RunState.DONE)
    rows = _figures(found.unchanged(), metrics) or _figures(found, metrics)
    kept = without_repeats(rows)
    return Selection(kept, 0, len(rows) - len(kept))


def _matching(field: str, text: str, now: datetime) -> tuple[RunQuerySet, bool]:
    """The runs that fit, and whether ``text`` asks for changed ones: by ``changed``, or by naming runs."""
    try:
        return runs_matching(text, now), bool(named_fields(parse(text)) & ASKING_FOR_CHANGED)
    except InvalidSetting as error:
        error.field = field  # a filter knows not which of two it is
        raise


def _figures(runs: QuerySet[Run], metrics: Sequence[str]) -> list[Figures]:
    rows = runs.order_by("created", "position", "pk").values_list(*columns_of(metrics))[:MOST_RUNS]
    return [figures(row, metrics) for row in rows]


def columns_of(metrics: Sequence[str]) -> list[str]:
    """What is read of a run for these measures: their figures, and then of how many requests each share is."""
    known = measures()
    stored = {measure.path: f"figures__{measure.key}" for measure in known.values()}
    of = [known[name].of_path for name in metrics]
    requests = [stored.get(path) or "__".join(("summary", *path)) for path in of if path]
    return [*_TOLD, *(f"figures__{known[name].key}" for name in metrics), *requests]


def figures(row: Sequence[Any], metrics: Sequence[str]) -> Figures:
    """A run of which ``columns_of`` these measures were read."""
    run, configuration, seed, engine, verdict = row[: len(_TOLD)]
    values, made = row[len(_TOLD) : len(_TOLD) + len(metrics)], iter(row[len(_TOLD) + len(metrics) :])
    requests = tuple(next(made) if measures()[name].of_path else None for name in metrics)
    return Figures(run, configuration, seed, engine, verdict, tuple(values), requests)


def without_repeats(rows: Sequence[Figures]) -> list[Figures]:
    """As ``telemetry.lake.configurations.without_repeats`` has it: a simulated run is no replicate of itself."""
    last = {(one.configuration, one.seed): one.run for one in rows if one.engine == SIMULATED}
    return [one for one in rows if one.engine != SIMULATED or last[one.configuration, one.seed] == one.run]
