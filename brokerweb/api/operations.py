"""What the OpenAPI document says of each operation, for middleware that treats operations by it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator


@dataclass(frozen=True, slots=True)
class Operation:
    """Names of its parameters."""

    query: tuple[str, ...]
    headers: frozenset[str]


def operation_of(view: Any, method: str) -> Operation | None:
    """The operation that ``view`` answers; ``None`` if the document does not describe it."""
    method = method.lower().replace("head", "get")
    action = getattr(view, "actions", {}).get(method, method)
    classes: tuple[type, ...] = view.cls.__mro__ if hasattr(view, "cls") else ()
    known = operations()
    return next((known[one, action] for one in classes if (one, action) in known), None)


@cache
def operations() -> dict[tuple[type, str], Operation]:
    """By view and action, or by view and method for views without actions."""
    generator = SchemaGenerator()
    paths = generator.get_schema(public=True)["paths"]
    found = {}
    for path, _, method, view in generator._get_paths_and_endpoints():
        described = paths.get(path, {}).get(method.lower())
        if described is not None:
            found[type(view), getattr(view, "action", None) or method.lower()] = _operation(described)
    return found


def _operation(described: dict[str, Any]) -> Operation:
    named = [(one["in"], one["name"]) for one in described.get("parameters", ())]
    return Operation(
        tuple(name for place, name in named if place == "query"),
        frozenset(name for place, name in named if place == "header"),
    )
