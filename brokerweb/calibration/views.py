"""The calibration page: live and simulated medians, their age and their machine."""

from __future__ import annotations

from collections.abc import Sequence
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
from telemetry.calibration.plan import Plan
from telemetry.calibration.trust import Compared, chart_of, trust
from telemetry.errors import TelemetryError
from telemetry.lake.manifest import machine
from telemetry.systems.registry import telemetry_of


@login_required
def index(request: HttpRequest) -> HttpResponse:
    systems = list(SYSTEMS.values())
    try:
        system = system_of(request.GET.get("system", ""))
    except InvalidSetting as error:
        raise Http404(str(error)) from None
    telemetry = telemetry_of({"system": system.name})
    plan = telemetry.calibration() or Plan
    context: dict[str, Any] = {
        "system": system,
        "systems": systems if len(systems) > 1 else [],
        "compared": f"{plan.compared}s",
        "compared_from": plan.compared_from,
        "published_in": telemetry.published_in,
    }
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
        "drawn": {"calibration": chart_of(found.anchors, plan.compared)},
        "missing": missing_costs(found.unmeasured),
        "defaults": {"servers": DEFAULT_SERVER, "clients": DEFAULT_CLIENT},
        "roles": dict(found.model.roles),
        "tables": [
            ("Configurations not used for calibration", found.anchors),
            *_of_questions(plan, found.growth),
        ],
    }
    return render(request, "calibration/page.html", context)


def _of_questions(plan: Plan | type[Plan], rows: Sequence[Compared]) -> list[tuple[str, list[Compared]]]:
    """The anchors of each question, with a title."""
    asked = dict.fromkeys(row.question for row in rows)
    title = plan.question_title
    return [(title or f"{one.partition('? ')[0]}?", [row for row in rows if row.question == one]) for one in asked]
