"""Rows and files as a used house has them: topologies, experiments, runs in every state, a network, a report.

Journals are written by the telemetry tests' script and collected by the real collector, so that pages show what they
would show. Nothing runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone

from brokerweb.experiments import services as experiments
from brokerweb.experiments.models import Experiment, Run, RunEvent, RunState
from brokerweb.networks.models import Host, Network
from brokerweb.reports import schedules
from brokerweb.reports import services as reports
from brokerweb.reports.models import Report
from brokerweb.topologies import services as topologies
from brokerweb.topologies.models import Topology
from telemetry.collect import collect
from telemetry.lake.configurations import choose, grouped
from telemetry.lake.runs import Lake, RunFiles
from telemetry.reports.comparison import compare
from telemetry.reports.measured import CURVE, STARTS, Measured
from telemetry.statistics.metrics import STATISTICS
from tests.pages.summed_up import summed_up
from tests.telemetry.synthetic import Script, write_run
from tests.telemetry.traced import ANSWERED_ID, write_traces

LONG_NAME = "A Waxman graph of forty brokers with a name so long that tables, headings and lists must wrap it"
BASE_US = {"central": 1_400, "ring": 900, "full-mesh": 860, "waxman": 880}
SILENT = "127.6.0.2"
"""Where no broker of any test listens."""


@dataclass
class House:
    """What was put into it, by role."""

    topologies: dict[str, Topology] = field(default_factory=dict)
    experiment: Any = None
    runs: dict[str, Run] = field(default_factory=dict)
    queries: list[str] = field(default_factory=list)
    """Pages of queries that were answered two brokers away or farther."""
    network: Any = None
    report: Any = None


def furnish(owner: User, network_host: str = SILENT) -> House:
    """A house in use; ``network_host`` is where its network is said to be."""
    house = House()
    shaped = {"delay_ms": 0.5, "delay_spread_ms": 4.5}
    for name, kind, brokers, params in (
        ("One central broker", "central", 1, {}),
        ("Ring of 10", "ring", 10, shaped),
        ("Full mesh of 10", "full-mesh", 10, shaped),
        ("Waxman, mean degree 2", "waxman", 10, {"mean_degree": 2.0, **shaped}),
        (LONG_NAME, "waxman", 40, {"mean_degree": 3.0}),
    ):
        house.topologies[name] = topologies.create(
            name=name, kind=kind, brokers=brokers, params=params, seed=7, owner=owner
        )
    body = {
        "name": "Ring, full mesh and Waxman against one central broker",
        "topology": [topology.id for topology in list(house.topologies.values())[:4]],
        "workload": {
            "providers": 5,
            "consumers": 20,
            "duration_s": 20,
            "request_interval_s": 1,
            "update_interval_s": 1,
        },
        "replicates": 3,
        "seed": 1,
    }
    house.experiment = experiments.create(body, owner)
    runs = experiments.launch(house.experiment, owner).runs
    for number, run in enumerate(runs[:-4]):
        finish(run, number)
    house.runs["done"] = runs[0]
    house.queries = [f"/runs/{run.id}/queries/{ANSWERED_ID}/" for run in runs[:-4] if len(way_of(run)) > 2]
    end(runs[-4], RunState.FAILED, "Broker 3 could not bind to 127.0.0.1:7003: the port is in use by another program.")
    end(runs[-3], RunState.CANCELLED, "Cancelled before it started.")
    measure(runs[-2])
    house.runs |= {"failed": runs[-4], "cancelled": runs[-3], "measuring": runs[-2], "queued": runs[-1]}
    experiments.create({**body, "name": "Not launched yet", "topology": body["topology"][0]}, owner)
    house.network = make_network(house.topologies["Ring of 10"], owner, network_host)
    make_hosts()
    house.report = make_report(house.experiment, owner)
    waiting = reports.create(experiments=[house.experiment], owner=owner)
    Report.objects.filter(pk=waiting.pk).update(progress=f"Waiting for run {runs[-2].id} to end.")
    schedules.create(name="Monday morning", experiments=[house.experiment], crontab="0 6 * * 1", owner=owner)
    return house


def _script(run: Run, number: int, seconds: int) -> Script:
    topology, workload = run.configuration["topology"], run.configuration["workload"]
    return Script(
        seed=number + 1,
        brokers=topology["brokers"],
        topology=topology["kind"],
        consumers=workload["consumers"],
        providers=workload["providers"],
        seconds=seconds,
        per_second=1,
        base_us=BASE_US[topology["kind"]],
    )


def finish(run: Run, number: int = 0) -> Run:
    """A run that was measured and collected."""
    files = write_run(Path(settings.RUNS) / run.id, _script(run, number, 8), topology=run.configuration["topology"])
    if len(way := way_of(run)) > 1:
        write_traces(files, way)
    summary = collect(files, Lake(Path(settings.LAKE)))
    now = timezone.now() - timedelta(minutes=30 - 3 * number)
    Run.objects.filter(pk=run.pk).update(
        state=RunState.DONE,
        progress=1,
        **summed_up(summary),
        verdict=summary["verdict"] if number else "suspect",
        verdict_reasons=summary["verdict_reasons"]
        or (
            []
            if number
            else ["Generator late: 1 % of requests were sent 12.4 ms or more after they were due (10 ms allowed)."]
        ),
        host="lab-1",
        launched_at=now - timedelta(seconds=30),
        measuring_at=now - timedelta(seconds=24),
        ended_at=now,
    )
    for name in ("launching", "warming", "measuring", "collecting", "done"):
        RunEvent.objects.create(run=run, name=name)
    run.refresh_from_db()
    return run


def way_of(run: Run) -> list[int]:
    """The way of a traced query: from the first broker on, as far as a walk that avoids where it was would come."""
    way = [0]
    links = [(link["a"], link["b"]) for link in run.configuration["topology"]["links"]]
    while len(way) < 4 and (next_ones := [b for a, b in links if a == way[-1] and b not in way]):
        way.append(next_ones[0])
    return way


def measure(run: Run) -> Run:
    """A run in the middle of measuring."""
    write_run(Path(settings.RUNS) / run.id, _script(run, 50, 10), topology=run.configuration["topology"])
    now = timezone.now()
    Run.objects.filter(pk=run.pk).update(
        state=RunState.MEASURING,
        progress=0.6,
        host="lab-1",
        launched_at=now - timedelta(seconds=15),
        measuring_at=now - timedelta(seconds=12),
        ends_at=now + timedelta(seconds=8),
    )
    run.refresh_from_db()
    return run


def end(run: Run, state: str, reason: str) -> None:
    Run.objects.filter(pk=run.pk).update(state=state, reason=reason, ended_at=timezone.now() - timedelta(minutes=2))
    RunEvent.objects.create(run=run, name=state, detail=reason)
    run.refresh_from_db()


def make_network(topology: Topology, owner: User, host: str) -> Network:
    """A network of which one broker was restarted."""
    now_ms = int(timezone.now().timestamp() * 1000)
    brokers = [
        {"index": i, "address": f"{host}:{7000 + i}", "pid": 4000 + i, "state": "up", "reason": "", "restarts": 0,
         "since_unix_ms": now_ms - 600_000}
        for i in range(topology.brokers)
    ]  # fmt: skip
    brokers[3] |= {"restarts": 1, "reason": "killed by signal 9", "since_unix_ms": now_ms - 4_000}
    return Network.objects.create(
        name="campus",
        topology=topology,
        deployed=topologies.document(topology),
        state="running",
        host="lab-1",
        brokers=brokers,
        owner=owner,
    )


def make_hosts() -> None:
    now = timezone.now()
    supervisor = {"pid": 812, "version": "0.1.0", "started_unix_ms": int(now.timestamp() * 1000) - 3_600_000}
    Host.objects.create(
        name="lab-1", heartbeat=now + timedelta(hours=1), supervisor=supervisor, cores=2, memory_bytes=8_200_000_000,
        version="0.1.0",
    )  # fmt: skip
    silent = now - timedelta(hours=3)
    Host.objects.create(name="lab-2", heartbeat=silent, cores=8, memory_bytes=33_600_000_000, version="0.1.0")


def make_report(experiment: Experiment, owner: User) -> Report:
    """A report as Spark's pipeline would leave it, its numbers taken from the runs' own summaries."""
    report = reports.create(experiments=[experiment], owner=owner)
    done = list(experiment.runs.filter(state=RunState.DONE))
    chosen = [
        choose(
            {"run": run.id, "replicate": run.replicate, "seed": run.seed, "configuration": run.configuration},
            {**RunFiles(Path(settings.RUNS) / run.id).read_manifest(), "summary": run.summary},
        )
        for run in done
    ]
    by_run = {run.id: run.summary for run in done}
    response = {name: _statistics(summary) for name, summary in by_run.items()}
    outcomes = ("answered", "not_found", "timed_out", "refused")
    measured = Measured(
        response=response,
        pooled={key: response[group[0].run] for key, group in grouped(chosen).items()},
        curves={key: {"curve": _curve(by_run[group[0].run])} for key, group in grouped(chosen).items()},
        outcomes={name: {word: summary[word] for word in outcomes} for name, summary in by_run.items()},
        truths={name: _truth(summary) for name, summary in by_run.items()},
        memory={name: summary["memory"]["mean"] for name, summary in by_run.items()},
    )
    result = compare(chosen, measured, experiment.name, {})
    now = timezone.now()
    Report.objects.filter(pk=report.pk).update(state="done", result=result, started_at=now, ended_at=now)
    report.refresh_from_db()
    return report


def _statistics(summary: dict[str, Any]) -> dict[str, Any]:
    names = {"from_intended": "_us", "from_sent": "_from_sent_us"}
    found = {f"{column}_{s}": summary[f"{s}{names[start]}"] for start, column in STARTS.items() for s in STATISTICS}
    return {"answers": summary["answered"], **found}


def _truth(summary: dict[str, Any]) -> dict[str, Any]:
    return {**summary["truth"], "stale_ms": summary["truth"]["stale_ms"]["p50"]}


def _curve(summary: dict[str, Any]) -> list[float]:
    low, high = summary["p50"] * 0.6, summary["p99"]
    return [low * (high / low) ** (share**2) for share in CURVE]
