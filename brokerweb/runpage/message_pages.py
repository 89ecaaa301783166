"""Lists of a run's messages: a page of all, or the first few as a fragment of the run's page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from django.core.paginator import Page, Paginator
from django.http import HttpRequest

ON_THE_RUN, ON_A_PAGE = 10, 50


class Rows(Protocol):
    @property
    def count(self) -> int: ...
    @property
    def rows(self) -> Sequence[Mapping[str, Any]]: ...


def is_part(request: HttpRequest) -> bool:
    return "HX-Request" in request.headers


def page_of(request: HttpRequest, listed: Callable[[int, int], Rows]) -> tuple[Rows, Page[int]]:
    """The rows of the page that the address asks for, or of the last one. ``listed`` takes offset and limit."""
    size = ON_THE_RUN if is_part(request) else ON_A_PAGE
    asked = request.GET.get("page", "1")
    number = max(1, int(asked)) if asked.isascii() and asked.isdigit() and len(asked) < 7 else 1
    found = listed((number - 1) * size, size)
    page = Paginator(range(found.count), size).get_page(number)
    if page.number != number:  # past the last page
        found = listed((page.number - 1) * size, size)
    return found, page
