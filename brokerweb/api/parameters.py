"""Unknown query parameters, and conditions where there are none, are refused: a misspelt filter that is silently
ignored would return everything.

The known parameters are those in the OpenAPI document. A view with ``checks_parameters``, whose addresses differ in
them, refuses unknown ones itself, once it knows who asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse

from brokerweb.api.operations import operation_of
from brokerweb.kit.error_body import body

MOST_NAMED = 10
"""Unknown parameters listed in one response."""
NO_CONDITIONS = "This operation checks no If-Match. Nothing was changed."


class KnownParameters:
    """Middleware: status 400 lists unknown and known parameters. Every JSON response accepts ``format=json``.

    A change under a condition that its operation does not check gets 412: what the condition names is not known to be
    there (RFC 9110, 13.1.1), and to ignore it would change what the client did not see.
    """

    def __init__(self, answer: Callable[[HttpRequest], HttpResponse]) -> None:
        self._answer = answer

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._answer(request)

    def process_view(self, request: HttpRequest, view: Any, *_: Any) -> HttpResponse | None:
        has_condition = "If-Match" in request.headers and request.method in ("POST", "PUT", "PATCH", "DELETE")
        if not has_condition and not request.META.get("QUERY_STRING"):
            return None
        operation = operation_of(view, request.method or "")
        if operation is None:
            return None
        if has_condition and "If-Match" not in operation.headers:
            return JsonResponse(body([("If-Match", "precondition_failed", NO_CONDITIONS)]), status=412)
        is_left = getattr(getattr(view, "cls", None), "checks_parameters", False)
        return None if is_left else refusal(request, operation.query)


def refusal(request: HttpRequest, known: Iterable[str]) -> HttpResponse | None:
    """Status 400, if the request has other parameters than these."""
    known = list(known)
    unknown = [name for name in request.GET if name not in known]
    if "format" in unknown and request.GET["format"] == "json":
        unknown.remove("format")
    if not unknown:
        return None
    refused = [(name[:40], "unknown", sentence(name, known)) for name in unknown]
    return JsonResponse(body(refused[:MOST_NAMED]), status=400)


def sentence(unknown: str, known: Iterable[str]) -> str:
    hint = f"known parameters: {', '.join(known)}" if known else "it has no parameters"
    return f"Unknown parameter {unknown!r:.40}; {hint}."
