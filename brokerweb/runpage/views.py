"""The page of a run. Live parts come over the websocket (``live.consumers``); static parts are here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from brokerweb.brokers import overlay
from brokerweb.brokers.names import ServerNames
from brokerweb.experiments import history
from brokerweb.experiments.models import Run
from brokerweb.experiments.queue_position import Queue
from brokerweb.experiments.services import seed_of
from brokerweb.experiments.states import ENDED
from brokerweb.live import brokers
from brokerweb.runpage import answer_quality, panel, reproduction, shown
from brokerweb.runpage import configuration as configurations
from brokerweb.systems.registry import web_of
from brokerweb.topologies.models import Topology
from overlay.core.engines import SIMULATED
from overlay.experiment.definition import faults_of
from overlay.faults import faults
from overlay.systems.registry import SYSTEMS
from telemetry.errors import StorageError, TelemetryError
from telemetry.formatting import sig3
from telemetry.lake.configurations import links_in_words
from telemetry.lake.runs import RunFiles
from telemetry.live.event_words import FAMILIES
from telemetry.measures import Measure
from telemetry.systems.contract import Traffic
from telemetry.systems.registry import measures_of, telemetry_of

LOG_SHOWN = 100
"""Last log lines shown on the page."""
ROWS = 1_000
"""Brokers in the table; REST has all."""
KINDS = {
    "phase": "phases",
    "fault": "faults",
    "process": "processes",
    "neighbour": "neighbours",
    "limit": "limits",
    "other": "others",
}
"""Labels of the timeline's filter."""
assert tuple(KINDS) == FAMILIES


@login_required
def detail(request: HttpRequest, run_id: str) -> HttpResponse:
    related = ("experiment", "owner", "rerun_of", "compared_with")
    run = get_object_or_404(Run.objects.select_related(*related).prefetch_related("tags"), pk=run_id)
    files = RunFiles(Path(settings.RUNS) / run.pk)
    ended = run.state in ENDED
    servers = ServerNames.of(run.configuration)
    charts = shown.charts(run, servers)
    rows = [
        {**row, "short": servers.short(row["index"]), "full": servers.full(row["index"])} for row in brokers.known(run)
    ]
    gone_over, width = _traffic(run, files) if ended else (None, "")
    context = {
        "run": run,
        "configuration": run.configuration,
        "topology_address": _topology_address(run.configuration["topology"]),
        "system": SYSTEMS[run.configuration["system"]],
        "described": configurations.describe(run.configuration),
        "ended": ended,
        "queue_position": Queue().position(run),
        "shaped": links_in_words(run.configuration["topology"]["links"]),
        "servers": servers,
        "figures": shown.key_figures(run, servers),
        "costs": _costs(run) if ended else [],
        "charts": charts,
        "graph": overlay.of_run(run.configuration, servers),
        "history": run.events.all()[:200],
        "kinds": KINDS,
        "remark": SYSTEMS[run.configuration["system"]].remark(run.summary),
        "thresholds": [{**one, "was": _written(one, measures_of(run.system))} for one in run.thresholds],
        "truth": answer_quality.of_summary(run.summary),
        "rows": rows[:ROWS],
        "lacks_resources": shown.lacks_resources(run),
        "rows_left_out": max(0, len(rows) - ROWS),
        "traffic": width,
        "parts": web_of(run.configuration["system"]).parts_of_run(run),
        "of_engine": ", simulated" if run.engine == SIMULATED else "",
        "manifest": _manifest(files),
        "commands": reproduction.commands_for(run, request.build_absolute_uri("/").rstrip("/")),
        "live": {
            "run": run.id,
            "engine": run.engine,
            "kind": run.configuration["topology"]["kind"],
            "ended": ended,
            "servers": servers.for_script(),
            "charts": {chart["name"]: chart["script"] for chart in charts},
            "planned": _planned_faults(run),
            "traffic": [[a, b, count] for (a, b), count in gone_over.counts.items()] if gone_over else [],
            # Memory of a collected run comes from its summary; frames have the value at its end.
            "memory": (run.summary.get("memory") or {}).get("brokers") if ended else None,
        },
        **_opened(run, request.GET.get("broker", "")),
    }
    return render(request, "runs/detail.html", context)


def _traffic(run: Run, files: RunFiles) -> tuple[Traffic | None, str]:
    """The traffic of each link, and the legend of the links' widths."""
    try:
        found = telemetry_of(run.configuration).traffic(files)
    except StorageError as error:
        return None, f"Link width: no data. {error}"
    return found, f"Link width: {found.what}" if found else ""


def _costs(run: Run) -> list[tuple[str, str]]:
    """Titles and values of the means that the run's system computes from its counters."""
    known = measures_of(run.system)
    values = {name: run.summary.get(name) for name in SYSTEMS[run.configuration["system"]].cost_words}
    return [(known[name].title, known[name].text(value)) for name, value in values.items() if value is not None]


def _opened(run: Run, asked: str) -> dict[str, Any]:
    """The broker in the URL, if it exists."""
    is_number = asked.isascii() and asked.isdigit() and len(asked) < 8
    found = brokers.one_of(run, int(asked)) if is_number else None
    return {} if found is None else panel.of_run(run, found)


def _written(threshold: dict[str, Any], known: Mapping[str, Measure]) -> str:
    """The measured value of a threshold, with unit; a threshold's text begins with the figure's name. Empty if
    ``why`` contains it.
    """
    if threshold["value"] is None and threshold.get("why"):
        return ""
    name = re.match(r"\s*(\w*)", threshold["text"])
    measure = known.get(name[1].lower()) if name else None
    return measure.text(threshold["value"]) if measure else sig3(threshold["value"])


@login_required
def totals(request: HttpRequest, run_id: str) -> HttpResponse:
    """The totals next to the overlay while no broker is open."""
    run = get_object_or_404(Run, pk=run_id)
    context = {"system": run.system, "servers": ServerNames.of(run.configuration)}
    return render(request, "brokers/totals.html", context | {"lacks_resources": shown.lacks_resources(run)})


@login_required
def broker(request: HttpRequest, run_id: str, index: str) -> HttpResponse:
    """The panel of one broker; polled while it is open and the run is active."""
    run = get_object_or_404(Run, pk=run_id)
    context = _opened(run, index)
    if not context:
        raise Http404("This run has no server with this index.")
    part = "brokers/now.html" if request.GET.get("part") == "now" else "brokers/panel.html"
    return render(request, part, context)


@login_required
def log(request: HttpRequest, run_id: str) -> HttpResponseBase:
    """The log of one process or all: the last lines on the page, or the complete log as a file."""
    run = get_object_or_404(Run, pk=run_id)
    entries = history.of_run(run)
    process = request.GET.get("process", "")
    lines = [entry for entry in entries if not process or entry.process == process]
    if request.GET.get("as") == "text":
        text = StreamingHttpResponse(map(history.as_line, lines), content_type="text/plain; charset=utf-8")
        name = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in process[:40])
        text["Content-Disposition"] = f'attachment; filename="run-{run.pk}{"-" + name if name else ""}.log"'
        return text
    context = {
        "run": run,
        "ended": run.state in ENDED,
        "process": process,
        "processes": sorted({entry.process for entry in entries if entry.process}, key=history.by_number),
        "lines": [(entry, history.said(entry)) for entry in lines[-LOG_SHOWN:]],
        "count": len(lines),
        "shown": LOG_SHOWN,
    }
    return render(request, "runs/log.html", context)


def _planned_faults(run: Run) -> list[dict[str, Any]]:
    """``[{at_s, until_s, label}]`` of its configured faults, in seconds from the start of measuring."""
    return faults.timeline(faults_of(run.configuration, seed_of(run)))


def _topology_address(topology: dict[str, Any]) -> str:
    """URL of the topology's version; empty if it was deleted or defined inline."""
    kept = Topology.objects.filter(pk=topology.get("id") or "").values_list("version", flat=True).first()
    if kept is None:
        return ""
    if (number := topology.get("version")) and number <= kept:
        return reverse("topologies:version", args=[topology["id"], number])
    return reverse("topologies:detail", args=[topology["id"]])


def _manifest(files: RunFiles) -> dict[str, Any]:
    """The manifest; empty if missing or unreadable."""
    try:
        return files.read_manifest()
    except TelemetryError:
        return {}
