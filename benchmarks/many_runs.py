"""Rows as a house has them after months of use: experiments, runs with their summaries, reports, networks.

Counterparts: ``pages`` measures pages and REST over them; ``tests/pages/test_many_runs.py`` holds that no page asks
the database more often where there is more of it. The runs share one summary that was really collected, with figures
that differ from run to run; one run, ``Seeded.run``, has its journals and Parquet files too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.urls import NoReverseMatch, URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from brokerweb.accounts.models import Token
from brokerweb.experiments import services as experiments
from brokerweb.experiments.evaluation import figures_of
from brokerweb.experiments.models import Experiment, Run, RunEvent, RunState
from brokerweb.experiments.run_durations import pace_of
from brokerweb.networks.models import Host, Network, NetworkState
from brokerweb.reports import schedules
from brokerweb.reports.models import Report, ReportState, Schedule
from brokerweb.topologies import services as topologies
from brokerweb.topologies.models import Topology
from overlay.core.chance import derive_seed
from overlay.core.engines import LIVE
from overlay.experiment import sweeps
from overlay.experiment.definition import configurations
from telemetry.collect import collect
from telemetry.lake.runs import Lake
from tests.pages import furniture
from tests.telemetry.synthetic import Script, write_run
from tests.telemetry.traced import ANSWERED_ID, write_traces

WORKLOAD = {"providers": 50, "consumers": 1_000, "duration_s": 30, "entities": 50}
"""The published one; what a sweep varies is how often a consumer asks."""
STATES = (RunState.DONE,) * 17 + (RunState.FAILED, RunState.CANCELLED, RunState.QUEUED)
"""Of twenty runs."""
COURSE = ("queued", "launching", "warming", "measuring", "collecting", "done")
SHAPED = {"delay_ms": 0.5, "delay_spread_ms": 4.5}


@dataclass
class Seeded:
    """What was made: the newest of each kind, for the pages of single ones."""

    owner: Any
    experiment: Any = None
    run: Any = None
    network: Any = None
    topology: Any = None
    report: Any = None
    schedule: Any = None
    runs: int = 0
    arguments: dict[str, str] = field(default_factory=dict)
    """What stands in an address for each name in it; those of REST and the admin with the kind before them."""


@transaction.atomic
def seed(
    owner: User, *, things: int = 100, swept: int = 10, replicates: int = 10, name: str = "Sweep", clients: int = 150
) -> Seeded:
    """``things`` of each kind; each experiment has ``swept`` configurations of ``replicates`` runs.

    ``clients``, a third of them providers, are those of the run that has files. May be called again with another
    ``name``: its rows are added to the existing ones.
    """
    made = Seeded(owner)
    overlays = [_topology(f"{name}, overlay {number}", number, owner) for number in range(things)]
    made.topology = overlays[-1]
    swept_over = [overlay.id for overlay in overlays[:1]]
    first = _experiment(f"{name} 0", swept_over, swept, replicates, owner)
    pattern = collected(first, replicates, owner, clients)
    made.run, made.experiment = pattern, first
    made.runs += _runs(first, pattern, replicates, leave_out=pattern)
    for number in range(1, things):
        experiment = _experiment(f"{name} {number}", [overlays[number % len(overlays)].id], swept, replicates, owner)
        made.runs += _runs(experiment, pattern, replicates)
    made.report = _reports(first, things, owner)
    made.network = _networks(name, overlays, owner)
    made.schedule = _schedules(f"{name}: schedule", first, min(things, 30), owner)
    _hosts(name, things)
    Token.objects.bulk_create(
        Token(user=owner, name=f"token {number}", digest=f"{name} {number}") for number in range(min(things, 50))
    )
    made.arguments = _arguments(made)
    return made


def _topology(name: str, number: int, owner: User) -> Topology:
    kind = ("ring", "full-mesh", "waxman")[number % 3]
    return topologies.create(name=name, kind=kind, brokers=10, params=SHAPED, seed=number, owner=owner)


def _experiment(name: str, overlays: list[str], swept: int, replicates: int, owner: User) -> Experiment:
    intervals = [round(0.5 + step / 10, 1) for step in range(swept)]
    workload = {**WORKLOAD, "request_interval_s": intervals if swept > 1 else 1.0}
    body = {"name": name, "topology": overlays, "workload": workload, "replicates": replicates, "seed": 1}
    return experiments.create(body, owner)


def row_of(experiment: Experiment, position: int, configuration: dict[str, Any], replicate: int, state: str) -> Run:
    began = timezone.now() - timedelta(minutes=position + 1)
    run = Run(
        experiment=experiment,
        position=position,
        configuration=configuration,
        configuration_hash=sweeps.configuration_hash(configuration),
        replicate=replicate,
        seed=str(derive_seed(1, replicate)),
        estimated_s=pace_of(LIVE).run_s(configuration),
        owner=experiment.owner,
        state=state,
        created=began,
    )
    if state != RunState.QUEUED:
        run.launched_at, run.measuring_at = began, began + timedelta(seconds=6)
        run.ended_at, run.progress, run.host = began + timedelta(seconds=45), 1, "lab-1"
    if state == RunState.FAILED:
        run.reason = "Broker 3 could not bind to 127.0.0.1:7003: the port is in use by another program."
    return run


def collected(experiment: Experiment, replicates: int, owner: User, clients: int = 150) -> Run:
    """A run of ``experiment`` that was measured and collected, files and all; a third of ``clients`` are providers."""
    configuration = configurations(experiment.definition, experiments.find_topology)[0]
    run = row_of(experiment, 0, configuration, 0, RunState.DONE)
    overlay = configuration["topology"]
    numbers = {"brokers": overlay["brokers"], "providers": clients // 3, "consumers": clients - clients // 3}
    script = Script(topology=overlay["kind"], seconds=30, **numbers)
    files = write_run(Path(settings.RUNS) / run.id, script, topology=overlay)
    write_traces(files, furniture.way_of(run))
    run.summary = collect(files, Lake(Path(settings.LAKE)))
    run.figures = figures_of(run)
    run.verdict, run.verdict_reasons = run.summary["verdict"], run.summary["verdict_reasons"]
    run.save()
    RunEvent.objects.bulk_create(RunEvent(run=run, name=word) for word in COURSE)
    return run


def _runs(experiment: Experiment, pattern: Run, replicates: int, leave_out: Run | None = None) -> int:
    """The rows of a launch; every figure of a summary is ``pattern``'s, give or take a fifth."""
    chosen = configurations(experiment.definition, experiments.find_topology)
    chance = Random(derive_seed(1, experiment.name))
    rows = []
    for position, (configuration, replicate) in enumerate((one, r) for one in chosen for r in range(replicates)):
        if leave_out is not None and position == leave_out.position:
            continue
        run = row_of(experiment, position, configuration, replicate, STATES[position % len(STATES)])
        if run.state == RunState.DONE:
            factor = chance.uniform(0.8, 1.2)
            figures = {key: pattern.summary[key] * factor for key in ("mean", "p50", "p95", "p99")}
            run.summary = {**pattern.summary, **figures}
            run.figures = figures_of(run)
            run.verdict, run.verdict_reasons = pattern.verdict, pattern.verdict_reasons
        rows.append(run)
    Run.objects.bulk_create(rows, batch_size=500)
    RunEvent.objects.bulk_create((RunEvent(run=run, name=word) for run in rows for word in COURSE), batch_size=5_000)
    return len(rows) + (leave_out is not None)


def _reports(experiment: Experiment, count: int, owner: User) -> Report:
    """Reports of the experiment and of every one of its runs; all have the result of the first."""
    first = furniture.make_report(experiment, owner)
    now = timezone.now()
    rows = [
        Report(owner=owner, state=ReportState.DONE, result=first.result, started_at=now, ended_at=now)
        for _ in range(count - 1)
    ]
    Report.objects.bulk_create(rows)
    runs = list(experiment.runs.filter(state=RunState.DONE).values_list("pk", flat=True))
    through = Report.runs.through
    through.objects.bulk_create((through(report=row, run_id=run) for row in [first, *rows] for run in runs), 5_000)
    of = Report.experiments.through
    of.objects.bulk_create(of(report=row, experiment=experiment) for row in rows)
    return first


def _networks(name: str, overlays: list[Topology], owner: User) -> Network:
    pattern = furniture.make_network(overlays[0], owner, furniture.SILENT)
    pattern.name = f"{name}, network"
    pattern.save()
    Network.objects.bulk_create(
        Network(
            name=f"{name}, network {number}",
            topology=overlay,
            deployed=pattern.deployed,
            brokers=pattern.brokers,
            state=NetworkState.RUNNING,
            host="lab-1",
            owner=owner,
        )
        for number, overlay in enumerate(overlays)
    )
    return pattern


def _schedules(name: str, experiment: Experiment, count: int, owner: User) -> Schedule:
    made = [
        schedules.create(name=f"{name} {number}", experiments=[experiment], crontab="0 6 * * 1", owner=owner)
        for number in range(count)
    ]
    reports = list(Report.objects.filter(experiments=experiment))
    for number, report in enumerate(reports):
        report.schedule = made[number % count]
    Report.objects.bulk_update(reports, ["schedule"], batch_size=500)
    return made[0]


def _hosts(name: str, count: int) -> None:
    """With workers that answer as long as pages are asked: where none does, pages ask less of the queue."""
    until = timezone.now() + timedelta(hours=1)
    Host.objects.bulk_create(
        Host(name=f"{name.lower()}-{number}", heartbeat=until, cores=2, memory_bytes=8_200_000_000, version="0.1.0")
        for number in range(count)
    )


def _arguments(made: Seeded) -> dict[str, str]:
    kinds = ("experiment", "run", "network", "topology", "report", "schedule")
    found = {kind: str(getattr(made, kind).pk) for kind in kinds}
    found["host"] = Host.objects.values_list("pk", flat=True)[0]
    named = {f"{kind}_id": value for kind, value in found.items()}
    return {**found, **named, "trace": ANSWERED_ID, "user": str(made.owner.pk)}


LEFT_OUT = {
    "api:context": "asks a broker",
    "api:system-detail": "has no rows",
    "logout": "changes something",
    "readyz": "reports processes other than the rows",
}
"""Addresses that are not asked for, and why."""


def addresses(made: Seeded) -> dict[str, str]:
    """By name, every address of pages, REST and the admin that can be asked for with what was made.

    They are read from the URLconf, so a new page is among them by itself; some take POST only.
    """
    found = {}
    for name, parameters in _named(get_resolver().url_patterns, ""):
        if name in LEFT_OUT:
            continue
        known = {one: _value(name, one, made.arguments) for one in parameters}
        if all(known.values()):
            try:
                found[name] = reverse(name, kwargs=known)
            except NoReverseMatch:
                continue  # a file's form, or a name twice in the URLconf with other parameters
    compared = {name: found[name] for name in ("compare", "api:compare") if name in found}
    return {**found, **{f"{name}, all runs": f"{address}?q=" for name, address in compared.items()}}


def _named(patterns: Any, namespace: str) -> Iterator[tuple[str, list[str]]]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace
            yield from _named(pattern.url_patterns, inner)
        elif isinstance(pattern, URLPattern) and pattern.name:
            yield f"{namespace}{pattern.name}", list(pattern.pattern.regex.groupindex)


def _value(name: str, parameter: str, arguments: dict[str, str]) -> str:
    """What stands for ``parameter`` in the address ``name``: ``api:run-detail`` has a run's id for its ``pk``."""
    if parameter == "pk":
        return arguments.get(name.partition(":")[2].partition("-")[0], "")
    if parameter == "object_id":
        return arguments.get(name.removesuffix("_change").removesuffix("_history").rpartition("_")[2], "")
    return {"form": "json", "app_label": "experiments"}.get(parameter) or arguments.get(parameter, "")
