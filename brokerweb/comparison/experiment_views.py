"""The chart on an experiment's page: one figure against a varied parameter, drawn as a comparison."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone

from brokerweb.comparison import axes, drawing, services
from brokerweb.comparison.query import Asked
from brokerweb.experiments.models import Experiment
from brokerweb.experiments.states import UNFINISHED
from overlay.core.errors import InvalidSetting
from telemetry.systems.registry import first_figure, measures


@login_required
def chart(request: HttpRequest, experiment_id: str) -> HttpResponse:
    """A fragment of the page. An unknown figure or axis falls back to the default, because it comes from a URL."""
    experiment = get_object_or_404(Experiment, pk=experiment_id)
    metric, system = request.GET.get("metric", ""), experiment.definition["system"]
    known = {name: one for name, one in measures([system]).items() if one.system in ("", system)}
    asked = Asked(
        q=f"experiment.id = {experiment.pk}",
        metrics=(metric if metric in known else first_figure([system]),),
        systems=(system,),
    )
    shown = {"q": asked.q, "metric": asked.metrics[0]}
    context: dict[str, Any] = {
        "experiment": experiment,
        "measures": known.values(),
        "measure": asked.measure,
        "left": experiment.runs.filter(state__in=UNFINISHED).exists(),
    }
    try:
        found = _found(asked, request.GET.get("x", ""))
    except InvalidSetting as error:
        context["empty"] = f"No chart: {asked.q} {error.sentence}."
    else:
        shown |= {"x": found.asked.x} if found.asked.x else {}
        context |= {"drawn": _drawn(found), "axes": found.differing, "x": axes.x_of(found)}
    context["compare"] = f"{reverse('compare')}?{urlencode(shown)}"
    return render(request, "experiments/chart.html", context)


def _found(asked: Asked, x: str) -> services.Comparison:
    """Raises ``InvalidSetting`` if there are more runs than can be compared."""
    now = timezone.now()
    try:
        return services.compare(Asked(q=asked.q, metrics=asked.metrics, x=x), now)
    except InvalidSetting:
        return services.compare(asked, now)


def _drawn(found: services.Comparison) -> dict[str, Any] | None:
    """The figure over a varied parameter, or box plots of replicates if nothing varies. ``None`` without data."""
    charts = drawing.drawn(found, services.ordered(found))
    drawn = charts.get("lines") or charts.get("box")
    has_any = drawn and (drawn.get("series") or any(row["y"] is not None for row in drawn.get("rows", ())))
    return drawn if has_any else None
