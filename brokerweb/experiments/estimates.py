"""Estimates of a launch: run count, duration, disk space and whether the machine suffices. Nothing is saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Max, Min

from brokerweb.definitions import references
from brokerweb.definitions.normalisation import with_numbers
from brokerweb.definitions.references import References
from brokerweb.experiments import capacity, machine
from brokerweb.experiments.models import Experiment
from brokerweb.experiments.queue_position import Queue
from brokerweb.experiments.run_durations import pace_of
from brokerweb.topologies import services as topologies
from brokerweb.topologies import uses
from overlay.core.chance import derive_seed
from overlay.core.engines import LIVE
from overlay.core.errors import InvalidSetting
from overlay.experiment import sweeps
from overlay.experiment.definition import FIELDS, Checked, checked, expanded
from overlay.experiment.sweeps import axes
from overlay.systems.containment import contained
from overlay.systems.registry import SYSTEMS
from overlay.topologies import parts
from telemetry import thresholds
from telemetry.lake.manifest import usable_cores
from telemetry.systems.registry import measures_of


@dataclass(frozen=True)
class Estimate:
    """The estimate of a launch."""

    engine: str
    configurations: int
    replicates: int
    count: int
    estimated_s: float
    basis: str
    """Basis of the estimate for simulated runs; empty for live runs, which take real time."""
    axes: dict[str, list[Any]]
    """Varied parameters and their values."""
    disk_bytes: float = 0.0
    """Approximate disk usage of its runs."""
    runs_ahead: int = 0
    """Runs that are already queued or active."""
    ahead_s: float = 0.0
    """Seconds until those have ended."""
    to_make: list[str] = field(default_factory=list)
    """Names of topologies created with the experiment."""
    warning: str = ""
    """Warning before the launch; empty if none."""

    @property
    def ends_in_s(self) -> float:
        """Estimated seconds until its last run has ended."""
        return self.ahead_s + self.estimated_s


def estimate(body: Mapping[str, Any]) -> Estimate:
    """Estimate a launch. Takes the same body as ``create``. Raises ``InvalidSetting``."""
    found = references_of(body)
    definition, chosen = checked_body(body, found)
    with contained(definition["system"]):
        return _estimate(definition, chosen, found.to_make)


def checked_body(body: Mapping[str, Any], found: References) -> Checked:
    """Validate a body: by ``overlay``, thresholds against the available figures, and resources of this machine.

    Raises ``InvalidSetting``.
    """
    resolved = with_numbers(found.resolved(body)) if isinstance(body, Mapping) else body
    try:
        definition, chosen = checked(resolved, found.find)
    except InvalidSetting as error:
        if error.field == "replicates":  # the run count depends on several fields
            capacity.check_count({**FIELDS, **{name: value for name, value in resolved.items() if value is not None}})
        raise
    thresholds.read_all(definition["thresholds"], measures_of(definition["system"]))
    with contained(definition["system"]):
        capacity.check(chosen, machine.here(), usable_cores())
    return definition, chosen


def estimate_of(experiment: Experiment) -> Estimate:
    """The same for a stored experiment. Raises ``InvalidSetting`` if a topology was deleted."""
    with contained(experiment.definition["system"]):
        return _estimate(experiment.definition, expanded(experiment.definition, References().find))


@dataclass(frozen=True)
class Repetition:
    """The estimate of launching an experiment again."""

    configurations: int
    count: int
    estimated_s: float
    warning: str
    """As in ``Estimate``, about topologies only."""


def repetition_of(experiment: Experiment) -> Repetition:
    """Based on existing runs if there are any, which avoids expanding the configurations again.

    Raises ``InvalidSetting`` if a topology was deleted.
    """
    launched = experiment.runs.unchanged().order_by().values_list("configuration_hash")
    by_configuration = launched.annotate(first=Min("created"), s=Max("estimated_s")).order_by("first")
    # If a topology changed between two launches, there are runs of more configurations than one launch has.
    seconds_each = [seconds for _, _, seconds in by_configuration][-sweeps.count(experiment.definition) :]
    if not seconds_each:
        whole = estimate_of(experiment)
        return Repetition(whole.configurations, whole.count, whole.estimated_s, _of_topologies(experiment))
    if missing := references.missing(experiment.definition):
        raise InvalidSetting("topology", f"the topology with the id {missing[0]!r:.60} was deleted")
    replicates = experiment.definition["replicates"]
    engine = experiment.definition["engine"]
    queue = Queue()
    seconds = pace_of(engine).all_s([queue.expected_s(engine, one_s) for one_s in seconds_each] * replicates)
    count = len(seconds_each) * replicates
    return Repetition(len(seconds_each), count, round(seconds, 1), _of_topologies(experiment))


def _of_topologies(experiment: Experiment) -> str:
    """Warning about its current topologies before a relaunch."""
    return parts.before_launch(map(topologies.document, uses.in_parts(experiment.definition)))


def _estimate(
    definition: Mapping[str, Any], chosen: Sequence[Mapping[str, Any]], to_make: Sequence[str] = ()
) -> Estimate:
    pace, replicates, queue = pace_of(definition["engine"]), definition["replicates"], Queue()
    seconds_each = [pace.run_s(configuration) for configuration in chosen]
    if definition["engine"] == LIVE:  # the pace of simulated runs already includes earlier ones
        seconds_each = [queue.expected_s(LIVE, one_s) for one_s in seconds_each]
    seconds = pace.all_s(seconds_each * replicates)
    disk_bytes = sum(capacity.needs(configuration).disk for configuration in chosen) * replicates
    return Estimate(
        engine=definition["engine"],
        configurations=len(chosen),
        replicates=replicates,
        count=len(chosen) * replicates,
        estimated_s=round(seconds, 1),
        basis=pace.basis,
        axes=axes(definition),
        disk_bytes=disk_bytes,
        runs_ahead=queue.runs,
        ahead_s=round(queue.left_s, 1),
        to_make=list(to_make),
        warning=". ".join(
            filter(
                None,
                (
                    capacity.warning(disk_bytes, machine.here()),
                    _in_parts(chosen),
                    *SYSTEMS[definition["system"]].warnings(chosen, derive_seed(definition["seed"], 0)),
                ),
            )
        ),
    )


def _in_parts(chosen: Sequence[Mapping[str, Any]]) -> str:
    """Warning about disconnected topologies. Configurations share their documents."""
    documents = {id(one["topology"]): one["topology"] for one in chosen}
    return parts.before_launch(documents.values())


def references_of(body: Any) -> References:
    """Resolver of the topologies of an unchecked body."""
    return References(body.get("engine", LIVE) if isinstance(body, Mapping) else LIVE)
