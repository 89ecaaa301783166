"""Pages and REST of networks of one system, which refuse those of others."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from rest_framework.request import Request

from brokerweb.accounts.asking import access_of, shown_networks
from brokerweb.kit.errors import NotPossible
from brokerweb.networks.models import Network
from overlay.systems.contract import System

View = Callable[..., HttpResponse]


def of_system(system: System) -> Callable[[View], View]:
    """A decorator of pages whose address has a ``network_id``: passes the network."""

    def decorated(view: View) -> View:
        @wraps(view)
        def wrapper(request: HttpRequest, network_id: str, **rest: Any) -> HttpResponse:
            network = get_object_or_404(Network, pk=network_id)
            if network.system != system.name:
                return HttpResponse(_refusal(network, system), content_type="text/plain", status=400)
            return view(request, network, **rest)

        return wrapper

    return decorated


def network_of(system: System, request: Request, pk: str) -> Network:
    """For REST. Raises ``Http404`` for a network that the account may not see, and ``NotPossible`` for one of another
    system."""
    network = get_object_or_404(shown_networks(Network.objects.all(), access_of(request.user, request.auth)), pk=pk)
    if network.system != system.name:
        raise NotPossible(_refusal(network, system))
    return network


def _refusal(network: Network, system: System) -> str:
    return f"{network.name} is no network of {system.title}."
