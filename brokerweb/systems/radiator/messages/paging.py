"""Several tables of one page, each paged by a parameter of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import HttpRequest


@dataclass(frozen=True, slots=True)
class Paged:
    """A page of a table, with the addresses of the ones next to it; empty without one."""

    page: Page[Any]
    label: str
    previous: str
    next: str

    @property
    def rows(self) -> Sequence[Any]:
        return list(self.page.object_list)

    @property
    def count(self) -> int:
        return self.page.paginator.count


def paged(request: HttpRequest, items: Sequence[Any], size: int, parameter: str, label: str) -> Paged:
    """The page that ``parameter`` asks for, or the nearest one. Its table has the parameter as its element id."""
    page = Paginator(items, size).get_page(number_in(request, parameter) or 1)

    def address(number: int) -> str:
        return f"{with_parameters(request, **{parameter: number})}#{parameter}"

    before = address(page.previous_page_number()) if page.has_previous() else ""
    return Paged(page, label, before, address(page.next_page_number()) if page.has_next() else "")


def with_parameters(request: HttpRequest, **changes: Any) -> str:
    """The query of this page with other values; ``None`` removes one."""
    query = request.GET.copy()
    for name, value in changes.items():
        query.pop(name, None)
        if value is not None:
            query[name] = str(value)
    return f"?{query.urlencode()}"


def number_in(request: HttpRequest, parameter: str) -> int | None:
    """A whole number from 0 in the query; ``None`` for anything else."""
    text = request.GET.get(parameter, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
