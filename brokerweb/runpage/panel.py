"""The panel of one server of a run. Counterparts: ``brokers.panel``, and ``networks.live_data`` for networks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.urls import reverse

from brokerweb.brokers.names import ServerNames
from brokerweb.brokers.panel import Place, shown
from brokerweb.experiments.models import Run
from brokerweb.experiments.states import ENDED
from brokerweb.systems.contract import Web
from brokerweb.systems.registry import web_of


def of_run(run: Run, found: Mapping[str, Any]) -> dict[str, Any]:
    """Context of the panel for a server of a run, from the result of ``live.brokers.one_of``."""
    ended, web = run.state in ENDED, web_of(run.configuration["system"])
    silent = "No reports, or the files were deleted." if ended else "No reports yet."
    place = Place(
        part=f"{reverse('runs:broker', args=[run.pk, found['index']])}?part=now",
        json=f"/api/runs/{run.pk}/brokers/{found['index']}/",
        asks_again=not ended,
        since="the launch",
        silent="" if type(web).detail_of_run is Web.detail_of_run else silent,
    )
    return shown(place, ServerNames.of(run.configuration), found, web.detail_of_run(run, found))
