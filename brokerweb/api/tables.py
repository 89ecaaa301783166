"""OpenAPI description of tables in several formats. Counterpart: ``brokerweb.kit.tables``."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter

from brokerweb.api.shapes.fields import LIST_OF_OBJECTS
from brokerweb.kit.streams import PARQUET
from brokerweb.kit.tables import FORMS

ADDRESS = {"type": "string", "format": "uri", "nullable": True}
PAGE_OF_OBJECTS = {
    "type": "object",
    "properties": {"count": {"type": "integer"}, "next": ADDRESS, "previous": ADDRESS, "results": LIST_OF_OBJECTS},
    "required": ["count", "next", "previous", "results"],
}


def a_table(as_json: Any = LIST_OF_OBJECTS) -> dict[tuple[int, str], Any]:
    """The responses selected by ``format``; in JSON one object per row, or ``as_json``."""
    return {
        (200, "application/json"): as_json,
        (200, "text/csv"): OpenApiTypes.STR,
        (200, PARQUET): OpenApiTypes.BINARY,
    }


def format_parameter(description: str) -> OpenApiParameter:
    return OpenApiParameter("format", str, enum=list(FORMS), description=description)


PAGED_AS_JSON = format_parameter("Default: json, paged; the other formats are complete")
