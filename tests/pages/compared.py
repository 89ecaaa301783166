"""Runs that are done, with figures that a story says, and no files: what comparisons are shown of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.contrib.auth.models import User

from brokerweb.experiments import services as experiments
from brokerweb.experiments.evaluation import figures_of
from brokerweb.experiments.models import Experiment, Run, RunState
from brokerweb.topologies import services as topologies
from brokerweb.topologies.models import Topology

Figure = Callable[[Mapping[str, Any], int], float | None]
"""From a configuration and the number of a replicate."""


def topology(owner: User, kind: str = "ring", brokers: int = 4, **params: float) -> str:
    """Its id; the same one for the same words."""
    name = f"{kind} of {brokers}{', shaped' if params else ''}"
    known = Topology.objects.filter(name=name).first()
    made = known or topologies.create(name=name, kind=kind, brokers=brokers, params=params, seed=7, owner=owner)
    return str(made.pk)


def swept(
    owner: User,
    p95: Figure,
    *,
    name: str = "Sweep",
    over: list[str] | None = None,
    consumers: list[int] | int = 10,
    replicates: int = 3,
    **body: Any,
) -> Experiment:
    """An experiment whose runs are done; a run of which ``p95`` knows nothing measured nothing."""
    workload = {"providers": 5, "consumers": consumers, "duration_s": 5, "request_interval_s": 1}
    whole = {
        "name": name,
        "topology": over or topology(owner),
        "workload": workload,
        "replicates": replicates,
        "seed": 1,
    }
    experiment = experiments.create({**whole, **body}, owner)
    runs = experiments.launch(experiment, owner).runs
    for run in runs:
        took = p95(run.configuration, run.replicate)
        run.state, run.verdict = RunState.DONE, "valid"
        run.summary = {} if took is None else _summary(took)
        run.figures = figures_of(run)
    Run.objects.bulk_update(runs, ["state", "verdict", "summary", "figures"])
    return experiment


def _summary(p95: float) -> dict[str, float]:
    return {"mean": p95 / 2, "p50": p95 / 3, "p95": p95, "requests": 100, "not_found": 0}


def grows(configuration: Mapping[str, Any], replicate: int) -> float:
    """10 µs for each consumer, and a little for the seed."""
    return 10.0 * configuration["workload"]["consumers"] + 3 * replicate
