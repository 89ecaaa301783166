"""A finished run again with one thing changed, and what that changed, request by request.

Counterparts: ``overlay.experiment.whatif`` says what can be changed, ``telemetry.paired`` compares.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from brokerweb.errors import NotPossible
from brokerweb.experiments.models import Run, RunState
from brokerweb.experiments.states import note
from overlay.experiment.sweeps import configuration_hash
from overlay.experiment.whatif import changed, in_words
from telemetry import paired
from telemetry.paired import Paired
from telemetry.runs import Lake


@transaction.atomic
def what_if(run: Run, change: Any, owner: User | None = None) -> Run:
    """A new run with the same seed, workload and arrivals, and one thing changed.

    Raises ``InvalidSetting`` for what is no change, and ``NotPossible`` for a run that was not finished.
    """
    if run.state != RunState.DONE:
        raise NotPossible(f"This run is {run.state}; one thing is changed in runs that are done.")
    configuration = changed(run.configuration, change)
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
    )
    note(again, RunState.QUEUED, f"As run {run.id} with its seed, {in_words(change)}.")
    return again


def baseline(run: Run) -> Run | None:
    """The run that this one is held against: the one it changes, or the one it repeats."""
    return run.compared_with or run.rerun_of


def words_of(run: Run) -> str:
    """What is different in it from its baseline."""
    return in_words(run.change) if run.change else "the same again"


def difference(run: Run) -> Paired | None:
    """What changed from its baseline; ``None`` without one, and until both were collected."""
    before = baseline(run)
    if before is None or not (before.summary and run.summary):
        return None
    return _compared(Path(settings.LAKE), before.pk, run.pk)


@lru_cache(maxsize=64)
def _compared(lake: Path, before: str, after: str) -> Paired | None:
    """Of two runs that are collected, which is once and for all; a million requests take 0.7 s of processor."""
    return paired.compare(Lake(lake), before, after)
