"""What the OpenAPI document says of each operation, for middleware that treats operations by it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.settings import spectacular_settings


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
    """By view and action, or by view and method for views without actions.

    The document is not made for it: bodies are most of its work, and every web process needs this before it starts.
    """
    generator = SchemaGenerator()
    generator._initialise_endpoints()
    found = {}
    for path, pattern, method, view in generator._get_paths_and_endpoints():
        view.request = spectacular_settings.GET_MOCK_REQUEST(method, path, view, None)
        schema = view.schema
        schema.registry, schema.path, schema.path_regex = generator.registry, path, pattern
        schema.path_prefix, schema.method = f"^{spectacular_settings.SCHEMA_PATH_PREFIX}", method
        if not schema.is_excluded():
            found[type(view), getattr(view, "action", None) or method.lower()] = _operation(schema._get_parameters())
    return found


def _operation(parameters: Iterable[Mapping[str, Any]]) -> Operation:
    named = [(one["in"], one["name"]) for one in parameters]
    return Operation(
        tuple(name for place, name in named if place == "query"),
        frozenset(name for place, name in named if place == "header"),
    )
