"""Which runs a comparison is of, and the figures of each: a few columns of each run, however much is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, Q, QuerySet

from brokerweb.experiments.models import Run, RunState
from brokerweb.runlist.filtering import runs_matching
from overlay.engines import SIMULATED
from overlay.errors import InvalidSetting
from telemetry.grouping import Value

MOST_RUNS = 20_000


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

    def value(self, at: int) -> Value | None:
        found = self.values[at]
        return None if found is None else Value(self.configuration, self.seed, found)


@dataclass(frozen=True)
class Selection:
    """The runs that are compared, oldest first."""

    runs: list[Figures]
    not_done: int
    """Runs that the filter fits and that have no result."""
    repeats: int
    """Simulated runs of which there is a later one with the same configuration and seed: it follows from these."""

    def representatives(self) -> dict[str, str]:
        """Of each configuration, the first run that has it."""
        found: dict[str, str] = {}
        for one in self.runs:
            found.setdefault(one.configuration, one.run)
        return found


def select(field: str, text: str, runs: Sequence[str], metrics: Sequence[str], now: datetime) -> Selection:
    """The runs that ``text`` fits, of those named by ``runs`` if there are any. Raises ``InvalidSetting``."""
    found = _matching(field, text, now)
    if runs:
        found = found.filter(pk__in=runs)
    counted = found.order_by().aggregate(all=Count("pk"), done=Count("pk", filter=Q(state=RunState.DONE)))
    if counted["done"] > MOST_RUNS:
        raise InvalidSetting(
            field,
            f"fits {counted['done']:,} finished runs, and at most {MOST_RUNS:,} are compared at once; "
            "name an experiment, a tag or a time, as in “created > 7d ago”",
        )
    rows = _figures(found.filter(state=RunState.DONE), metrics)
    kept = without_repeats(rows)
    return Selection(kept, counted["all"] - counted["done"], len(rows) - len(kept))


def of_configuration(name: str, metrics: Sequence[str]) -> Selection:
    """All finished runs of one configuration, whatever else is compared."""
    rows = _figures(Run.objects.filter(configuration_hash=name, state=RunState.DONE), metrics)
    kept = without_repeats(rows)
    return Selection(kept, 0, len(rows) - len(kept))


def _matching(field: str, text: str, now: datetime) -> QuerySet[Run]:
    try:
        return runs_matching(text, now)
    except InvalidSetting as error:
        error.field = field  # a filter knows not which of two it is
        raise


def _figures(runs: QuerySet[Run], metrics: Sequence[str]) -> list[Figures]:
    columns = [f"figure_{name}" for name in metrics]
    told = ("pk", "configuration_hash", "seed", "engine", "verdict")
    rows = runs.order_by("created", "position", "pk").values_list(*told, *columns)[:MOST_RUNS]
    return [
        Figures(run, name, seed, engine, verdict, tuple(values)) for run, name, seed, engine, verdict, *values in rows
    ]


def without_repeats(rows: Sequence[Figures]) -> list[Figures]:
    """As ``telemetry.configurations.without_repeats`` has it: a simulated run is no replicate of itself."""
    last = {(one.configuration, one.seed): one.run for one in rows if one.engine == SIMULATED}
    return [one for one in rows if one.engine != SIMULATED or last[one.configuration, one.seed] == one.run]
