"""The walk of a query sent from a network's page."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from brokerweb.networks.models import Network
from brokerweb.systems.context_broker.queries import of_networks, timeline

LOOKS = 6
"""Number of polls for a walk, half a second apart: brokers report traces once a second."""


@login_required
def walk(request: HttpRequest, network_id: str, trace: str) -> HttpResponse:
    """The walk of a query as far as reported; polls again at most ``?left=`` times."""
    network = get_object_or_404(Network, pk=network_id)
    said = request.GET.get("left", "0")
    left = min(int(said), LOOKS) if said.isascii() and said.isdigit() and len(said) < 4 else 0
    found = of_networks.drawn(network, trace)
    shown = timeline.shown(*found, f"network-{network.pk}") if found else {}
    if left and not (found and timeline.is_whole(found[0])):
        shown = {"then": left - 1}
    context = {"network": network, "trace": trace, **shown}
    return render(request, "context_broker/walk.html", context)
