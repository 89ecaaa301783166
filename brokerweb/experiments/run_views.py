"""Pages of runs. The live page's figures come over the websocket (``live.consumers``); what never changes is here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from brokerweb.doors import changes, page_of, person
from brokerweb.errors import NotPossible
from brokerweb.experiments import services, truth
from brokerweb.experiments.models import Experiment, Run, RunState
from brokerweb.experiments.outlook import Queue
from brokerweb.experiments.states import ENDED
from brokerweb.topologies import pictures
from brokerweb.topologies import services as topologies
from overlay import faults
from overlay.engines import ENGINES, SIMULATED
from overlay.systems import SYSTEMS
from telemetry import holdings
from telemetry.configurations import links_in_words
from telemetry.errors import TelemetryError
from telemetry.runs import RunFiles

COPIES_SHOWN, COPIES_DRAWN = 12, 1_000
"""Entities in the table and in the chart, those asked for most; REST has all."""


@login_required
def index(request: HttpRequest) -> HttpResponse:
    rows = Run.objects.select_related("experiment")
    query = {
        name: request.GET.get(name, "").strip()
        for name in ("state", "verdict", "engine", "topology", "experiment", "q")
    }
    if query["state"]:
        rows = rows.filter(state=query["state"])
    if query["engine"]:
        rows = rows.filter(engine=query["engine"])
    if query["verdict"]:
        rows = rows.filter(verdict=query["verdict"])
    if query["topology"]:
        rows = rows.filter(configuration__topology__kind=query["topology"])
    if query["experiment"]:
        rows = rows.filter(experiment=query["experiment"])
    if query["q"]:
        rows = rows.filter(experiment__name__icontains=query["q"])
    page = page_of(request, rows.defer("observed"))
    with_outlook(page, Queue())
    context = {
        "page": page,
        "query": query,
        "filtered": any(query.values()),
        "states": RunState.values,
        "engines": list(ENGINES),
        "kinds": sorted(topologies.kinds()),
        "experiment": Experiment.objects.filter(pk=query["experiment"]).first() if query["experiment"] else None,
    }
    return render(request, "runs/list.html", context)


@login_required
def detail(request: HttpRequest, run_id: str) -> HttpResponse:
    run = get_object_or_404(Run.objects.select_related("experiment", "owner", "rerun_of"), pk=run_id)
    system = SYSTEMS[run.configuration["system"]]
    units = {info.name: info.unit for info in (*system.settings, *system.workload)}
    copies = holdings.most_wanted(RunFiles(settings.RUNS / run.pk), COPIES_DRAWN)
    context = {
        "run": run,
        "configuration": run.configuration,
        "units": units,
        "ended": run.state in ENDED,
        "outlook": Queue().outlook(run),
        "shaped": links_in_words(run.configuration["topology"]["links"]),
        "graph": pictures.of_document(run.configuration["topology"]),
        "history": run.events.all()[:200],
        "truth": truth.of_summary(run.summary),
        "memory_brokers": (run.summary.get("memory") or {}).get("brokers") or [],
        "copies": copies[:COPIES_SHOWN],
        "copies_drawn": holdings.drawn(copies, (run.summary.get("holdings") or {}).get("exponent")),
        "of_engine": ", simulated" if run.engine == SIMULATED else "",
        "service_times": _service_times(run),
        "live": {
            "run": run.id,
            "engine": run.engine,
            "kind": run.configuration["topology"]["kind"],
            "ended": run.state in ENDED,
            "planned": _planned_faults(run),
        },
    }
    return render(request, "runs/detail.html", context)


def _planned_faults(run: Run) -> list[dict[str, Any]]:
    """``[{at_s, until_s, label}]`` of the faults of its configuration, in seconds from the beginning of measuring."""
    documents, topology = run.configuration.get("faults") or [], run.configuration["topology"]
    links = [(min(link["a"], link["b"]), max(link["a"], link["b"])) for link in topology["links"]] if documents else []
    return faults.timeline(
        faults.read(documents, topology["brokers"], links, run.configuration["workload"]["duration_s"])
    )


def _service_times(run: Run) -> dict[str, Any]:
    """Where and when the service times of a simulated run were measured."""
    try:
        manifest = RunFiles(settings.RUNS / run.pk).read_manifest() if run.engine == SIMULATED else {}
    except TelemetryError:
        return {}
    return (manifest.get("service_times") or {}).get("measured") or {}


def with_outlook(runs: Iterable[Run], queue: Queue) -> None:
    """Gives each run what it waits for, in ``outlook``."""
    for run in runs:
        run.outlook = queue.outlook(run)  # type: ignore[attr-defined]


@changes
def cancel(request: HttpRequest, run_id: str) -> HttpResponse:
    run = get_object_or_404(Run, pk=run_id)
    try:
        services.cancel(run)
    except NotPossible as error:
        messages.error(request, str(error))
    return redirect("runs:detail", run_id)


@changes
def rerun(request: HttpRequest, run_id: str) -> HttpResponse:
    """The same configuration and seed again."""
    again = services.rerun(get_object_or_404(Run, pk=run_id), person(request))
    messages.success(request, "Queued again with the same configuration and the same seed.")
    return redirect("runs:detail", again.id)
