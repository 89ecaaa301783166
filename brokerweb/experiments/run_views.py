"""The list of runs, and what can be done with one; its page is in ``run_detail_views``."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from brokerweb.doors import changes, page_of, person
from brokerweb.errors import NotPossible
from brokerweb.experiments import services
from brokerweb.experiments.models import Experiment, Run, RunState
from brokerweb.experiments.outlook import Queue
from brokerweb.topologies import services as topologies
from overlay.engines import ENGINES


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
