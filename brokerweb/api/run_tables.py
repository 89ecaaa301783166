"""REST endpoints of a run's recorded rows: its samples, and every table that the lake has of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.http import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import CharField, IntegerField, Serializer

from brokerweb.api.paging import links, whole
from brokerweb.api.tables import PAGE_OF_OBJECTS, PAGED_AS_JSON, a_table
from brokerweb.experiments import samples as rows
from brokerweb.experiments.models import Run
from brokerweb.kit.streams import PARQUET, download, file_chunks
from brokerweb.retention.services import removed_sentence
from overlay.core.engines import SIMULATED
from overlay.core.errors import InvalidSetting

PAGED = [
    PAGED_AS_JSON,
    OpenApiParameter("page", int),
    OpenApiParameter("page_size", int, description="Maximum 10,000"),
]


class TableSerializer(Serializer[Any]):
    name = CharField(help_text="Tables that only one system has are named SYSTEM.TABLE")
    rows = IntegerField()


class RunTables:
    """Actions of runs."""

    get_object: Callable[[], Run]

    @extend_schema(parameters=PAGED, responses=a_table(PAGE_OF_OBJECTS), filters=False)
    @action(detail=True)
    def samples(self, request: Request, pk: str) -> HttpResponseBase:
        """All requests and updates, as recorded by the clients.

        A request has a `truth`, judged against the data provided before it: fresh, stale, expired, false_not_found,
        proved_not_found, lost or refused; `stale_ms`, the age of the answer relative to the newest value; and
        `existed`, whether valid data existed. Runs collected by earlier versions lack these three.
        """
        run = self.get_object()
        return _answer(request, run, "samples", rows.parquet_path(run))

    @extend_schema(responses=TableSerializer(many=True), filters=False)
    @action(detail=True, pagination_class=None)
    def tables(self, request: Request, pk: str) -> Response:
        """The tables of a collected run, with the number of rows of each; empty before."""
        found = [{"name": name, "rows": rows.count(path)} for name, path in rows.tables(self.get_object()).items()]
        return Response(TableSerializer(found, many=True).data)

    @extend_schema(
        operation_id="runs_table_retrieve",
        parameters=[OpenApiParameter("table", str, OpenApiParameter.PATH), *PAGED],
        responses=a_table(PAGE_OF_OBJECTS),
        filters=False,
    )
    @action(detail=True, url_path=r"tables/(?P<table>[\w.-]+)")
    def table(self, request: Request, pk: str, table: str) -> HttpResponseBase:
        """All rows of one table of `tables`."""
        run = self.get_object()
        return _answer(request, run, table, rows.tables(run).get(table))


def _answer(request: Request, run: Run, table: str, path: Path | None) -> HttpResponseBase:
    """Raises ``NotFound`` if there is no such file, and ``InvalidSetting`` for an unknown format."""
    if path is None:
        raise NotFound(removed_sentence(run) or f"This run has no {table}. They are available once it is collected.")
    name = f"{table}-{run.pk}{'-simulated' if run.engine == SIMULATED else ''}"
    form = request.query_params.get("format", "json")
    rows.count(path)  # a damaged file is refused before a download begins
    if form == "csv":
        return download(request, rows.csv_lines(path), f"{name}.csv", "text/csv; charset=utf-8")
    if form == "parquet":
        return download(request, file_chunks(path), f"{name}.parquet", PARQUET)
    if form != "json":
        raise InvalidSetting("format", f"must be csv, json or parquet, not {form!r:.40}")
    return _page(request, path)


def _page(request: Request, path: Path) -> Response:
    page = whole(request, "page", 1, 1, 10**9)
    size = whole(request, "page_size", 1_000, 1, 10_000)
    total = rows.count(path)
    page_links = links(request, {"format": "json", "page_size": size}, page, -(-total // size))
    return Response({"count": total, **page_links, "results": list(rows.rows(path, (page - 1) * size, size))})
