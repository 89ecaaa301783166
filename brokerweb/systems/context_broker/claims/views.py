"""The page of what an experiment says of the published claims, and the part of it on the experiment's own page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from brokerweb.experiments.models import Experiment
from brokerweb.systems.context_broker.claims import judging
from telemetry.systems.context_broker.claims.criteria import (
    INCONCLUSIVE,
    NOT,
    REPRODUCED,
    SHAPE_ONLY,
    UNKNOWN,
    Claim,
    Verdict,
)
from telemetry.systems.context_broker.claims.matrix import LONG, RARE, SHORT

LOOKS = {REPRODUCED: "done", SHAPE_ONLY: "suspect", NOT: "failed", INCONCLUSIVE: "stopped", UNKNOWN: "unknown"}
"""A verdict, to the state that it looks like."""
WORDS = {NOT: "not reproduced"}
PRESETS = {SHORT: "published-matrix", LONG: "published-anchors", RARE: "published-rare"}
CALLED = {
    SHORT: "Table B.1, 180 s measured",
    LONG: "anchors measured for 900 s",
    RARE: "data on one broker of ten",
}


@login_required
def of_experiment(request: HttpRequest, experiment_id: str) -> HttpResponse:
    """With ``?part`` a part of the experiment's page, empty where none of its runs is of the matrix."""
    experiment = get_object_or_404(Experiment, pk=experiment_id)
    found = judging.judged(experiment)
    context = {
        "experiment": experiment,
        "engine": experiment.definition["engine"],
        "judged": [_shown(claim, verdict) for claim, verdict in found.claims] if found else [],
        "parts": [(CALLED[name], PRESETS[name], found.parts.get(name)) for name in CALLED] if found else [],
        "cut": found.cut if found else [],
    }
    template = "context_broker/claims_part.html" if "part" in request.GET else "context_broker/claims.html"
    return render(request, template, context)


def _shown(claim: Claim, verdict: Verdict) -> dict[str, Any]:
    return {
        "claim": claim,
        "word": WORDS.get(verdict.verdict, verdict.verdict),
        "look": LOOKS[verdict.verdict],
        "figures": list(_figures(verdict)),
    }


def _figures(verdict: Verdict) -> Iterator[tuple[str, Any, float | None]]:
    for name in dict.fromkeys([*verdict.figures, *verdict.published]):
        yield name, verdict.figures.get(name), verdict.published.get(name)
