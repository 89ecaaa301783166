"""Pages of studies."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from brokerweb.definitions import documents
from brokerweb.experiments import services as experiments
from brokerweb.experiments.models import Experiment
from brokerweb.experiments.states import ENDED
from brokerweb.kit.errors import NotPossible
from brokerweb.kit.view_guards import changes, person
from brokerweb.studies import services
from overlay.core.errors import InvalidSetting
from overlay.systems.registry import SYSTEMS
from telemetry.formatting import counted
from telemetry.studies.criteria import LOOKS, MEANINGS, UNKNOWN, in_words
from telemetry.studies.drawing import charts
from telemetry.studies.study import QUICK, SCALES, Study
from telemetry.systems.registry import study_called


@login_required
def index(request: HttpRequest) -> HttpResponse:
    system = request.GET.get("system", "")
    found = services.of_system(system)
    verdicts = services.verdicts(found)
    groups = [
        (SYSTEMS[name], [{"study": one, **_newest(verdicts.get(one.id))} for one in own])
        for name, own in groupby(found, key=lambda one: one.system)
    ]
    systems = {one.system: SYSTEMS[one.system].title for one in services.of_system("")}
    return render(request, "studies/list.html", {"groups": groups, "systems": systems, "system": system})


def _newest(found: tuple[Any, dict[str, str]] | None) -> dict[str, Any]:
    if found is None:
        return {"experiment": None, "verdicts": []}
    counts: dict[str, int] = {}
    for word in found[1].values():
        counts[word] = counts.get(word, 0) + 1
    return {
        "experiment": found[0],
        "verdicts": [(in_words(word), LOOKS[word], counts[word]) for word in LOOKS if word in counts],
    }


@login_required
def detail(request: HttpRequest, study_id: str) -> HttpResponse:
    study = _study(study_id)
    asked = request.GET.get("scale", "")
    scale = asked if asked in SCALES else ""
    experiment = services.chosen(study, request.GET.get("experiment", ""), scale)
    result = services.result(study, experiment, scale or QUICK)
    drawn = charts(result)
    rows = [
        {
            "one": one,
            "word": in_words(one.verdict),
            "look": LOOKS[one.verdict],
            "is_unknown": one.verdict == UNKNOWN,
        }
        for one in result.judged
    ]
    context = {
        "study": study,
        "system": SYSTEMS[study.system],
        "experiment": experiment,
        "result": result,
        "judged": [row for row in rows if not (experiment and row["is_unknown"])],
        "unknown": [row for row in rows if experiment and row["is_unknown"]],
        "sentences": study.tell(result),
        "drawn": {chart["id"]: chart for chart in drawn},
        "scales": [(one, services.newest(study, one)) for one in SCALES],
        "offers": services.offers(study),
        "meanings": [(in_words(word), LOOKS[word], meaning) for word, meaning in MEANINGS.items()],
        "text": documents.text(study.at(result.scale)),
        **_progress(study),
    }
    return render(request, "studies/detail.html", context)


@login_required
def progress(request: HttpRequest, study_id: str) -> HttpResponse:
    """The live part of the page; after the last run, the page is reloaded."""
    study = _study(study_id)
    context = {"study": study, **_progress(study)}
    response = render(request, "studies/progress.html", context)
    if context["under_way"] is None:
        response["HX-Refresh"] = "true"
    return response


def _progress(study: Study) -> dict[str, Any]:
    experiment = services.under_way(study)
    if experiment is None:
        return {"under_way": None}
    counts = experiments.runs_by_state([experiment])[experiment.pk]
    return {
        "under_way": experiment,
        "total": sum(counts.values()),
        "ended": sum(counts.get(state, 0) for state in ENDED),
    }


@changes
def launch(request: HttpRequest, study_id: str) -> HttpResponse:
    study, scale = _study(study_id), request.POST.get("scale", "")
    try:
        if scale not in SCALES:
            raise InvalidSetting("scale", f"must be one of {', '.join(SCALES)}, not {scale!r:.40}")
        _, launched = services.launch(study, scale, person(request))
        messages.success(request, f"Launched {counted(launched.count, 'run')}.")
    except InvalidSetting as error:
        messages.error(request, f"{error.field}: {error.sentence}")
    except NotPossible as error:
        messages.error(request, str(error))
    return redirect("studies:detail", study.id)


@login_required
def of_experiment(request: HttpRequest, experiment_id: str) -> HttpResponse:
    """Redirect to the result of the study that launched the experiment."""
    experiment = get_object_or_404(Experiment.objects.exclude(study=""), pk=experiment_id)
    _study(experiment.study)
    return redirect(f"{reverse('studies:detail', args=[experiment.study])}?experiment={experiment.pk}")


def _study(study_id: str) -> Study:
    try:
        return study_called(study_id)
    except InvalidSetting as error:
        raise Http404(f"Study: {error.sentence}.") from None
