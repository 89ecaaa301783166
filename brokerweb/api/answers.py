"""What all answers of the REST API have in common: their version, and errors as problem details for those who ask.

**Versions.** The API has one version, a date. Additions do not change it: clients ignore what they do not know. A
change that breaks clients gets a new date, and both versions are answered for a year. A request may name the version
that it was written for in ``API-Version``; one that this installation does not have is refused.

**Deprecation.** Nothing is deprecated now. What will be is marked ``deprecated`` in the OpenAPI document. Its answers
get ``Deprecation`` (RFC 9745), ``Sunset`` (RFC 8594), at least 180 days later, and a ``Link`` to its successor.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.cache import patch_vary_headers

from brokerweb.kit.error_body import PROBLEM, body, problem, wants_problem
from overlay.core.errors import shown

View = Callable[[HttpRequest], HttpResponse]

REST = "/api/"
VERSION_HEADER = "API-Version"
VERSION = "2026-11-28"
VERSIONS = (VERSION,)


def rest_answers(answer: View) -> View:
    """Middleware; inside compression, outside all that refuses requests."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if not request.path.startswith(REST):
            return answer(request)
        response = _unknown_version(request) or answer(request)
        response[VERSION_HEADER] = VERSION
        return as_problem(request, response)

    return middleware


def _unknown_version(request: HttpRequest) -> HttpResponse | None:
    asked = request.headers.get(VERSION_HEADER, VERSION)
    if asked in VERSIONS:
        return None
    sentence = f"Unknown version {shown(asked, 40)}; known: {', '.join(VERSIONS)}."
    return JsonResponse(body([(VERSION_HEADER, "unknown_version", sentence)]), status=400)


def as_problem(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """``response``, with problem details if it is an error and the request accepts them."""
    if response.status_code < 400 or response.streaming or response.get("Content-Type") != "application/json":
        return response
    patch_vary_headers(response, ["Accept"])
    if wants_problem(request.headers.get("Accept", "")):
        found = json.loads(response.content)
        if "sentence" not in found:  # of a standard with a shape of its own
            return response
        response.content = json.dumps(problem(found, response.status_code, request.path)).encode()
        response["Content-Type"] = PROBLEM
        if "Content-Length" in response:  # of the other form
            response["Content-Length"] = str(len(response.content))
    return response
