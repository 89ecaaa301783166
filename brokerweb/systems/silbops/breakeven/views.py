"""The page of the break-even."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from brokerweb.systems.silbops.breakeven import charts
from brokerweb.systems.silbops.breakeven.chosen import Chosen, table
from brokerweb.systems.silbops.breakeven.observed import observed
from overlay.core.errors import InvalidSetting
from telemetry.charts.figures import by_id
from telemetry.systems.silbops.studies.break_even import BREAK_EVEN_STUDY, CORRECTED_AT, PRINTED_AT

WORDS = {
    "model": "Model",
    "published": "Printed: one message for a change",
    "corrected": "Printed costs, two messages for each filter",
    "prototype": "Prototype, in process",
    "simulated": "Runs, times charged by the simulator",
    "live": "Live runs",
}


@login_required
def index(request: HttpRequest) -> HttpResponse:
    """For what is asked in the address; what is not possible is said at its field."""
    problem = None
    try:
        chosen = Chosen.of(request.GET)
    except InvalidSetting as error:
        chosen, problem = Chosen.of({}), error
    runs = observed()
    drawn = by_id((charts.over_filters(chosen.subscriptions, runs), charts.over_sizes(chosen.filters, runs)))
    low, high = charts.sizes()
    context = {
        "study": BREAK_EVEN_STUDY,
        "chosen": chosen,
        "found": chosen.found(),
        "problem": problem,
        "asked": {
            "filters": f"{chosen.filters:g}",
            "subscriptions": f"{chosen.subscriptions:.0f}",
            **(request.GET.dict() if problem else {}),
        },
        "drawn": drawn,
        "rows": [{**row, "words": WORDS[row["kind"]]} for row in table(chosen, runs)],
        "printed": PRINTED_AT,
        "corrected": CORRECTED_AT[1],
        "most_filters": charts.MOST_FILTERS,
        "fewest": low,
        "most": high,
        "query": request.GET.urlencode() if not problem else "",
    }
    return render(request, "silbops/break_even.html", context, status=400 if problem else 200)
