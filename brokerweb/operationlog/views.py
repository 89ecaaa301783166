"""The page of a network's operation log."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from brokerweb.kit.view_guards import needs, page_of
from brokerweb.networks import broker_index
from brokerweb.networks.models import Network
from brokerweb.operationlog import services
from brokerweb.operationlog.entries import OUTCOMES
from brokerweb.operationlog.storing import limits
from overlay.core.errors import InvalidSetting

PAGE_SIZE = 50


@needs("inspect")
@login_required
def index(request: HttpRequest, network_id: str) -> HttpResponse:
    network = get_object_or_404(Network, pk=network_id)
    asked = {name: value for name in services.FILTERS if (value := request.GET.get(name, "").strip())}
    error = None
    rows = services.of_network(network)
    try:
        rows = services.matching(rows, asked)
    except InvalidSetting as wrong:
        error, rows = wrong, rows.none()
    servers = broker_index.servers_of(network)
    names = services.names_of(network)
    page = page_of(request, rows, PAGE_SIZE)
    context: dict[str, Any] = {
        "network": network,
        "servers": servers,
        "page": page,
        "rows": [{"row": row, "about": services.about(row, names), "walk": services.walk_url(row)} for row in page],
        "asked": asked,
        "error": error,
        "outcomes": OUTCOMES,
        "query": urlencode(asked),
        "limits": limits(),
        "lost": services.lost(network),
    }
    return render(request, "operationlog/list.html", context, status=400 if error else 200)
