"""Experiments and runs to select for reports and schedules."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Exists, OuterRef
from django.utils import timezone

from brokerweb.experiments.models import Experiment, Run, RunState
from brokerweb.kit import picks
from brokerweb.kit.picks import Picks
from brokerweb.runlist.filtering import runs_matching
from telemetry.filters import InvalidFilter


def experiments(chosen: Sequence[str], find: str = "") -> Picks:
    """For a schedule: all, newest first."""
    return picks.by_name(Experiment.objects.defer("definition"), chosen, find)


def finished_experiments(chosen: Sequence[str], find: str = "") -> Picks:
    """For a report: experiments with a finished run."""
    done = Run.objects.filter(state=RunState.DONE, experiment=OuterRef("pk"))
    return picks.by_name(Experiment.objects.filter(Exists(done)).defer("definition"), chosen, find)


def finished_runs(chosen: Sequence[str], find: str = "") -> Picks:
    """For a report: finished runs with samples, the last ended first. ``find`` is a filter expression."""
    find = find.strip()[: picks.MOST_TYPED]
    rows = Run.objects.select_related("experiment").order_by("-ended_at")
    rows = rows.defer("configuration", "summary", "observed", "experiment__definition")
    own = rows.filter(pk__in=chosen)
    try:
        fitting = runs_matching(find, timezone.now()) if find else Run.objects.all()
    except InvalidFilter as error:
        return Picks(list(own), 0, find, error.sentence)
    whole = fitting.filter(state=RunState.DONE, files_removed=None).values("pk")
    return picks.of(rows.filter(pk__in=whole), own, find)
