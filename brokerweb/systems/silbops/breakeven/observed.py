"""The break-even in runs of this installation: experiments that ran both arms that differ in nothing else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from brokerweb.experiments.models import Run, RunState
from brokerweb.systems.silbops.pairs import ARMS, COLUMNS, arm_and_rest
from overlay.systems.silbops.load.times import subscriptions
from overlay.systems.silbops.names import SIENA, SILBOPS
from overlay.systems.silbops.system import SYSTEM
from telemetry.systems.registry import measures_of
from telemetry.systems.silbops.costs import BreakEven, Costs, inverse

MOST = 2_000
"""Latest runs that are read."""


@dataclass(frozen=True, slots=True)
class Observed:
    """One configuration of an experiment, but for its arm."""

    experiment: str
    """Its id."""
    name: str
    engine: str
    filters: float
    """Mean of a subscriber."""
    subscriptions: int
    found: BreakEven


def observed(experiment: str = "") -> list[Observed]:
    """Over replicates in which both arms were measured; of one experiment, or of all with the latest runs."""
    arms: dict[tuple[str, str], dict[str, dict[str, Costs]]] = defaultdict(lambda: defaultdict(dict))
    about: dict[tuple[str, str], tuple[str, str, Mapping[str, Any]]] = {}
    for id, name, engine, seed, workload, arm, rest, costs in _rows(experiment):
        about.setdefault((id, rest), (name, engine, workload))
        arms[id, rest][seed][arm] = costs
    return [
        _of(id, *about[id, rest], inverses)
        for (id, rest), by_seed in arms.items()
        if (inverses := [inverse(one[SILBOPS], one[SIENA]) for one in by_seed.values() if len(one) == len(ARMS)])
    ]


def _rows(experiment: str) -> Iterator[tuple[str, str, str, str, Mapping[str, Any], str, str, Costs]]:
    known = measures_of(SYSTEM.name)
    keys = [known[name].key for name in ("change_core", "notification_core")]
    runs = Run.objects.unchanged().filter(system=SYSTEM.name, state=RunState.DONE, rerun_of=None)
    if experiment:
        runs = runs.filter(experiment_id=experiment)
    fields = ("experiment_id", "experiment__name", "engine", "seed", "figures")
    for *row, figures, kind, brokers, settings, workload, faults in runs.order_by("-created").values_list(
        *fields, *COLUMNS
    )[:MOST]:
        change, notification = (figures.get(key) for key in keys)
        if change and notification:
            arm, rest = arm_and_rest(kind, brokers, settings, workload, faults)
            yield *row, workload, arm, rest, Costs(change, notification)


def _of(id: str, name: str, engine: str, document: Mapping[str, Any], inverses: list[float]) -> Observed:
    workload = SYSTEM.read_workload(document)
    in_all = subscriptions(workload)
    filters = in_all / workload.subscribers if workload.subscribers else 0
    return Observed(id, name, engine, filters, round(in_all), BreakEven.of(inverses))
