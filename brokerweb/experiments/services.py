"""What can be done with experiments and runs. Pages, REST, the admin, tasks and commands are doors to this."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count

from brokerweb.errors import NotPossible
from brokerweb.experiments.estimates import pace_of
from brokerweb.experiments.models import Experiment, Run, RunEvent, RunState
from brokerweb.experiments.states import ENDED, move, note
from brokerweb.topologies import services as topologies
from brokerweb.topologies.models import Topology
from overlay.chance import derive_seed
from overlay.errors import InvalidSetting
from overlay.experiment import sweeps
from overlay.experiment.definition import checked, configurations, expanded


@dataclass(frozen=True)
class Estimate:
    """What launching would make."""

    configurations: int
    count: int
    estimated_s: float
    basis: str
    """What the seconds of simulated runs are reckoned from; empty for live ones, which go by the clock."""
    axes: dict[str, list[Any]]
    """What varies between the configurations, and the values it takes."""


@dataclass(frozen=True)
class Launch:
    """What a launch made."""

    runs: list[Run]
    estimated_s: float

    @property
    def count(self) -> int:
        return len(self.runs)


def find_topology(topology_id: str) -> dict[str, Any] | None:
    """The document of a topology, or ``None``."""
    topology = Topology.objects.filter(pk=topology_id).first()
    return topologies.document(topology) if topology else None


def create(
    body: Mapping[str, Any],
    owner: User | None = None,
    *,
    report_when_done: bool = False,
    demo: bool = False,
) -> Experiment:
    """A new experiment from the body of ``POST /api/experiments/``. Raises ``InvalidSetting``."""
    definition, _ = checked(body, find_topology)
    return Experiment.objects.create(
        name=definition["name"].strip(),
        definition=definition,
        owner=owner,
        report_when_done=report_when_done,
        demo=demo,
    )


def estimate(definition: Mapping[str, Any]) -> Estimate:
    """What launching would make, and how long it takes. Takes a body as ``create`` does. Raises ``InvalidSetting``."""
    return _estimate(*checked(definition, find_topology))


def estimate_of(experiment: Experiment) -> Estimate:
    """The same of one that was checked when it was made. Raises ``InvalidSetting`` if a topology is gone."""
    return _estimate(experiment.definition, expanded(experiment.definition, find_topology))


def _estimate(definition: Mapping[str, Any], chosen: Sequence[Mapping[str, Any]]) -> Estimate:
    pace = pace_of(definition["engine"])
    seconds = pace.all_s([pace.run_s(configuration) for configuration in chosen] * definition["replicates"])
    count = len(chosen) * definition["replicates"]
    return Estimate(len(chosen), count, round(seconds, 1), pace.basis, sweeps.axes(definition))


@transaction.atomic
def launch(experiment: Experiment, owner: User | None = None) -> Launch:
    """Creates the runs, in random order, and queues them. Raises ``InvalidSetting`` if a topology is gone or wrong."""
    definition = experiment.definition
    pace = pace_of(definition["engine"])
    chosen = configurations(definition, find_topology)
    pairs = [(configuration, r) for configuration in chosen for r in range(definition["replicates"])]
    # Whatever drifts while the runs go by (a warmer machine, a busier one) falls on all configurations alike.
    Random(derive_seed(definition["seed"], "order")).shuffle(pairs)
    runs = [
        Run(
            experiment=experiment,
            position=position,
            configuration=configuration,
            configuration_hash=sweeps.configuration_hash(configuration),
            replicate=replicate,
            seed=str(derive_seed(definition["seed"], replicate)),
            estimated_s=pace.run_s(configuration),
            owner=owner,
        )
        for position, (configuration, replicate) in enumerate(pairs)
    ]
    Run.objects.bulk_create(runs)
    RunEvent.objects.bulk_create(RunEvent(run=run, name=RunState.QUEUED) for run in runs)
    return Launch(runs, round(pace.all_s([run.estimated_s for run in runs]), 1))


def runs_by_state(experiments: Iterable[Experiment]) -> dict[str, dict[str, int]]:
    """By experiment's id, how many of its runs are in each state that one of them is in."""
    found: dict[str, dict[str, int]] = {experiment.pk: {} for experiment in experiments}
    rows = Run.objects.filter(experiment__in=found).order_by().values_list("experiment", "state").annotate(Count("pk"))
    for experiment, state, count in rows:
        found[experiment][state] = count
    return found


def cancel(run: Run) -> Run:
    """Stops a run: a queued one at once, an active one soon, keeping what it measured. Ended ones are left as they are.

    Raises ``NotPossible`` for a run that has ended.
    """
    run.refresh_from_db()
    if run.state == RunState.QUEUED and move(run, RunState.CANCELLED, "Cancelled before it began."):
        return run
    run.refresh_from_db()
    if run.state in ENDED:
        raise NotPossible(f"This run is {run.state} already.")
    if Run.objects.filter(pk=run.pk, cancel_requested=False).update(cancel_requested=True):
        note(run, "cancel requested")
    run.refresh_from_db()
    return run


def rerun(run: Run, owner: User | None = None) -> Run:
    """The same configuration with the same seed again, as a new run."""
    again = Run.objects.create(
        experiment=run.experiment,
        position=run.position,
        configuration=run.configuration,
        configuration_hash=run.configuration_hash,
        replicate=run.replicate,
        seed=run.seed,
        estimated_s=run.estimated_s,
        rerun_of=run,
        owner=owner,
    )
    note(again, RunState.QUEUED, f"The same as run {run.id}, with its seed.")
    return again


def delete(experiment: Experiment) -> None:
    """Deletes an experiment and its runs. Raises ``NotPossible`` while one of them has not ended."""
    with transaction.atomic():
        if experiment.runs.exclude(state__in=ENDED).exists():
            raise NotPossible("This experiment still has runs that have not ended; cancel them first.")
        experiment.delete()


def seed_of(run: Run) -> int:
    """The run's 64-bit seed."""
    try:
        return int(run.seed)
    except ValueError:
        raise InvalidSetting("seed", f"{run.seed!r:.30} is not a number") from None
