"""Selection lists of reports and schedules, filtered by their search fields."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from brokerweb.kit.picks import FIND, FIND_RUNS, Picks
from brokerweb.kit.view_guards import changes
from brokerweb.reports import picking


@changes
def experiments(request: HttpRequest) -> HttpResponse:
    chosen = request.POST.getlist("experiments")
    return _experiments(request, picking.experiments(chosen, request.POST.get(FIND, "")), chosen)


@changes
def finished_experiments(request: HttpRequest) -> HttpResponse:
    chosen = request.POST.getlist("experiments")
    return _experiments(request, picking.finished_experiments(chosen, request.POST.get(FIND, "")), chosen)


def _experiments(request: HttpRequest, picks: Picks, chosen: list[str]) -> HttpResponse:
    return render(request, "reports/pick_experiments.html", {"picks": picks, "chosen": chosen})


@changes
def finished_runs(request: HttpRequest) -> HttpResponse:
    chosen = request.POST.getlist("runs")
    picks = picking.finished_runs(chosen, request.POST.get(FIND_RUNS, ""))
    return render(request, "reports/pick_runs.html", {"picks": picks, "chosen": chosen})
