"""The part of a network's page about its tree and its mobile brokers, and the buttons of these."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from brokerweb.kit.errors import NotAnswered, NotPossible
from brokerweb.kit.view_guards import changes, person
from brokerweb.networks import broker_index, services
from brokerweb.networks.models import Network
from brokerweb.networks.of_system import of_system
from brokerweb.systems.federation.watching.inspecting import brokers
from brokerweb.systems.federation.watching.mobile import indices, mobile_brokers
from brokerweb.systems.federation.watching.tree import tree_of
from overlay.core.errors import InvalidSetting
from overlay.systems.federation.fault_kinds import MOVE, OFFLINE
from overlay.systems.federation.system import SYSTEM

ORDERS = {
    "cut": (OFFLINE, True, "The radio of {who} is cut within two seconds."),
    "back": (OFFLINE, False, "{who} is back within two seconds."),
    "move": (MOVE, True, "{who} moves to another port within two seconds."),
}
"""By button: fault, whether it begins, and what happens."""

of_a_network = of_system(SYSTEM)


@login_required
@of_a_network
def tree(request: HttpRequest, network: Network) -> HttpResponse:
    """Epoch, links and registered brokers; polled."""
    context: dict[str, Any] = {"network": network}
    try:
        found = tree_of(network)
        context |= {"tree": found, "resting": found.resting(network.deployed["links"])}
        context["missing"] = found.missing(network)
    except (NotAnswered, NotPossible) as error:
        context["error"] = str(error)
    return render(request, "federation/tree.html", context)


@login_required
@of_a_network
def mobile(request: HttpRequest, network: Network) -> HttpResponse:
    """Mobile brokers; polled."""
    ordered = {(one.broker, one.what): one.begins for one in network.fault_orders.all()}
    found = mobile_brokers(network) if brokers(network) else []
    rows = [(one, ordered.get((one.index, OFFLINE)), (one.index, MOVE) in ordered) for one in found]
    return render(request, "federation/mobile.html", {"network": network, "rows": rows, "are_any": indices(network)})


@changes
@of_a_network
def order(request: HttpRequest, network: Network, index: str, what: str) -> HttpResponse:
    """One of ``ORDERS``."""
    if what not in ORDERS:
        raise Http404("There is no such order.")
    fault, begins, sentence = ORDERS[what]
    try:
        broker = broker_index.read(network, index)
        services.operate(network, broker, fault, begins=begins, by=person(request))
    except InvalidSetting:
        raise Http404("This network has no mobile broker with this index.") from None
    except NotPossible as error:
        messages.error(request, str(error))
    else:
        messages.success(request, sentence.format(who=broker_index.servers_of(network).full(broker)))
    return redirect("networks:detail", network.pk)
