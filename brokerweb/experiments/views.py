"""Pages of experiments. Counterpart: ``builder`` creates them."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.text import slugify

from brokerweb.definitions import documents
from brokerweb.experiments import estimates, evaluation, figures, results, services
from brokerweb.experiments.figures import Figure
from brokerweb.experiments.models import Experiment, RunState
from brokerweb.experiments.queue_position import Queue, with_queue_position
from brokerweb.experiments.results import Known
from brokerweb.experiments.states import ENDED, UNFINISHED
from brokerweb.kit.errors import NotPossible
from brokerweb.kit.view_guards import changes, page_of, person, sought
from brokerweb.systems.registry import web_of
from brokerweb.topologies.models import Topology
from overlay.core.errors import InvalidSetting
from overlay.experiment.sweeps import axes
from telemetry.formatting import axis, counted, joined

RUNS_SHOWN = 10
LEFT_READ = (
    "experiment",
    "engine",
    "state",
    "progress",
    "estimated_s",
    "change",
    "launched_at",
    "ends_at",
    "lease_owner",
    "position",
)
"""Columns read of unfinished runs, of which there may be thousands."""


@login_required
def index(request: HttpRequest) -> HttpResponse:
    rows = Experiment.objects.select_related("owner")
    if query := sought(request):
        rows = rows.filter(name__icontains=query)
    page = page_of(request, rows.order_by("-created"))
    by_state, verdicts = services.runs_by_state(page.object_list), results.verdicts(page.object_list)
    for experiment in page:
        counts = by_state[experiment.pk]
        experiment.run_count = sum(counts.values())
        experiment.ended_count = sum(counts.get(state, 0) for state in ENDED)
        experiment.failed_count = counts.get(RunState.FAILED, 0)
        experiment.cancelled_count = counts.get(RunState.CANCELLED, 0)
        experiment.verdict = verdicts.get(experiment.pk)
        experiment.varies = [axis(name) for name in axes(experiment.definition)]
    return render(request, "experiments/list.html", {"page": page, "some_judged": bool(verdicts)})


@login_required
def detail(request: HttpRequest, experiment_id: str) -> HttpResponse:
    experiment = get_object_or_404(Experiment.objects.select_related("owner"), pk=experiment_id)
    known = results.known(experiment)
    return render(
        request, "experiments/detail.html", _whole(request, experiment, known, _progress(request, experiment, known))
    )


def _whole(request: HttpRequest, experiment: Experiment, known: Known, progress: dict[str, Any]) -> dict[str, Any]:
    """Context of the page."""
    context = {
        "experiment": experiment,
        "definition": experiment.definition,
        "parts": web_of(experiment.definition["system"]).parts_of_experiment(experiment),
        **progress,
        **_configurations(request, experiment, known),
    }
    try:
        context["estimate"] = estimates.repetition_of(experiment)
    except InvalidSetting as error:
        context |= {"estimate_problem": error}
    varies = context["axes"] = axes(experiment.definition)
    if "topology" in varies:
        context["topology_names"] = dict(Topology.objects.filter(pk__in=varies["topology"]).values_list("id", "name"))
    context["thresholds_set"] = evaluation.last_change(experiment)
    context["reports"] = experiment.reports.only("state", "created")[:10]
    return context


@login_required
def progress(request: HttpRequest, experiment_id: str) -> HttpResponse:
    """The live part of the page while runs are left; after the last run, the page is reloaded."""
    experiment = get_object_or_404(Experiment.objects.select_related("owner"), pk=experiment_id)
    known = results.known(experiment)
    shown = _progress(request, experiment, known)
    if shown["left"]:
        return render(request, "experiments/progress.html", {"experiment": experiment, "is_part": True, **shown})
    # Messages stay for the next page.
    context = {**_whole(request, experiment, known, shown), "messages": ()}
    response = render(request, "experiments/detail.html", context)
    response["HX-Retarget"] = response["HX-Reselect"] = "#experiment"
    response["HX-Reswap"] = "outerHTML"
    return response


@login_required
def configurations(request: HttpRequest, experiment_id: str) -> HttpResponse:
    """Results by configuration."""
    experiment = get_object_or_404(Experiment, pk=experiment_id)
    left = experiment.runs.filter(state__in=UNFINISHED).exists()
    context = {"experiment": experiment, "definition": experiment.definition, "left": left}
    context |= _configurations(request, experiment, results.known(experiment))
    return render(request, "experiments/configurations.html", context)


@login_required
def document(request: HttpRequest, experiment_id: str) -> HttpResponse:
    """The experiment as YAML: a file, or with ``?part`` a fragment of the page."""
    experiment = get_object_or_404(Experiment, pk=experiment_id)
    text = documents.text(experiment.definition)
    if "part" in request.GET:
        return render(request, "experiments/as_yaml.html", {"experiment": experiment, "text": text})
    name = slugify(experiment.name)[:60] or experiment.pk
    return HttpResponse(
        text,
        content_type="application/yaml; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.yaml"'},
    )


def _configurations(request: HttpRequest, experiment: Experiment, known: Known) -> dict[str, Any]:
    return {
        "configurations": results.page(experiment, known.configurations, request.GET),
        "axis_names": results.axes_of(experiment),
        **_heads(request, experiment),
        "page_address": reverse("experiments:detail", args=[experiment.pk]),
        **_named(experiment),
    }


def _heads(request: HttpRequest, experiment: Experiment) -> dict[str, Any]:
    """The columns of figures as ``(figure, tooltip)``, how they are averaged and sorted."""
    shown = figures.of_configurations(experiment.definition["system"])
    times = joined([one.title for one in shown if one.measure.is_response])
    return {
        "heads": [(one, _tooltip(one, times)) for one in shown],
        "averages": results.averages(shown),
        "sort": results.sort_of(experiment, request.GET),
        "sorts": results.sorts(experiment.definition["system"]),
    }


def _tooltip(figure: Figure, times: str) -> str:
    measure = figure.measure
    if measure.name == "answer_ratio" and times:
        return f"Share of requests that were answered; {times} cover these"
    return measure.title if measure.title != figure.title and not measure.is_response else ""


def _named(experiment: Experiment) -> dict[str, Any]:
    """Context shared by all parts of the page."""
    return {
        "of_experiment": f"experiment.id = {experiment.pk}",
        "of_unchanged": f"experiment.id = {experiment.pk} and changed = no",
        "definition_thresholds": experiment.definition.get("thresholds") or [],
    }


def _progress(request: HttpRequest, experiment: Experiment, known: Known) -> dict[str, Any]:
    counts = known.by_state
    total, ended = sum(counts.values()), sum(counts.get(state, 0) for state in ENDED)
    left = list(experiment.runs.filter(state__in=UNFINISHED).only(*LEFT_READ))
    own_left = [run for run in left if not run.change]
    queue = Queue()
    page = page_of(request, known.runs, RUNS_SHOWN)
    found = experiment.runs.defer("observed").in_bulk(list(page))
    runs = [found[run] for run in page if run in found]  # one may have been deleted meanwhile
    with_queue_position(runs, queue)
    etas = [queue.position(run).eta_s for run in left]
    return {
        "total": total,
        "ended": ended,
        "left": len(left),
        "held": queue.held if left else "",
        "failed": counts.get(RunState.FAILED, 0),
        "done_share": ended + sum(run.progress for run in own_left),
        "variations": len(known.changed),
        "left_s": None if None in etas else max((eta for eta in etas if eta is not None), default=0.0),
        "measured": bool(counts.get(RunState.DONE)) or experiment.runs.exclude(summary={}).exists(),
        "by_state": [(word, counts[word]) for word in RunState.values if word in counts],
        "verdict": results.verdict(experiment),
        "page": page,
        "runs": runs,
        **_named(experiment),
    }


@changes
def launch(request: HttpRequest, experiment_id: str) -> HttpResponse:
    experiment = get_object_or_404(Experiment, pk=experiment_id)
    known = request.POST.get("runs", "")  # the run count shown on the page: a double click launches once
    try:
        launched = services.launch(experiment, person(request), if_runs=int(known) if known.isdecimal() else None)
        messages.success(request, f"Launched {counted(launched.count, 'run')}.")
    except InvalidSetting as error:
        messages.error(request, f"{error.field}: {error.sentence}")
    except NotPossible as error:
        messages.error(request, str(error))
    return redirect("experiments:detail", experiment_id)


@changes
def cancel(request: HttpRequest, experiment_id: str) -> HttpResponse:
    """Cancels unfinished runs."""
    cancelled = services.cancel_all(get_object_or_404(Experiment, pk=experiment_id))
    messages.success(request, f"Cancelled {counted(cancelled, 'run')}. Data measured so far is kept.")
    return redirect("experiments:detail", experiment_id)


@changes
def retry_failed(request: HttpRequest, experiment_id: str) -> HttpResponse:
    """Retries failed runs."""
    try:
        again = services.retry_failed(get_object_or_404(Experiment, pk=experiment_id), person(request))
        messages.success(request, f"Queued {counted(again.count, 'run')} again.")
    except NotPossible as error:
        messages.error(request, str(error))
    return redirect("experiments:detail", experiment_id)


@changes
def delete(request: HttpRequest, experiment_id: str) -> HttpResponse:
    experiment = get_object_or_404(Experiment, pk=experiment_id)
    try:
        services.delete(experiment)
    except NotPossible as error:
        messages.error(request, str(error))
        return redirect("experiments:detail", experiment_id)
    messages.success(request, f"Deleted the experiment “{experiment.name}”.")
    return redirect("experiments:list")
