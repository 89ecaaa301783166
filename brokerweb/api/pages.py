"""Pagination of lists: by page number, and by cursor where rows are added while a client reads.

A page number counts from the begin of the list: rows that are added before it move others to the next page.
"""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from brokerweb.api.cursors import MOST_CHARACTERS, part_of_log, part_of_table
from overlay.core.errors import InvalidSetting

CURSOR = "cursor"


class Pages(PageNumberPagination):
    """``count next previous results``; ``page_size`` up to 500."""

    page_size_query_param = "page_size"
    max_page_size = 500


class CursorPages(Pages):
    """The same, or by cursor with ``cursor``: rows of a table in its own order, or entries of a log by ``at``."""

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any] | None:
        self._told: dict[str, Any] = {}
        text = request.query_params.get(CURSOR)
        if text is None:
            return super().paginate_queryset(queryset, request, view)
        for other in ("page", "ordering"):
            if request.query_params.get(other):
                raise InvalidSetting(other, "cannot be combined with cursor, whose list has an order of its own")
        size, is_table = self.get_page_size(request) or self.max_page_size, isinstance(queryset, QuerySet)
        part = (part_of_table if is_table else part_of_log)(queryset, text, size)
        here = request.build_absolute_uri()
        places = {"next": part.after, "previous": part.before}
        links = {name: at and replace_query_param(here, CURSOR, at.text) for name, at in places.items()}
        self._told = {"count": queryset.count() if is_table else len(queryset), **links}
        return part.rows

    def get_paginated_response(self, data: Any) -> Response:
        return Response({**self._told, "results": data}) if self._told else super().get_paginated_response(data)

    def get_schema_operation_parameters(self, view: Any) -> list[Any]:
        cursor = {
            "name": CURSOR,
            "in": "query",
            "required": False,
            "schema": {"type": "string", "maxLength": MOST_CHARACTERS},
            "description": "Pages by cursor instead of by number, in the list's own order: empty for the first page, "
            "then follow `next`. Rows that are added meanwhile move none to another page",
        }
        return [*super().get_schema_operation_parameters(view), cursor]
