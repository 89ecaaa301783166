"""``/api/runs/ID/traces/`` of systems whose traces are other rows than queries (``Web.traces_of_run``)."""

from __future__ import annotations

from django.http import HttpResponseBase
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from brokerweb.api.paging import links, whole
from brokerweb.experiments.models import Run
from brokerweb.kit.tables import JSON, Table, checked, download, written
from brokerweb.runpage import tables
from brokerweb.systems.registry import web_of

PAGING = ("format", "page", "page_size")
ALL = 1 << 40
"""Exceeds the number stored for any run."""


def listed(request: Request, run: Run) -> HttpResponseBase:
    """A page as JSON, or all in another format. Raises ``NotFound`` and ``InvalidSetting``."""
    form = checked(request.query_params.get("format", JSON))
    parameters = {name: value for name, value in request.query_params.dict().items() if name not in PAGING}
    page, size = whole(request, "page", 1, 1, 10**6), whole(request, "page_size", 100, 1, 1_000)
    where = ((page - 1) * size, size) if form == JSON else (0, ALL)
    found = web_of(run.system).traces_of_run(run, parameters, *where)
    if found is None:
        raise NotFound(f"This run has no traces: it is of the system {run.system!r:.40}, which has none.")
    if form != JSON:
        names = list(found.rows[0]) if found.rows else []
        table = Table(names, [list(row.values()) for row in found.rows])
        return download(written(table, form), form, tables.named("traces", run))
    pages = links(request, {**parameters, "page_size": size}, page, -(-found.count // size))
    return Response({"count": found.count, **pages, "results": found.rows})
