"""Pages of experiments: parse, call one service, show."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from brokerweb.doors import changes, form_page, page_of, person
from brokerweb.errors import NotPossible
from brokerweb.experiments import forms, services
from brokerweb.experiments.models import Experiment, RunState
from brokerweb.experiments.outlook import Queue
from brokerweb.experiments.run_views import with_outlook
from brokerweb.experiments.states import ENDED, UNFINISHED
from brokerweb.formatting import axis
from brokerweb.topologies.models import Topology
from overlay.errors import InvalidSetting
from overlay.experiment import sweeps

RUNS_SHOWN = 50
LEFT_READ = ("experiment", "engine", "state", "progress", "estimated_s", "launched_at", "ends_at", "position")
"""What is read of the runs that are left, of which there may be thousands."""


@login_required
def index(request: HttpRequest) -> HttpResponse:
    rows = Experiment.objects.select_related("owner")
    if query := request.GET.get("q", "").strip():
        rows = rows.filter(name__icontains=query)
    page = page_of(request, rows.order_by("-created"))
    by_state = services.runs_by_state(page.object_list)
    for experiment in page:
        counts = by_state[experiment.pk]
        experiment.run_count = sum(counts.values())
        experiment.ended_count = sum(counts.get(state, 0) for state in ENDED)
        experiment.failed_count = counts.get(RunState.FAILED, 0)
        experiment.varies = [axis(name) for name in sweeps.axes(experiment.definition)]
    return render(request, "experiments/list.html", {"page": page})


@form_page
def new(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _form(request, *_prefilled(request))
    form = forms.sent(request.POST)
    try:
        experiment = services.create(form.body(), person(request), report_when_done=form.report_when_done)
        if request.POST.get("do") == "launch":
            launched = services.launch(experiment, person(request))
            messages.success(request, f"Launched {launched.count} run{'s' if launched.count != 1 else ''}.")
    except InvalidSetting as error:
        form.blame(error)
        return _form(request, form, status=400)
    return redirect("experiments:detail", experiment.id)


def _prefilled(request: HttpRequest) -> tuple[forms.ExperimentForm, str]:
    """The form filled from another experiment, or with the topology it was opened from."""
    origin = Experiment.objects.filter(pk=request.GET.get("from", "")).first()
    if origin is None:
        topology = request.GET.get("topology", "")
        return forms.shown({"topology": [topology] if topology else []}), ""
    definition = {**origin.definition, "name": f"{origin.name}, again"[:200]}
    blocks = definition.get("blocks") or []
    if not definition.get("topology"):
        named = [block["topology"] for block in blocks if "topology" in block]
        definition["topology"] = [one for value in named for one in (value if isinstance(value, list) else [value])]
    left_out = (
        "That experiment is a union of blocks, which this form does not show; REST launches those." if blocks else ""
    )
    return forms.shown(definition, report_when_done=origin.report_when_done), left_out


def _form(request: HttpRequest, form: forms.ExperimentForm, left_out: str = "", status: int = 200) -> HttpResponse:
    context = {
        "form": form,
        "left_out": left_out,
        "topologies": Topology.objects.all(),
        "open_workload": any(one.wrong for one in form.more_workload),
        "open_settings": form.settings.wrong,
        **_estimate(form),
    }
    return render(request, "experiments/form.html", context, status=status)


@changes
def estimate(request: HttpRequest) -> HttpResponse:
    """How many runs the form stands for, and how long they take."""
    return render(request, "experiments/launch_bar.html", _estimate(forms.sent(request.POST)))


def _estimate(form: forms.ExperimentForm) -> dict[str, Any]:
    try:
        return {"estimate": services.estimate({**form.body(), "name": form.name or "unnamed"})}
    except InvalidSetting as error:
        return {"problem": error, "is_hint": not form.topologies}


@login_required
def detail(request: HttpRequest, experiment_id: str) -> HttpResponse:
    experiment = get_object_or_404(Experiment, pk=experiment_id)
    context = {"experiment": experiment, "definition": experiment.definition, **_progress(request, experiment)}
    try:
        context["estimate"] = services.estimate_of(experiment)
    except InvalidSetting as error:
        context |= {"estimate_problem": error, "estimate": {"configurations": "some"}}
    context["topology_names"] = dict(Topology.objects.values_list("id", "name"))
    context["reports"] = experiment.reports.defer("result")[:10]
    return render(request, "experiments/detail.html", context)


@login_required
def progress(request: HttpRequest, experiment_id: str) -> HttpResponse:
    """The part of the page that moves while runs are left."""
    experiment = get_object_or_404(Experiment, pk=experiment_id)
    return render(request, "experiments/progress.html", {"experiment": experiment, **_progress(request, experiment)})


def _progress(request: HttpRequest, experiment: Experiment) -> dict[str, Any]:
    counts = services.runs_by_state([experiment])[experiment.pk]
    total, ended = sum(counts.values()), sum(counts.get(state, 0) for state in ENDED)
    left = list(experiment.runs.filter(state__in=UNFINISHED).only(*LEFT_READ))
    queue = Queue()
    page = page_of(request, experiment.runs.defer("observed").order_by("-created", "position"), RUNS_SHOWN)
    with_outlook(page, queue)
    etas = [queue.outlook(run).eta_s for run in left]
    return {
        "total": total,
        "ended": ended,
        "left": len(left),
        "done_share": ended + sum(run.progress for run in left),
        "left_s": None if None in etas else max((eta for eta in etas if eta is not None), default=0.0),
        "measured": experiment.runs.exclude(summary={}).exists(),
        "by_state": [(word, counts[word]) for word in RunState.values if word in counts],
        "page": page,
        "runs": page.object_list,
    }


@changes
def launch(request: HttpRequest, experiment_id: str) -> HttpResponse:
    experiment = get_object_or_404(Experiment, pk=experiment_id)
    try:
        launched = services.launch(experiment, person(request))
        messages.success(request, f"Launched {launched.count} run{'s' if launched.count != 1 else ''}.")
    except InvalidSetting as error:
        messages.error(request, f"{error.field}: {error.sentence}")
    return redirect("experiments:detail", experiment_id)


@changes
def cancel(request: HttpRequest, experiment_id: str) -> HttpResponse:
    """Cancels all its runs that have not ended."""
    experiment = get_object_or_404(Experiment, pk=experiment_id)
    cancelled = 0
    for run in experiment.runs.exclude(state__in=ENDED).order_by("-position"):
        try:
            services.cancel(run)
            cancelled += 1
        except NotPossible:
            continue  # it ended between the list and now
    messages.success(request, f"Cancelled {cancelled} run{'s' if cancelled != 1 else ''}; what was measured is kept.")
    return redirect("experiments:detail", experiment_id)
