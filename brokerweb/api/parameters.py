"""REST refuses a parameter that an address does not have: a misspelt filter, which nobody read, returned everything.

What an address has is what its OpenAPI document says, so neither can be forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from drf_spectacular.generators import SchemaGenerator

from brokerweb.kit.error_body import body

MOST_NAMED = 10
"""Unknown parameters that one answer names."""


class KnownParameters:
    """Middleware: 400 names what is unknown and what is known. ``format=json`` is taken wherever the answer is JSON."""

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
        told = f"it has {', '.join(known)}" if known else "it has none"
        refused = [(name[:40], "unknown", f"This address has no parameter {name!r:.40}; {told}.") for name in unknown]
        return JsonResponse(body(refused[:MOST_NAMED]), status=400)


def _known_to(view: Any, method: str) -> list[str] | None:
    """The parameters of an operation; ``None`` of what the document does not describe, such as itself."""
    method = method.lower().replace("head", "get")
    action = getattr(view, "actions", {}).get(method, method)
    described = known_parameters()
    classes: tuple[type, ...] = view.cls.__mro__ if hasattr(view, "cls") else ()
    return next((described[one, action] for one in classes if (one, action) in described), None)


@cache
def known_parameters() -> dict[tuple[type, str], list[str]]:
    """By view and action, or method where a view has no actions."""
    generator = SchemaGenerator()
    paths = generator.get_schema(public=True)["paths"]
    found = {}
    for path, _, method, view in generator._get_paths_and_endpoints():
        operation = paths.get(path, {}).get(method.lower())
        if operation is not None:
            names = [one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"]
            found[type(view), getattr(view, "action", None) or method.lower()] = names
    return found
