"""What-if runs: repeats a finished run with one change, and compares the two request by request.

Counterparts: ``overlay.experiment.whatif`` defines the changes, ``telemetry.reports.paired`` compares. One pair of runs
covers one seed; a change of every replicate gives an interval over seeds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from brokerweb.experiments import launch_tasks
from brokerweb.experiments.models import Run, RunState
from brokerweb.experiments.states import UNFINISHED, note
from brokerweb.kit.errors import NotPossible
from overlay.core.engines import LIVE
from overlay.experiment.sweeps import configuration_hash
from overlay.experiment.whatif import changed, in_words
from telemetry.lake.runs import Lake
from telemetry.reports import paired
from telemetry.reports.paired import Paired, over_seeds

RECORD_MB = 64
"""Recording size of a rerun for replay, MB: about 250,000 messages per broker."""
MOST_SEEDS = 30
"""Maximum number of replicates changed together: more hardly narrow the interval."""
MOST_LOOKED_AT = 300
"""Number of latest runs searched for replicates."""
DOCUMENTS = ("summary", "observed", "configuration")


@dataclass(frozen=True, slots=True)
class Seed:
    """One pair of runs."""

    before: Run
    after: Run
    found: Paired


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference, over all seeds for which both runs exist."""

    whole: Paired
    seeds: list[Seed]
    """By replicate; includes the requested run."""
    left: int
    """Unfinished runs with other seeds."""


def replicates(run: Run) -> list[Run]:
    """The run, and the latest finished run of every other seed of its configuration in its experiment."""
    candidates = Run.objects.filter(
        experiment=run.experiment_id, configuration_hash=run.configuration_hash, state=RunState.DONE
    )
    newest = candidates.exclude(seed=run.seed).order_by("-created").defer(*DOCUMENTS)[:MOST_LOOKED_AT]
    return [run, *_one_of_each_seed(newest)][:MOST_SEEDS]


@transaction.atomic
def what_if(run: Run, change: Any, owner: User | None = None) -> Run:
    """Create a run with the same seed, workload and arrivals, and one change.

    Raises ``InvalidSetting`` if it is not a change, and ``NotPossible`` if the run is not done.
    """
    _check(run)
    return _varied(run, changed(run.configuration, change), change, owner)


@transaction.atomic
def what_if_in_all(run: Run, change: Any, owner: User | None = None) -> tuple[Run, list[Run]]:
    """``what_if`` for each of its ``replicates``; returns the variant of ``run`` and all created runs.

    Replicates that already have this change are skipped. Raises like ``what_if``.
    """
    _check(run)
    configuration = changed(run.configuration, change)
    there = Run.objects.filter(experiment=run.experiment_id, configuration_hash=configuration_hash(configuration))
    there = there.exclude(state__in=(RunState.FAILED, RunState.CANCELLED)).order_by("-created")
    known = {one.seed: one for one in _one_of_each_seed(there) if one.compared_with_id and one.change == change}
    made = {
        one.seed: _varied(one, changed(one.configuration, change), change, owner)
        for one in replicates(run)
        if one.seed not in known
    }
    return {**known, **made}[run.seed], list(made.values())


def baseline(run: Run) -> Run | None:
    """The run that this one is compared with: the one it changes or repeats."""
    return run.compared_with or run.rerun_of


def words_of(run: Run) -> str:
    """Text of the difference from its baseline."""
    return in_words(run.change) if run.change else "unchanged"


def difference(run: Run) -> Difference | None:
    """The difference from its baseline, with other seeds; ``None`` without a baseline, and until both are collected.

    Other seeds count once both of their runs are done and have samples.
    """
    before = baseline(run)
    if before is None or not (before.summary and run.summary):
        return None
    own = _compared(Path(settings.LAKE), before.pk, run.pk)
    if own is None:
        return None
    seeds = [Seed(before, run, own)]
    related = _same_change(run, before)
    done = related.filter(state=RunState.DONE).order_by("-created")
    for other in _one_of_each_seed(one for one in done if one.change == run.change):
        held = baseline(other)
        if held is None or held.state != RunState.DONE or len(seeds) == MOST_SEEDS:
            continue
        if found := _compared(Path(settings.LAKE), held.pk, other.pk):
            seeds.append(Seed(held, other, found))
    seeds.sort(key=lambda one: (one.after.replicate, one.after.seed))
    left = sum(one.change == run.change for one in related.filter(state__in=UNFINISHED))
    return Difference(over_seeds([one.found for one in seeds]), seeds, left)


def _same_change(run: Run, before: Run) -> QuerySet[Run]:
    """Runs with other seeds that have the same relation to their baselines."""
    held = "compared_with" if run.compared_with_id else "rerun_of"
    same = {"configuration_hash": run.configuration_hash, f"{held}__configuration_hash": before.configuration_hash}
    rows = Run.objects.filter(experiment=run.experiment_id, **same).exclude(seed=run.seed)
    return rows.select_related(held).defer(*DOCUMENTS, *(f"{held}__{name}" for name in DOCUMENTS))


def _one_of_each_seed(runs: Iterable[Run]) -> list[Run]:
    """The first run of each seed."""
    found: dict[str, Run] = {}
    for run in runs:
        found.setdefault(run.seed, run)
    return list(found.values())


def _check(run: Run) -> None:
    if run.state != RunState.DONE:
        raise NotPossible(f"This run is {run.state}. What-if runs need a run in state done.")


def _varied(run: Run, configuration: dict[str, Any], change: Any, owner: User | None) -> Run:
    again = Run.objects.create(
        experiment=run.experiment,
        position=run.position,
        configuration=configuration,
        configuration_hash=configuration_hash(configuration),
        replicate=run.replicate,
        seed=run.seed,
        estimated_s=run.estimated_s,
        compared_with=run,
        change=change,
        owner=owner,
        asked_at=launch_tasks.now_if_asked() if run.engine == LIVE else None,
    )
    transaction.on_commit(launch_tasks.launch_next)
    note(again, RunState.QUEUED, f"Run {run.id} with the same seed, {in_words(change)}.")
    return again


@lru_cache(maxsize=256)
def _compared(lake: Path, before: str, after: str) -> Paired | None:
    """The comparison of two collected runs, cached because it never changes; a million requests take 0.7 s."""
    return paired.compare(Lake(lake), before, after)
