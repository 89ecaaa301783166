"""The home page: active and queued runs, recent results, failures, schedules."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from brokerweb.accounts.asking import asked
from brokerweb.experiments.models import Experiment, Run, RunState
from brokerweb.kit.view_guards import needs, person
from brokerweb.live import overview
from brokerweb.reports.models import Report
from brokerweb.topologies.models import Topology


@needs("own")
@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Guests see their networks instead."""
    if not asked(request).may("read"):
        return redirect("networks:list")
    context = {
        **overview.now(),
        "matrix": overview.matrix(),
        "has_topologies": Topology.objects.exists(),
        "has_experiments": Experiment.objects.exists(),
        "has_own": Experiment.objects.filter(owner=person(request), demo=False).exists(),
        "has_runs": Run.objects.exists(),
        "has_done": Run.objects.filter(state=RunState.DONE).exists(),
        "has_reports": Report.objects.exists(),
    }
    return render(request, "home.html", context)


@login_required
def now(request: HttpRequest) -> HttpResponse:
    return render(request, "home_now.html", overview.now())
