"""Parts of the page of a network: what its server tells, and how applications connect to it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from brokerweb.kit.errors import NotAnswered, NotPossible
from brokerweb.kit.view_guards import PAGE_SIZE
from brokerweb.networks.models import Network
from brokerweb.networks.of_system import of_system
from brokerweb.systems.contract import Rows
from brokerweb.systems.radiator import inspecting
from overlay.core.addresses import parse_address
from overlay.programs.radiator.inspection import Inspector
from overlay.programs.radiator.listing import CLIENTS
from overlay.systems.radiator.system import SYSTEM

MOST_PAGES = 100_000

of_a_network = of_system(SYSTEM)


@login_required
@of_a_network
def server(request: HttpRequest, network: Network) -> HttpResponse:
    """Figures, clients and queues; polled. ``?only=reachable``, ``?clients=2`` and ``?queues=2`` are kept."""
    only = request.GET.get("only", "all")
    shown: dict[str, Any] = {"only": only if only in CLIENTS else "all"}
    shown |= {name: _number(request.GET.get(name, "")) for name in ("clients", "queues")}
    context: dict[str, Any] = {"network": network, "shown": shown, "choices": list(CLIENTS)}
    try:
        with inspecting.asked(network) as asked:
            context |= _told(asked, shown)
    except (NotAnswered, NotPossible) as error:
        context["error"] = str(error)
    context["query"] = urlencode(shown)
    return render(request, "radiator/server.html", context)


def _told(server: Inspector, shown: dict[str, Any]) -> dict[str, Any]:
    def clients(offset: int) -> Rows:
        return inspecting.clients(server, offset, PAGE_SIZE, CLIENTS[shown["only"]])

    def queues(offset: int) -> Rows:
        return inspecting.pending(server, offset, PAGE_SIZE)

    pages = {name: _page(ask, shown, name) for name, ask in {"clients": clients, "queues": queues}.items()}
    return {"figures": server.figures(), **pages}


def _page(ask: Any, shown: dict[str, Any], name: str) -> tuple[Page[int], Rows]:
    """The page asked for, or the last one if there are fewer by now."""
    found = ask((shown[name] - 1) * PAGE_SIZE)
    page = Paginator(range(found.count), PAGE_SIZE).get_page(shown[name])
    if page.number != shown[name]:
        shown[name] = page.number
        found = ask((page.number - 1) * PAGE_SIZE)
    return page, found


def _number(text: str) -> int:
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(MOST_PAGES))
    return min(max(1, int(text)), MOST_PAGES) if is_number else 1


@login_required
@of_a_network
def connect(request: HttpRequest, network: Network) -> HttpResponse:
    """How applications connect; polled until the server has an address."""
    address = inspecting.address_of(network)
    host, port = parse_address(address) if address else ("", 0)
    context = {"network": network, "address": address, "host": host, "port": port}
    return render(request, "radiator/connect.html", context)
