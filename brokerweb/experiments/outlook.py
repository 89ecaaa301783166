"""How long runs still take and what they wait for; computed when somebody looks, so it is never stale."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from statistics import median

from django.utils import timezone

from brokerweb.experiments.models import Run, RunState
from brokerweb.experiments.states import ACTIVE, ENDED, UNFINISHED
from brokerweb.networks.services import worker_missing
from brokerweb.reports.queue import computing

COLLECT_S = 3.0
"""Draining and collecting after the measurement; what is known better comes from finished runs."""


@dataclass(frozen=True)
class Outlook:
    """Of one run: seconds until it ends, and what it waits for."""

    eta_s: float | None
    waiting_for: str


class Queue:
    """The runs that have not ended, read once; ask it about as many runs as a page shows."""

    def __init__(self) -> None:
        self._now = timezone.now()
        fields = ("state", "estimated_s", "launched_at", "ends_at", "created", "position", "experiment__name")
        unfinished = Run.objects.filter(state__in=UNFINISHED).select_related("experiment").only(*fields)
        unfinished = unfinished.order_by("created", "position", "pk")
        self._rows = list(unfinished)
        self.active = [run for run in self._rows if run.state in ACTIVE]
        self.queued = [run for run in self._rows if run.state == RunState.QUEUED]
        self._place = {run.pk: place for place, run in enumerate(self.queued)}

    @cached_property
    def pace(self) -> float:
        """How much longer runs take than was reckoned: the median of the last twenty."""
        done = Run.objects.filter(state=RunState.DONE, launched_at__isnull=False, estimated_s__gt=0)
        took = done.order_by("-ended_at").values_list("launched_at", "ended_at", "estimated_s")[:20]
        ratios = [
            (ended - launched).total_seconds() / estimated for launched, ended, estimated in took if launched and ended
        ]
        return min(4.0, max(0.25, median(ratios))) if ratios else 1.0

    @cached_property
    def _worker_missing(self) -> str:
        return worker_missing()

    @cached_property
    def _report(self) -> str:
        report = computing()
        return f"behind report {report.id}" if report else ""

    def outlook(self, run: Run) -> Outlook:
        """Of ``run``, as it was read."""
        if run.state in ENDED:
            return Outlook(0.0, "")
        if run.state in ACTIVE:
            return Outlook(round(self._left_s(run), 1), "")
        if self._worker_missing:
            return Outlook(None, self._worker_missing)
        place = self._place.get(run.pk, 0)
        ahead = sum(self._left_s(one) for one in self.active) + self.pace * sum(
            one.estimated_s for one in self.queued[: place + 1]
        )
        return Outlook(round(ahead, 1), self._waiting_for(place))

    def _waiting_for(self, place: int) -> str:
        ahead = [*self.active, *self.queued[:place]]
        if not ahead:
            return self._report
        first, others = ahead[0], len(ahead) - 1
        behind = f"behind run {first.position + 1} of {first.experiment.name}"
        return f"{behind} and {others} more" if others else behind

    def _left_s(self, run: Run) -> float:
        if run.state == RunState.COLLECTING:
            return COLLECT_S
        if run.ends_at:
            return max(0.0, (run.ends_at - self._now).total_seconds()) + COLLECT_S
        begun = run.launched_at or self._now
        return max(COLLECT_S, run.estimated_s * self.pace - (self._now - begun).total_seconds())
