"""The home page: what runs now, what ended lately, what failed and why."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from brokerweb.experiments.models import Experiment, Run, RunState
from brokerweb.experiments.outlook import Queue
from brokerweb.experiments.states import ACTIVE
from brokerweb.networks.models import Network, NetworkState
from brokerweb.networks.services import worker_missing
from brokerweb.reports.models import Report, ReportState
from brokerweb.topologies.models import Topology

LATELY = 6
QUIET = (NetworkState.STOPPED, NetworkState.FAILED)


def _now() -> dict[str, object]:
    """What moves: its part of the page asks for itself every few seconds."""
    runs = Run.objects.select_related("experiment")
    reports = Report.objects.defer("result")
    queue = Queue()
    active = list(runs.filter(state__in=ACTIVE).order_by("launched_at"))
    for run in active:
        run.outlook = queue.outlook(run)  # type: ignore[attr-defined]
    return {
        "active": active,
        "queued": len(queue.queued),
        "next_run": queue.outlook(queue.queued[0]) if queue.queued else None,
        "queue_ends_s": queue.queue_ends_s,
        "networks": Network.objects.exclude(state__in=QUIET)[:LATELY],
        "reports": reports.filter(state__in=(ReportState.QUEUED, ReportState.RUNNING)),
        "finished": runs.filter(state=RunState.DONE).order_by("-ended_at")[:LATELY],
        "failed": runs.filter(state=RunState.FAILED).order_by("-ended_at")[:LATELY],
        "newest_reports": reports.filter(state=ReportState.DONE).prefetch_related("experiments")[:3],
        "worker_missing": worker_missing(),
    }


@login_required
def home(request: HttpRequest) -> HttpResponse:
    context = {
        **_now(),
        "has_topologies": Topology.objects.exists(),
        "has_experiments": Experiment.objects.exists(),
        "has_runs": Run.objects.exists(),
    }
    return render(request, "home.html", context)


@login_required
def now(request: HttpRequest) -> HttpResponse:
    return render(request, "home_now.html", _now())
