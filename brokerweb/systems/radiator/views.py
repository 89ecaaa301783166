"""The page that tries an aggregability on sample messages."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from brokerweb.systems.radiator.trying import Asked
from overlay.core.errors import InvalidSetting
from overlay.systems.radiator.language.scenarios import SCENARIOS


@login_required
def try_it(request: HttpRequest) -> HttpResponse:
    """With the expression of a scenario (``?scenario=3``), or with what was sent. Nothing is stored."""
    is_sent = request.method == "POST"
    asked = Asked.of(request.POST.dict()) if is_sent else Asked.of_scenario(request.GET.get("scenario", ""))
    context: dict[str, Any] = {"asked": asked, "scenarios": SCENARIOS.items()}
    try:
        context["rows"] = asked.result()
    except InvalidSetting as error:
        context["error"] = {"field": error.field, "sentence": str(error).removeprefix(f"{error.field}: ")}
    return render(request, "radiator/try.html", context, status=400 if "error" in context else 200)
