"""Runs that differ in their arm alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from brokerweb.experiments.models import Run, RunState
from overlay.systems.silbops.names import SIENA, SILBOPS
from overlay.systems.silbops.system import SYSTEM

ARMS = (SILBOPS, SIENA)
COLUMNS = tuple(
    f"configuration__{part}" for part in ("topology__kind", "topology__brokers", "settings", "workload", "faults")
)
"""Of what ``arm_and_rest`` takes."""


def arm_and_rest(kind: str, brokers: int, settings: dict[str, Any], workload: Any, faults: Any) -> tuple[str, str]:
    """The arm of a configuration, and a text of all else."""
    whole = SYSTEM.whole(settings)
    return whole.pop("arm"), json.dumps([kind, brokers, whole, workload, faults or []], sort_keys=True)


def other_arm(run: Run) -> Run | None:
    """The run of the same experiment and seed that differs in its arm alone, once it is done."""
    of = Run.objects.unchanged().filter(experiment_id=run.experiment_id, seed=run.seed, rerun_of=None)
    found = {id: arm_and_rest(*parts) for id, *parts in _parts(of)}
    if run.pk not in found:
        return None
    arm, rest = found[run.pk]
    others = [id for id, (its_arm, its_rest) in found.items() if its_arm != arm and its_rest == rest]
    return of.filter(pk__in=others, state=RunState.DONE).first()


def _parts(runs: Any) -> Iterator[tuple[Any, ...]]:
    yield from runs.values_list("id", *COLUMNS)
