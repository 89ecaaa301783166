"""Bridges on the page of a network, and their form."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from brokerweb.bridges import forms, services, shown
from brokerweb.bridges.forms import Form
from brokerweb.bridges.models import Bridge
from brokerweb.kit import etags
from brokerweb.kit.etags import Outdated
from brokerweb.kit.view_guards import changes, form_page, person
from brokerweb.networks.models import Desired, Network
from overlay.core.errors import InvalidSettings
from overlay.systems.bridging import Bridging


@login_required
def part(request: HttpRequest, network_id: str) -> HttpResponse:
    """States and counters; polled."""
    network = get_object_or_404(Network, pk=network_id)
    return render(request, "bridges/states.html", shown.part(network))


@form_page
def new(request: HttpRequest, network_id: str) -> HttpResponse:
    network, bridging = _network(network_id)
    if request.method != "POST":
        return _page(request, network, forms.empty(bridging))
    form = forms.of_request(bridging, request.POST)
    try:
        bridge = services.create(network, forms.fields(form, request.POST), person(request))
    except InvalidSettings as error:
        forms.blame(form, error)
        return _page(request, network, form, status=400)
    messages.success(request, f"Bridge {bridge.number} added.")
    return _back(network_id)


@form_page
def edit(request: HttpRequest, network_id: str, number: int) -> HttpResponse:
    network, bridging = _network(network_id)
    bridge = _bridge(network_id, number)
    if request.method != "POST":
        return _page(request, network, forms.of_bridge(bridging, bridge), bridge)
    form = forms.of_request(bridging, request.POST)
    try:
        fields = forms.fields(form, request.POST)
        services.change(bridge, fields, person(request), request.POST.get(etags.SEEN, ""))
    except InvalidSettings as error:
        forms.blame(form, error)
        return _page(request, network, form, bridge, status=400)
    except Outdated:
        return _page(request, network, form, bridge, status=409)
    messages.success(request, f"Bridge {bridge.number} saved.")
    return _back(network_id)


@changes
def switch(request: HttpRequest, network_id: str, number: int) -> HttpResponse:
    """Stop its process, or start it again."""
    desired = Desired.RUNNING if request.POST.get("desired") == Desired.RUNNING else Desired.STOPPED
    services.change(_bridge(network_id, number), {"desired": desired}, person(request))
    messages.success(request, f"Bridge {number} {'starts' if desired == Desired.RUNNING else 'stops'} within a second.")
    return _back(network_id)


@changes
def delete(request: HttpRequest, network_id: str, number: int) -> HttpResponse:
    services.delete(_bridge(network_id, number), person(request))
    messages.success(request, f"Bridge {number} deleted.")
    return _back(network_id)


def _network(network_id: str) -> tuple[Network, Bridging]:
    network = get_object_or_404(Network, pk=network_id)
    bridging = services.bridging(network)
    if bridging is None:
        raise Http404("Networks of this system have no bridges.")
    return network, bridging


def _bridge(network_id: str, number: int) -> Bridge:
    return get_object_or_404(Bridge.objects.select_related("network"), network=network_id, number=number)


def _back(network_id: str) -> HttpResponse:
    return redirect(f"{reverse('networks:detail', args=[network_id])}#bridges")


def _page(
    request: HttpRequest, network: Network, form: Form, bridge: Bridge | None = None, *, status: int = 200
) -> HttpResponse:
    """409: the bridge has changed since the form was shown."""
    context: dict[str, Any] = {"network": network, "form": form, "bridge": bridge, "is_outdated": status == 409}
    if bridge is not None:
        kept = request.POST.get(etags.SEEN, "") if status == 400 else ""
        context |= {"told": services.told(bridge), "seen": kept or etags.mark(services.told(bridge))}
    return render(request, "bridges/form.html", context, status=status)
