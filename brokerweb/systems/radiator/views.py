"""The pages that try an aggregability on sample messages, and decode a datagram."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from brokerweb.systems.radiator.trying import Asked
from overlay.core.errors import InvalidSetting, WireError
from overlay.systems.radiator.language.scenarios import SCENARIOS
from overlay.systems.radiator.wire.dissecting import dissect, examples
from overlay.systems.radiator.wire.table import LAYOUTS

MOST_DIGITS = 150_000
"""More than a datagram has."""


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


@login_required
def wire(request: HttpRequest) -> HttpResponse:
    """The fields of a datagram: of an example (``?kind=push``), or of what was sent in hexadecimal digits."""
    known = examples()
    kind = request.GET.get("kind", "")
    text = request.POST.get("hex", "") if request.method == "POST" else known.get(kind, known["context"]).hex()
    context: dict[str, Any] = {"hex": text[:MOST_DIGITS], "layouts": LAYOUTS}
    try:
        context["found"] = dissect(_bytes(text))
    except WireError as error:
        context["error"] = str(error)
    return render(request, "radiator/wire.html", context, status=400 if "error" in context else 200)


def _bytes(text: str) -> bytes:
    """Raises ``WireError``."""
    if len(text) > MOST_DIGITS:
        raise WireError(f"more than {MOST_DIGITS:,} characters are no datagram")
    try:
        return bytes.fromhex("".join(text.split()))
    except ValueError as error:
        raise WireError(f"not hexadecimal digits: {error}") from None
