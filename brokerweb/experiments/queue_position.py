"""Remaining time of runs and the reason they wait, computed on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import accumulate
from statistics import median
from typing import Any, NamedTuple

from django.utils import timezone

from brokerweb.experiments import pause
from brokerweb.experiments.models import Run, RunState
from brokerweb.experiments.states import ACTIVE, ENDED, UNFINISHED
from brokerweb.networks.services import worker_missing
from overlay.core.engines import SIMULATED
from overlay.experiment.whatif import in_words
from overlay.load.windows import OVERHEAD_S
from telemetry.lake.manifest import usable_cores

COLLECT_S = 3.0
"""Default time for draining and collecting; finished runs give better values."""
TELLING = 0.05
"""Progress from which a simulated run's own speed predicts the rest."""


OTHERS: list[Callable[[], str]] = []
"""Functions that return what a run waits for apart from runs, as a phrase such as "behind report 3", or an empty
string. Apps register them when they are ready.
"""


@dataclass(frozen=True)
class QueuePosition:
    """Of one run: seconds until it ends, and the reason it waits."""

    eta_s: float | None
    waiting_for: str


class Waiting(NamedTuple):
    """Columns read of an unfinished run; queues may have thousands and are read every second."""

    pk: str
    engine: str
    state: str
    progress: float
    estimated_s: float
    launched_at: datetime | None
    ends_at: datetime | None
    lease_owner: str
    position: int
    change: dict[str, Any]
    experiment__name: str

    @property
    def title(self) -> str:
        return titled(self.experiment__name, self.position, self.change)


def titled(experiment: str, position: int, change: Mapping[str, Any]) -> str:
    """A run's title. A what-if run has the same number as its original, so its change is added."""
    return f"run {position + 1} of {experiment}" + (f" (what if: {in_words(change)})" if change else "")


class Queue:
    """Unfinished runs, read once on first use."""

    def __init__(self) -> None:
        self._now = timezone.now()
        self._learnt: dict[str, float] = {}

    @cached_property
    def _rows(self) -> list[Waiting]:
        unfinished = Run.objects.filter(state__in=UNFINISHED).order_by("created", "position", "pk")
        return [Waiting(*row) for row in unfinished.values_list(*Waiting._fields)]

    @property
    def runs(self) -> int:
        """Number of unfinished runs."""
        return len(self._rows)

    @cached_property
    def active(self) -> list[Waiting]:
        """Number of active runs."""
        return [run for run in self._rows if run.state in ACTIVE]

    @cached_property
    def queued(self) -> list[Waiting]:
        """Queued runs, the next one first."""
        return [run for run in self._rows if run.state == RunState.QUEUED]

    @cached_property
    def _place(self) -> dict[str, int]:
        return {run.pk: place for place, run in enumerate(self.queued)}

    @cached_property
    def _estimated_s(self) -> Sequence[float]:
        """Cumulative estimated seconds by position in the queue."""
        return list(accumulate(self._expected_s(run) / self._at_a_time(run) for run in self.queued))

    @cached_property
    def _active_s(self) -> float:
        return sum(self._left_s(run) / self._at_a_time(run) for run in self.active)

    @cached_property
    def left_s(self) -> float:
        """Seconds until all have ended, if the queue is not held."""
        return self._active_s + (self._estimated_s[-1] if self.queued else 0.0)

    @cached_property
    def queue_ends_s(self) -> float | None:
        """Seconds until the last queued run has ended; ``None`` without one, or if no worker responds."""
        return self.position(self.queued[-1]).eta_s if self.queued else None

    @cached_property
    def _simulated_at_a_time(self) -> int:
        return max(1, min(usable_cores(), sum(run.engine == SIMULATED for run in self._rows)))

    def _at_a_time(self, run: Run | Waiting) -> int:
        """Number of concurrent runs of this engine."""
        return self._simulated_at_a_time if run.engine == SIMULATED else 1

    def expected_s(self, engine: str, estimated_s: float) -> float:
        """Expected seconds of a run estimated at ``estimated_s``, corrected by the median of the last twenty of its
        engine.

        For simulated runs the correction is a factor. Live runs take their configured time plus overhead, so the
        correction is a number of seconds: a factor learnt from short runs would be wrong for long ones.
        """
        if engine not in self._learnt:
            self._learnt[engine] = self._learn(engine)
        learnt = self._learnt[engine]
        return estimated_s * learnt if engine == SIMULATED else estimated_s + learnt

    def _expected_s(self, run: Run | Waiting) -> float:
        return self.expected_s(run.engine, run.estimated_s)

    def _learn(self, engine: str) -> float:
        """The correction: a factor for simulated runs, seconds for live ones."""
        done = Run.objects.filter(engine=engine, state=RunState.DONE, launched_at__isnull=False, estimated_s__gt=0)
        if engine == SIMULATED:  # by its own clock: a short run is reported only after it has ended
            lately = done.filter(observed__simulation__took_s__gt=0).order_by("-ended_at")
            told = lately.values_list("observed__simulation__took_s", "estimated_s")[:20]
            ratios = [took_s / estimated_s for took_s, estimated_s in told]
            return min(4.0, max(0.25, median(ratios))) if ratios else 1.0
        took = done.order_by("-ended_at").values_list("launched_at", "ended_at", "estimated_s")[:20]
        more_s = [(end - begin).total_seconds() - estimated_s for begin, end, estimated_s in took if begin and end]
        return max(-OVERHEAD_S, median(more_s)) if more_s else 0.0

    @cached_property
    def _worker_missing(self) -> str:
        return worker_missing()

    @cached_property
    def held(self) -> str:
        """The reason the queue is held, as a phrase: a pause or a full disk."""
        return pause.why_held()

    @cached_property
    def _others(self) -> str:
        return next(filter(None, (why() for why in OTHERS)), "")

    def position(self, run: Run | Waiting) -> QueuePosition:
        """The position of ``run``."""
        if run.state in ENDED:
            return QueuePosition(0.0, "")
        if run.state in ACTIVE:
            return QueuePosition(round(self._left_s(run), 1), "")
        if self._worker_missing:
            return QueuePosition(None, self._worker_missing)
        if self.held:
            return QueuePosition(None, self.held)
        place = self._place.get(run.pk, 0)
        # A run queued after this snapshot has no place in it; it gets the shortest wait.
        ahead = self._active_s + (self._estimated_s[place] if self.queued else 0.0)
        return QueuePosition(round(ahead, 1), self._waiting_for(run, place))

    def _waiting_for(self, run: Run | Waiting, place: int) -> str:
        if run.engine == SIMULATED and run.lease_owner:
            return "in the batch being simulated" if self.active else "its batch is starting"
        others = len(self.active) + place - 1
        if others < 0:
            return self._others
        first = self.active[0] if self.active else self.queued[0]
        behind = f"behind {first.title}"
        return f"{behind} and {others} more" if others else behind

    def _left_s(self, run: Run | Waiting) -> float:
        if run.state == RunState.COLLECTING:
            return COLLECT_S
        if run.ends_at:
            return max(0.0, (run.ends_at - self._now).total_seconds()) + COLLECT_S
        taken_s = (self._now - (run.launched_at or self._now)).total_seconds()
        if run.engine == SIMULATED and run.progress > TELLING:
            return taken_s * (1 / run.progress - 1)
        return max(COLLECT_S, self._expected_s(run) - taken_s)


def with_queue_position(runs: Iterable[Run], queue: Queue) -> None:
    """Sets ``queue_position`` on each run."""
    for run in runs:
        run.queue_position = queue.position(run)  # type: ignore[attr-defined]
