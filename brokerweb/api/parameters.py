"""Unknown query parameters are refused: a misspelt filter that is silently ignored would return everything.

The known parameters are those in the OpenAPI document.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse

from brokerweb.api.operations import operation_of
from brokerweb.kit.error_body import body

MOST_NAMED = 10
"""Unknown parameters listed in one response."""


class KnownParameters:
    """Middleware: status 400 lists unknown and known parameters. Every JSON response accepts ``format=json``."""

    def __init__(self, answer: Callable[[HttpRequest], HttpResponse]) -> None:
        self._answer = answer

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._answer(request)

    def process_view(self, request: HttpRequest, view: Any, *_: Any) -> HttpResponse | None:
        operation = operation_of(view, request.method or "") if request.META.get("QUERY_STRING") else None
        if operation is None:
            return None
        known = operation.query
        unknown = [name for name in request.GET if name not in known]
        if "format" in unknown and request.GET["format"] == "json":
            unknown.remove("format")
        if not unknown:
            return None
        hint = f"known parameters: {', '.join(known)}" if known else "it has no parameters"
        refused = [(name[:40], "unknown", f"Unknown parameter {name!r:.40}; {hint}.") for name in unknown]
        return JsonResponse(body(refused[:MOST_NAMED]), status=400)
