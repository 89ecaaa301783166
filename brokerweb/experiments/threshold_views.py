"""The page that sets the thresholds of an experiment."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from brokerweb.experiments import evaluation
from brokerweb.experiments.models import Experiment
from brokerweb.kit import etags
from brokerweb.kit.etags import Outdated
from brokerweb.kit.view_guards import changes, form_page, person
from overlay.core.errors import InvalidSetting
from telemetry.formatting import count, counted

FIELD = "thresholds"


@form_page
def edit(request: HttpRequest, experiment_id: str) -> HttpResponse:
    experiment = get_object_or_404(Experiment, pk=experiment_id)
    if request.method != "POST":
        return _form(request, experiment, "\n".join(evaluation.demands(experiment)))
    typed = request.POST.get(FIELD, "")
    try:
        came_to = evaluation.demand(experiment, _lines(typed), person(request), request.POST.get(etags.SEEN, ""))
    except InvalidSetting as error:
        return _form(request, experiment, typed, error)
    except Outdated:
        experiment.refresh_from_db(fields=["definition"])
        newer = etags.newer({FIELD: ", ".join(evaluation.demands(experiment))}, {FIELD: ", ".join(_lines(typed))})
        return _form(request, experiment, typed, newer=newer)
    messages.success(request, f"Saved. {_told(experiment, came_to)}")
    return redirect("experiments:detail", experiment.pk)


@changes
def preview(request: HttpRequest, experiment_id: str) -> HttpResponse:
    """Preview of the entered thresholds."""
    experiment = get_object_or_404(Experiment, pk=experiment_id)
    lines = _lines(request.POST.get(FIELD, ""))
    try:
        came_to = evaluation.tried(experiment, lines)
    except InvalidSetting as error:
        return render(request, "experiments/thresholds_preview.html", {"wrong": _sentence(error, lines)})
    return render(request, "experiments/thresholds_preview.html", {"came_to": came_to, "lines": lines})


def _lines(typed: str) -> list[str]:
    return [line.strip() for line in typed.splitlines() if line.strip()]


def _told(experiment: Experiment, came_to: evaluation.Outcome) -> str:
    if not evaluation.demands(experiment):
        return "Runs are not evaluated."
    if not came_to.runs:
        return "No run has finished yet; runs are evaluated when they finish."
    return f"{count(came_to.kept)} of {counted(came_to.runs, 'finished run')} passed all thresholds."


def _sentence(error: InvalidSetting, lines: list[str]) -> str:
    """The error with the line that caused it."""
    index = error.field.rpartition(".")[2]
    return f"“{lines[int(index)]:.60}”: {error.sentence}" if index.isdigit() else error.sentence


def _form(
    request: HttpRequest,
    experiment: Experiment,
    typed: str,
    error: InvalidSetting | None = None,
    newer: dict[str, str] | None = None,
) -> HttpResponse:
    """``newer`` has the stored thresholds if they changed and differ."""
    context = {
        "experiment": experiment,
        "typed": typed,
        "examples": evaluation.examples(experiment.definition["system"]),
        "wrong": _sentence(error, _lines(typed)) if error else "",
        "newer": newer,
        "seen": request.POST.get(etags.SEEN, "") if error else etags.mark(evaluation.stored(experiment)),
    }
    status = 400 if error else 200 if newer is None else 409
    return render(request, "experiments/thresholds_page.html", context, status=status)
