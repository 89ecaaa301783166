"""The page of the map of a run."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from brokerweb.experiments.models import Run
from brokerweb.experiments.states import ENDED
from brokerweb.retention.services import removed_sentence
from brokerweb.systems.contextnet.map import of_runs
from overlay.core.errors import InvalidSetting
from overlay.systems.contextnet.system import SYSTEM
from telemetry.systems.contextnet.movements import MOST_NODES, SECOND, WINDOW_S, Movements

LISTED = 200
"""Messages in the table."""


@login_required
def index(request: HttpRequest, run_id: str) -> HttpResponse:
    """A window of the run; what is wrong in the address shows the first."""
    run = get_object_or_404(Run.objects.select_related("experiment").filter(system=SYSTEM.name), pk=run_id)
    try:
        begin_s = of_runs.from_s(request.GET)
    except InvalidSetting:
        begin_s = 0.0
    found = of_runs.found(run, begin_s)
    context = {
        "run": run,
        "ended": run.state in ENDED,
        "removed": removed_sentence(run),
        "found": found,
        "drives": of_runs.drives(run),
    }
    if found is not None:
        context |= _shown(run, found)
    return render(request, "contextnet/map.html", context)


def _shown(run: Run, found: Movements) -> dict[str, Any]:
    workload, drawn = SYSTEM.read_workload(run.configuration["workload"]), of_runs.body(run, found)
    begin_s = (found.from_us - found.begin_us) / SECOND
    return {
        "drawn": drawn,
        "workload": workload,
        "is_part": workload.nodes > MOST_NODES,
        "begin_s": begin_s,
        "until_s": (found.until_us - found.begin_us) / SECOND,
        "lasts_s": (found.end_us - found.begin_us) / SECOND,
        "earlier_s": max(0.0, begin_s - WINDOW_S) if begin_s else None,
        "later_s": begin_s + WINDOW_S if found.until_us < found.end_us else None,
        "rows": [
            {
                "of": one,
                "since_us": one["due_us"] - found.begin_us,
                "way_us": one["received"][-1]["received_us"] - one["due_us"] if one["received"] else None,
            }
            for one in drawn["casts"][:LISTED]
        ],
        "further": max(0, len(found.casts) - LISTED),
    }
