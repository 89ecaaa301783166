"""What somebody sees who guessed a password too often."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from brokerweb.api.errors import body


def locked_out(request: HttpRequest, credentials: dict[str, Any] | None = None, *_: Any) -> HttpResponse:
    """Status 429 and when to try again, as JSON below ``/api/`` and as a page elsewhere."""
    seconds = int(settings.AXES_COOLOFF_TIME.total_seconds())
    sentence = f"Too many failed log-ins for this name from this address; try again in {seconds // 60} minutes."
    headers = {"Retry-After": str(seconds)}
    if request.path.startswith("/api/"):
        return JsonResponse(body([("", "locked_out", sentence)]), status=429, headers=headers)
    page = render(request, "429.html", {"sentence": sentence}, status=429)
    page["Retry-After"] = headers["Retry-After"]
    return page
