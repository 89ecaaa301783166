"""Slow and failed queries, for the page of a network, which belongs to a package below."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import template

from brokerweb.operationlog import services
from brokerweb.operationlog.models import Done

register = template.Library()
SHOWN = 6


@register.inclusion_tag("operationlog/worst.html")
def worst_of(network: Any, servers: Any) -> dict[str, Any]:
    names = services.names_of(network)
    kinds = ((services.SLOW, "Slowest"), (services.FAILED, "Failed"))
    lists = [(kind, title, _rows(services.worst_of(network, kind)[:SHOWN], names)) for kind, title in kinds]
    return {"network": network, "servers": servers, "lists": lists, "has_context": bool(names)}


def _rows(rows: Any, names: Any) -> list[dict[str, Any]]:
    return [{"row": row, "about": services.about(row, names), "walk": services.walk_url(row)} for row in rows]


@register.filter
def as_query(row: Done, about: dict[str, str]) -> str:
    """The parameters with which the form on the page asks for the same."""
    return urlencode({**about, **({} if row.server is None else {"asked": row.server})})
