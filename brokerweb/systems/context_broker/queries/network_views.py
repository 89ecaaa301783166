"""The walk of a query sent from a network's page."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from brokerweb.networks.models import Network
from brokerweb.systems.context_broker.queries import of_networks, timeline

WAITS_MS = (500, 500, 500, 500, 500, 1_000, 2_000, 4_000, 8_000, 16_000)
"""Milliseconds between polls for a walk: brokers report traces once a second, and much later on a busy machine."""
WHOLE_ONLY = 5
"""Polls that show nothing of a walk that is not whole yet: most are by then, and a drawing that changes disturbs."""


@login_required
def walk(request: HttpRequest, network_id: str, trace: str) -> HttpResponse:
    """The walk of a query as far as reported; ``?look=``, from 0, counts the polls of a page that waits for it."""
    network = get_object_or_404(Network, pk=network_id)
    said = request.GET.get("look", "")
    look = int(said) if said.isascii() and said.isdigit() and len(said) < 4 else len(WAITS_MS)
    found = of_networks.drawn(network, trace)
    is_whole = bool(found and timeline.is_whole(found[0]))
    shown = timeline.shown(*found, f"network-{network.pk}") if found and (is_whole or look >= WHOLE_ONLY) else {}
    waiting = {} if is_whole or look >= len(WAITS_MS) else {"next_look": look + 1, "wait_ms": WAITS_MS[look]}
    context = {"network": network, "trace": trace, **waiting, **shown}
    return render(request, "context_broker/walk.html", context)
