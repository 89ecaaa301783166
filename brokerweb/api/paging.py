"""Pagination of lists that do not come from the database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from rest_framework.request import Request

from overlay.core.errors import InvalidSetting

MOST_DIGITS = 12
"""Digits of a number in a query string; every allowed number is shorter."""


def links(request: Request, query: dict[str, Any], page: int, pages: int) -> dict[str, str | None]:
    """URLs of the next and the previous page."""
    here = request.build_absolute_uri(request.path)

    def link(number: int) -> str | None:
        return f"{here}?{urlencode({**query, 'page': number})}" if 1 <= number <= pages else None

    return {"next": link(page + 1), "previous": link(page - 1)}


def whole(request: Request, name: str, default: int, low: int, high: int) -> int:
    """An integer query parameter. Raises ``InvalidSetting``."""
    text = request.query_params.get(name, str(default))
    if not text.isascii() or not text.isdigit() or len(text) > MOST_DIGITS or not low <= int(text) <= high:
        raise InvalidSetting(name, f"must be a whole number from {low} to {high}, not {text!r:.40}")
    return int(text)


def part_of(request: Request, rows: Sequence[Any]) -> dict[str, Any]:
    """One page of ``rows``: 100 by default, at most 1,000. Raises ``InvalidSetting``."""
    page, size = whole(request, "page", 1, 1, 10**6), whole(request, "page_size", 100, 1, 1_000)
    page_links = links(request, {"page_size": size}, page, -(-len(rows) // size))
    return {"count": len(rows), **page_links, "results": rows[(page - 1) * size : page * size]}
