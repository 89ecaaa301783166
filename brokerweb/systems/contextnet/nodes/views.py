"""Nodes of a network, polled; the buttons that give out and revoke their secrets."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache

from brokerweb.kit.errors import NotPossible
from brokerweb.kit.view_guards import changes
from brokerweb.networks.models import Network
from brokerweb.networks.of_system import of_system
from brokerweb.networks.snapshot import snapshot_of
from brokerweb.systems.contextnet.doors import credentials
from brokerweb.systems.contextnet.doors.places import place_of
from overlay.core.errors import InvalidSetting
from overlay.programs.questions import NoAnswer
from overlay.runtime.logs.port import Denied
from overlay.systems.contextnet.message_json import node_read
from overlay.systems.contextnet.system import SYSTEM

MOST = 200
"""Nodes that are shown."""

of_a_network = of_system(SYSTEM)


@login_required
@of_a_network
def nodes(request: HttpRequest, network: Network) -> HttpResponse:
    context: dict[str, Any] = {"network": network}
    try:
        found = place_of(snapshot_of(network)).log.nodes()
    except (NotPossible, NoAnswer, Denied) as error:
        context["error"] = str(error)
    else:
        found.sort(key=lambda one: (not one.connected, one.node))
        revoked = credentials.revoked(network.pk)
        rows = [(one, one.node.hex(), one.node.hex() in revoked) for one in found[:MOST]]
        context |= {"rows": rows, "count": len(found), "connected": sum(one.connected for one in found)}
    return render(request, "contextnet/nodes.html", context)


@changes
@of_a_network
@never_cache
def give(request: HttpRequest, network: Network, node: str) -> HttpResponse:
    """Shows the secret, on this page only."""
    try:
        secret = credentials.give(network, _node(node)).hex()
    except NotPossible as error:
        messages.error(request, str(error))
        return redirect("networks:detail", network.pk)
    return render(request, "contextnet/secret.html", {"network": network, "node": node, "secret": secret})


@changes
@of_a_network
def revoke(request: HttpRequest, network: Network, node: str) -> HttpResponse:
    try:
        credentials.revoke(network, _node(node))
    except NotPossible as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"The secret of node {node} is revoked.")
    return redirect("networks:detail", network.pk)


def _node(text: str) -> bytes:
    try:
        return node_read(text)
    except InvalidSetting as error:
        raise Http404(error.sentence) from None
