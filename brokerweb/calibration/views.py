"""The calibration page: live and simulated medians, their age and their machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from overlay.core.errors import InvalidSetting
from overlay.core.service_times import DEFAULT_CLIENT, DEFAULT_SERVER, missing_costs
from overlay.systems.registry import SYSTEMS, system_of
from telemetry.calibration.trust import chart_of, trust
from telemetry.errors import TelemetryError
from telemetry.lake.manifest import machine


@login_required
def index(request: HttpRequest) -> HttpResponse:
    systems = list(SYSTEMS.values())
    try:
        system = system_of(request.GET.get("system", ""))
    except InvalidSetting as error:
        raise Http404(str(error)) from None
    context: dict[str, Any] = {"system": system, "systems": systems if len(systems) > 1 else []}
    try:
        found = trust(Path(settings.VAR), system)
    except (InvalidSetting, TelemetryError) as error:
        problem = getattr(error, "sentence", "") or str(error)
        return render(request, "calibration/page.html", {**context, "problem": problem})
    here = machine()
    context |= {
        "found": found,
        "age_days": found.age_days(timezone.now().date()),
        "here": here,
        "is_elsewhere": found.differs_from(here),
        "drawn": {"calibration": chart_of(found.anchors)},
        "missing": missing_costs(found.unmeasured),
        "defaults": {"servers": DEFAULT_SERVER, "clients": DEFAULT_CLIENT},
        "roles": dict(found.model.roles),
        "tables": [
            ("Configurations not used for calibration", found.anchors),
            ("Central broker with an increasing number of providers", found.growth),
        ],
    }
    return render(request, "calibration/page.html", context)
