"""The runs of a comparison and their figures: only the columns needed are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet

from brokerweb.experiments.figures import requests_behind
from brokerweb.experiments.models import Run, RunQuerySet, RunState
from brokerweb.runlist.filtering import named_fields, runs_matching
from overlay.core.engines import ENGINES, SIMULATED
from overlay.core.errors import InvalidSetting
from telemetry.filters import parse
from telemetry.reports.grouping import Value
from telemetry.systems.registry import measures

MOST_RUNS = 20_000
MOST_SAMPLED = 20
"""Runs of a system and engine that are asked which figures they have."""
_TOLD = ("pk", "configuration_hash", "seed", "engine", "verdict")
ASKING_FOR_CHANGED = {"changed", "id", "configuration"}
"""Filter fields that select individual runs or configurations, or what-if runs."""


class Figures(NamedTuple):
    """One run and its figures."""

    run: str
    configuration: str
    seed: str
    engine: str
    verdict: str
    """The run's verdict: valid or suspect."""
    values: tuple[float | None, ...]
    """In the requested order."""
    requests: tuple[float | None, ...] = ()
    """Number of requests behind each figure that is a share."""

    def value(self, at: int) -> Value | None:
        found = self.values[at]
        made = self.requests[at] if self.requests else None
        return None if found is None else Value(self.configuration, self.seed, found, made)


@dataclass(frozen=True)
class Selection:
    """The compared runs, oldest first."""

    runs: list[Figures]
    not_done: int
    """Matching runs without a result."""
    repeats: int
    """Simulated runs excluded because a later run has the same configuration and seed, and thus the same result."""
    changed: int = 0
    """Finished what-if runs, excluded unless the query selects them."""

    def representatives(self) -> dict[str, str]:
        """The first run of each configuration."""
        found: dict[str, str] = {}
        for one in self.runs:
            found.setdefault(one.configuration, one.run)
        return found


def select(field: str, text: str, runs: Sequence[str], metrics: Sequence[str], now: datetime) -> Selection:
    """The runs that match ``text``, limited to the ids in ``runs`` if given. Raises ``InvalidSetting``.

    What-if runs are excluded unless ``runs`` or the filter selects them.
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
            f"matches {counted['done']:,} finished runs; at most {MOST_RUNS:,} can be compared; "
            "narrow it by experiment, tag or time, as in “created > 7d ago”",
        )
    rows = _figures(found.filter(state=RunState.DONE), metrics)
    kept = without_repeats(rows)
    return Selection(kept, counted["all"] - counted["done"], len(rows) - len(kept), changed)


def chosen(field: str, text: str, runs: Sequence[str], now: datetime) -> RunQuerySet:
    """The finished runs that match. Raises ``InvalidSetting``."""
    found, _ = _matching(field, text, now)
    return (found.filter(pk__in=runs) if runs else found).filter(state=RunState.DONE)


def systems(runs: RunQuerySet) -> list[str]:
    return list(runs.order_by().values_list("system", flat=True).distinct())


def measured(runs: RunQuerySet, systems: Sequence[str]) -> dict[str, set[str]]:
    """The keys of the figures that the newest runs of each system have, and that are not zero in all of them."""
    newest = runs.order_by("-created")
    some = {system: [newest.filter(system=system, engine=engine) for engine in ENGINES] for system in systems}
    return {system: set().union(*map(_keys, found)) for system, found in some.items()}


def _keys(runs: QuerySet[Run]) -> set[str]:
    rows = runs.values_list("figures", flat=True)[:MOST_SAMPLED]
    return {key for figures in rows for key, value in figures.items() if value}


def of_configuration(name: str, metrics: Sequence[str]) -> Selection:
    """All finished runs of one configuration, regardless of the selection; what-if runs only if there are no others."""
    found = Run.objects.filter(configuration_hash=name, state=RunState.DONE)
    rows = _figures(found.unchanged(), metrics) or _figures(found, metrics)
    kept = without_repeats(rows)
    return Selection(kept, 0, len(rows) - len(kept))


def _matching(field: str, text: str, now: datetime) -> tuple[RunQuerySet, bool]:
    """The matching runs, and whether ``text`` selects what-if runs, by ``changed`` or by naming runs."""
    try:
        return runs_matching(text, now), bool(named_fields(parse(text)) & ASKING_FOR_CHANGED)
    except InvalidSetting as error:
        error.field = field  # the filter cannot distinguish the two
        raise


def _figures(runs: QuerySet[Run], metrics: Sequence[str]) -> list[Figures]:
    rows = runs.order_by("created", "position", "pk").values_list(*columns_of(metrics))[:MOST_RUNS]
    return [figures(row, metrics) for row in rows]


def columns_of(metrics: Sequence[str]) -> list[str]:
    """Columns read for these measures: the figures, then the request counts behind shares."""
    known = measures()
    requests = [requests_behind(known[name]) for name in metrics if known[name].of_path]
    return [*_TOLD, *(f"figures__{known[name].key}" for name in metrics), *requests]


def figures(row: Sequence[Any], metrics: Sequence[str]) -> Figures:
    """A run's figures, from the values of ``columns_of`` these measures."""
    run, configuration, seed, engine, verdict = row[: len(_TOLD)]
    values, made = row[len(_TOLD) : len(_TOLD) + len(metrics)], iter(row[len(_TOLD) + len(metrics) :])
    known = measures()
    requests = tuple(next(made) if known[name].of_path else None for name in metrics)
    return Figures(run, configuration, seed, engine, verdict, tuple(values), requests)


def without_repeats(rows: Sequence[Figures]) -> list[Figures]:
    """See ``telemetry.lake.configurations.without_repeats``: a repeated simulation is not another replicate."""
    last = {(one.configuration, one.seed): one.run for one in rows if one.engine == SIMULATED}
    return [one for one in rows if one.engine != SIMULATED or last[one.configuration, one.seed] == one.run]
