"""The page of the map of a run."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from brokerweb.experiments.models import Run
from brokerweb.experiments.states import ENDED
from brokerweb.retention.services import removed_sentence
from brokerweb.systems.silbops.map import of_runs
from overlay.core.errors import InvalidSetting
from overlay.systems.silbops.system import SYSTEM
from telemetry.systems.silbops.messages import id_of
from telemetry.systems.silbops.movements import MOST_CAMERAS, MOST_VEHICLES, SECOND, WINDOW_S, Movements

LISTED = 200
"""Notifications in the table."""


@login_required
def index(request: HttpRequest, run_id: str) -> HttpResponse:
    """A window of the run; what is wrong in the address shows the first."""
    run = get_object_or_404(Run.objects.select_related("experiment").filter(system=SYSTEM.name), pk=run_id)
    try:
        begin_s = of_runs.from_s(request.GET)
    except InvalidSetting:
        begin_s = 0.0
    found = of_runs.found(run, begin_s)
    context = {"run": run, "ended": run.state in ENDED, "removed": removed_sentence(run), "found": found}
    if found is not None:
        context |= _shown(run, found)
    return render(request, "silbops/map.html", context)


def _shown(run: Run, found: Movements) -> dict[str, Any]:
    workload = SYSTEM.read_workload(run.configuration["workload"])
    begin_s = (found.from_us - found.begin_us) / SECOND
    lasts_s = (found.end_us - found.begin_us) / SECOND
    return {
        "drawn": of_runs.body(run, found),
        "is_silbops": SYSTEM.whole(run.configuration["settings"])["arm"] == "silbops",
        "side_km": 2 * workload.radius_km,
        "vehicles": workload.subscribers,
        "cameras": workload.publishers,
        "is_part": workload.subscribers > MOST_VEHICLES or workload.publishers > MOST_CAMERAS,
        "begin_s": begin_s,
        "until_s": (found.until_us - found.begin_us) / SECOND,
        "lasts_s": lasts_s,
        "earlier_s": max(0.0, begin_s - WINDOW_S) if begin_s else None,
        "later_s": begin_s + WINDOW_S if found.until_us < found.end_us else None,
        "rows": [
            {
                "of": one,
                "publication": id_of(one.camera, one.number),
                "at_us": one.received_us - found.begin_us,
                "way_us": one.received_us - one.published_us,
            }
            for one in found.notifications[:LISTED]
        ],
        "further": max(0, len(found.notifications) - LISTED),
    }
