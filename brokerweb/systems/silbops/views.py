"""The page of a network that publishes, subscribes and asks why. Its script does all of it by REST."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from brokerweb.networks.broker_index import servers_of
from brokerweb.networks.models import Network
from brokerweb.systems.silbops.doors.shapes import PUBLISHER, SUBSCRIBER
from overlay.systems.silbops.system import SYSTEM


def of_a_network(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Passes the network; refuses those of other systems."""

    @wraps(view)
    def wrapper(request: HttpRequest, network_id: str, **rest: Any) -> HttpResponse:
        network = get_object_or_404(Network, pk=network_id)
        if network.system != SYSTEM.name:
            sentence = f"{network.name} is no network of {SYSTEM.title}."
            return HttpResponse(sentence, content_type="text/plain", status=400)
        return view(request, network, **rest)

    return wrapper


@login_required
@of_a_network
def use_it(request: HttpRequest, network: Network) -> HttpResponse:
    names = {"subscriber": SUBSCRIBER, "publisher": PUBLISHER}
    context = {"network": network, "servers": servers_of(network), "names": names}
    return render(request, "silbops/use.html", context)
