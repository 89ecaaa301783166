"""The replay page: the overlay, a time slider and the messages."""

from __future__ import annotations

from dataclasses import asdict

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from brokerweb.experiments import whatif
from brokerweb.experiments.models import Run
from brokerweb.systems.context_broker.replay import recorded
from brokerweb.systems.tags import system_title
from brokerweb.topologies import pictures
from overlay.systems.context_broker.system import SYSTEM
from telemetry.systems.context_broker.messages import FAMILIES

CALLED = {
    "request": "Requests",
    "answer": "Answers",
    "refusal": "Refusals",
    "update": "Updates",
    "acknowledgement": "Acknowledgements",
    "upkeep": "Upkeep",
}
assert tuple(CALLED) == FAMILIES


@login_required
def index(request: HttpRequest, run_id: str) -> HttpResponse:
    run = get_object_or_404(Run.objects.select_related("experiment"), pk=run_id)
    overview = recorded.overview(run)
    context = {
        "run": run,
        "other": "" if run.system == SYSTEM.name else system_title(run.system),
        "overview": overview,
        "record_mb": whatif.RECORD_MB,
        "graph": pictures.of_document(run.configuration["topology"]),
        "families": [(name, CALLED[name], overview.families[name] if overview else 0) for name in FAMILIES],
        "replay": {"messages": f"/api/runs/{run.pk}/messages/", **(asdict(overview) if overview else {})},
        "marks": recorded.marks(run, overview.brokers) if overview else [],
    }
    return render(request, "context_broker/replay.html", context)
