"""The calibration page: live and simulated medians, their age and their machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from overlay.core.errors import InvalidSetting
from telemetry.calibration.trust import chart_of, trust
from telemetry.errors import TelemetryError
from telemetry.lake.manifest import machine


@login_required
def index(request: HttpRequest) -> HttpResponse:
    try:
        found = trust(Path(settings.VAR))
    except (InvalidSetting, TelemetryError) as error:
        return render(request, "calibration/page.html", {"problem": getattr(error, "sentence", "") or str(error)})
    here = machine()
    context: dict[str, Any] = {
        "found": found,
        "age_days": found.age_days(timezone.now().date()),
        "here": here,
        "is_elsewhere": found.differs_from(here),
        "drawn": {"calibration": chart_of(found.anchors)},
        "tables": [
            ("Configurations not used for calibration", found.anchors),
            ("Central broker with an increasing number of providers", found.growth),
        ],
    }
    return render(request, "calibration/page.html", context)
