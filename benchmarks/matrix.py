"""251 configurations of ten replicates each, in one comparison: as on the pages of a finished study.

Five topologies by ten counts of consumers by five request intervals, and one central broker. Response times
grow with load and with the way a search goes, and scatter from replicate to replicate; the rest of a summary is one
that was really collected.
"""

from __future__ import annotations

from random import Random
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from benchmarks.many_runs import SHAPED, Seeded, collected, row_of
from brokerweb.experiments import services as experiments
from brokerweb.experiments.evaluation import figures_of
from brokerweb.experiments.models import Experiment, Run, RunState
from brokerweb.topologies import services as topologies
from overlay.core.chance import derive_seed
from overlay.experiment.definition import configurations
from tests.pages import furniture

REPLICATES = 10
TOPOLOGIES = {"ring": 10, "full-mesh": 10, "waxman": 10, "star": 10, "line": 10}
CONSUMERS = [50, 100, 200, 300, 400, 500, 600, 700, 800, 1_000]
INTERVALS_S = [0.5, 1.0, 2.0, 4.0, 8.0]
WORKLOAD = {"providers": 50, "duration_s": 30, "entities": 50}
SLOWER = {"central": 1.6, "full-mesh": 1.0, "star": 1.3, "waxman": 1.5, "ring": 1.9, "line": 2.6}
"""Median response time relative to the full mesh."""
SUSPECT_ONE_IN = 40


@transaction.atomic
def seed(owner: User) -> Seeded:
    """Both experiments, every run done, and a report of all of them."""
    made = Seeded(owner)
    overlays = [
        topologies.create(name=kind, kind=kind, brokers=brokers, params=SHAPED, seed=1, owner=owner)
        for kind, brokers in TOPOLOGIES.items()
    ]
    central = topologies.create(name="central", kind="central", brokers=1, owner=owner)
    swept = {"consumers": CONSUMERS, "request_interval_s": INTERVALS_S}
    made.experiment = _experiment("Five topologies under load", [one.id for one in overlays], swept, owner)
    central_broker = _experiment(
        "One central broker", [central.id], {"consumers": 1_000, "request_interval_s": 1.0}, owner
    )
    made.topology, made.run = overlays[0], collected(made.experiment, REPLICATES, owner)
    made.runs = _runs(made.experiment, made.run, leave_out=made.run.position) + _runs(central_broker, made.run)
    made.report = furniture.make_report(made.experiment, owner)
    return made


def _experiment(name: str, overlays: list[str], swept: dict[str, Any], owner: User) -> Experiment:
    body = {"name": name, "topology": overlays, "workload": {**WORKLOAD, **swept}, "replicates": REPLICATES, "seed": 1}
    return experiments.create(body, owner)


def _runs(experiment: Experiment, pattern: Run, leave_out: int | None = None) -> int:
    chosen = configurations(experiment.definition, experiments.find_topology)
    places = [(configuration, replicate) for configuration in chosen for replicate in range(REPLICATES)]
    chance = Random(derive_seed(1, experiment.name))
    rows = []
    for position, (configuration, replicate) in enumerate(places):
        if position == leave_out:
            continue
        run = row_of(experiment, position, configuration, replicate, RunState.DONE)
        run.summary = _summary(pattern.summary, configuration, chance)
        run.figures = figures_of(run)
        run.verdict = "suspect" if chance.randrange(SUSPECT_ONE_IN) == 0 else "valid"
        rows.append(run)
    Run.objects.bulk_create(rows, batch_size=200)
    return len(places)


def _summary(pattern: dict[str, Any], configuration: dict[str, Any], chance: Random) -> dict[str, Any]:
    """The pattern's, with the times and counts that this load would have."""
    workload = configuration["workload"]
    per_s = workload["consumers"] / workload["request_interval_s"]
    slower = SLOWER[configuration["topology"]["kind"]] * (1 + per_s / 2_000) * chance.lognormvariate(0, 0.06)
    times = {name: pattern[name] * slower * chance.lognormvariate(0, 0.03) for name in ("mean", "p50", "p95", "p99")}
    times |= {f"{name}{start}": value for name, value in times.items() for start in ("_us", "_from_sent_us")}
    requests = round(per_s * workload["duration_s"])
    lost, missed = (chance.randrange(1 + requests // 200) for _ in range(2))
    counts = {"requests": requests, "answered": requests - lost - missed, "timed_out": lost, "not_found": missed}
    rates = {"per_s": counts["answered"] / workload["duration_s"]}
    return {**pattern, **{name: value for name, value in times.items() if name in pattern}, **counts, **rates}
