"""How long runs still take and what they wait for; computed when somebody looks, so it is never stale."""

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
"""Draining and collecting after the measurement; what is known better comes from finished runs."""
TELLING = 0.05
"""Of a simulated run: from this much progress on, it says itself how long the rest takes."""


OTHERS: list[Callable[[], str]] = []
"""What a run may have to wait for that is no run, each as a phrase such as "behind report 3"; empty: nothing. Apps that
know of such a thing add it when they are ready.
"""


@dataclass(frozen=True)
class QueuePosition:
    """Of one run: seconds until it ends, and what it waits for."""

    eta_s: float | None
    waiting_for: str


class Waiting(NamedTuple):
    """What is read of a run that has not ended: a queue may hold thousands, and is read every second."""

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
    """A run by its number, which one with something changed shares with the run that it repeats."""
    return f"run {position + 1} of {experiment}" + (f" (what if: {in_words(change)})" if change else "")


class Queue:
    """The runs that have not ended, read once, when the first of them is asked about; ask about as many as you show."""

    def __init__(self) -> None:
        self._now = timezone.now()
        self._learnt: dict[str, float] = {}

    @cached_property
    def _rows(self) -> list[Waiting]:
        unfinished = Run.objects.filter(state__in=UNFINISHED).order_by("created", "position", "pk")
        return [Waiting(*row) for row in unfinished.values_list(*Waiting._fields)]

    @property
    def runs(self) -> int:
        """How many they are."""
        return len(self._rows)

    @cached_property
    def active(self) -> list[Waiting]:
        """Runs under way."""
        return [run for run in self._rows if run.state in ACTIVE]

    @cached_property
    def queued(self) -> list[Waiting]:
        """Runs that wait, the next one first."""
        return [run for run in self._rows if run.state == RunState.QUEUED]

    @cached_property
    def _place(self) -> dict[str, int]:
        return {run.pk: place for place, run in enumerate(self.queued)}

    @cached_property
    def _reckoned_s(self) -> Sequence[float]:
        """By place, what it and all queued before it take as estimated before."""
        return list(accumulate(self._expected_s(run) / self._at_a_time(run) for run in self.queued))

    @cached_property
    def _active_s(self) -> float:
        return sum(self._left_s(run) / self._at_a_time(run) for run in self.active)

    @cached_property
    def left_s(self) -> float:
        """Seconds that all of them still take, once nothing holds them."""
        return self._active_s + (self._reckoned_s[-1] if self.queued else 0.0)

    @cached_property
    def queue_ends_s(self) -> float | None:
        """Seconds until the last queued run has ended; ``None`` without one, or while no worker answers."""
        return self.position(self.queued[-1]).eta_s if self.queued else None

    @cached_property
    def _simulated_at_a_time(self) -> int:
        return max(1, min(usable_cores(), sum(run.engine == SIMULATED for run in self._rows)))

    def _at_a_time(self, run: Run | Waiting) -> int:
        """How many go at a time of the runs like this one."""
        return self._simulated_at_a_time if run.engine == SIMULATED else 1

    def expected_s(self, engine: str, estimated_s: float) -> float:
        """Seconds that a run takes which was estimated at ``estimated_s``, by the median of the last twenty like it.

        Simulated runs take so many times as long as estimated. Live ones last as long as they are told to by the wall
        clock, so what is learnt of them are the seconds that they take besides: a factor from short runs would have a
        run of 80 s end after 60.
        """
        if engine not in self._learnt:
            self._learnt[engine] = self._learn(engine)
        learnt = self._learnt[engine]
        return estimated_s * learnt if engine == SIMULATED else estimated_s + learnt

    def _expected_s(self, run: Run | Waiting) -> float:
        return self.expected_s(run.engine, run.estimated_s)

    def _learn(self, engine: str) -> float:
        """A factor for simulated runs, seconds for live ones."""
        done = Run.objects.filter(engine=engine, state=RunState.DONE, launched_at__isnull=False, estimated_s__gt=0)
        if engine == SIMULATED:  # by its own clock: a short one is heard of only when it is over
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
        """What keeps all that is queued from being launched, as a phrase: a pause, or a disk that is full."""
        return pause.why_held()

    @cached_property
    def _others(self) -> str:
        return next(filter(None, (why() for why in OTHERS)), "")

    def position(self, run: Run | Waiting) -> QueuePosition:
        """Of ``run``, as it was read."""
        if run.state in ENDED:
            return QueuePosition(0.0, "")
        if run.state in ACTIVE:
            return QueuePosition(round(self._left_s(run), 1), "")
        if self._worker_missing:
            return QueuePosition(None, self._worker_missing)
        if self.held:
            return QueuePosition(None, self.held)
        place = self._place.get(run.pk, 0)
        # A run that was queued after the queue was read has no place in it; it is shown the shortest wait there is.
        ahead = self._active_s + (self._reckoned_s[place] if self.queued else 0.0)
        return QueuePosition(round(ahead, 1), self._waiting_for(run, place))

    def _waiting_for(self, run: Run | Waiting, place: int) -> str:
        if run.engine == SIMULATED and run.lease_owner:
            return "in the batch that is being simulated" if self.active else "the batch that it is in is starting"
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


def with_outlook(runs: Iterable[Run], queue: Queue) -> None:
    """Gives each run what it waits for, in ``queue_position``."""
    for run in runs:
        run.queue_position = queue.position(run)  # type: ignore[attr-defined]
