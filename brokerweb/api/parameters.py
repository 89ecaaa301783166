"""Unknown query parameters are refused: a misspelt filter that is silently ignored would return everything.

The known parameters are those in the OpenAPI document.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from drf_spectacular.generators import SchemaGenerator

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
        known = _known_to(view, request.method or "") if request.META.get("QUERY_STRING") else None
        if known is None:
            return None
        unknown = [name for name in request.GET if name not in known]
        if "format" in unknown and request.GET["format"] == "json":
            unknown.remove("format")
        if not unknown:
            return None
        hint = f"known parameters: {', '.join(known)}" if known else "it has no parameters"
        refused = [(name[:40], "unknown", f"Unknown parameter {name!r:.40}; {hint}.") for name in unknown]
        return JsonResponse(body(refused[:MOST_NAMED]), status=400)


def _known_to(view: Any, method: str) -> list[str] | None:
    """The parameters of an operation; ``None`` if the OpenAPI document does not describe it."""
    method = method.lower().replace("head", "get")
    action = getattr(view, "actions", {}).get(method, method)
    described = known_parameters()
    classes: tuple[type, ...] = view.cls.__mro__ if hasattr(view, "cls") else ()
    return next((described[one, action] for one in classes if (one, action) in described), None)


@cache
def known_parameters() -> dict[tuple[type, str], list[str]]:
    """Known parameters by view and action, or by view and method for views without actions."""
    generator = SchemaGenerator()
    paths = generator.get_schema(public=True)["paths"]
    found = {}
    for path, _, method, view in generator._get_paths_and_endpoints():
        operation = paths.get(path, {}).get(method.lower())
        if operation is not None:
            names = [one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"]
            found[type(view), getattr(view, "action", None) or method.lower()] = names
    return found
