"""The page of a network that publishes, subscribes and asks why. Its script does all of it by REST."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from brokerweb.networks.broker_index import servers_of
from brokerweb.networks.models import Network
from brokerweb.networks.of_system import of_system
from brokerweb.systems.silbops.doors.shapes import PUBLISHER, SUBSCRIBER
from overlay.systems.silbops.system import SYSTEM

of_a_network = of_system(SYSTEM)


@login_required
@of_a_network
def use_it(request: HttpRequest, network: Network) -> HttpResponse:
    names = {"subscriber": SUBSCRIBER, "publisher": PUBLISHER}
    context = {"network": network, "servers": servers_of(network), "names": names}
    return render(request, "silbops/use.html", context)
