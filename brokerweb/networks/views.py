"""Pages of networks and hosts."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from brokerweb.accounts.asking import asked, shown_networks
from brokerweb.accounts.rights import ANY
from brokerweb.brokers import overlay
from brokerweb.kit import setting_forms, setting_sections
from brokerweb.kit.errors import NotPossible
from brokerweb.kit.view_guards import changes as changing
from brokerweb.kit.view_guards import form_page, needs, page_of, person, sought
from brokerweb.networks import broker_index, changes, history, live_data, quotas, services
from brokerweb.networks.answering import trouble
from brokerweb.networks.models import Host, Network
from brokerweb.networks.probes import TIERS
from brokerweb.networks.series_charts import RANGES, charts, for_script
from brokerweb.systems.registry import web_of
from brokerweb.topologies.models import Topology
from overlay.core.errors import InvalidSetting
from overlay.systems.registry import FIRST, SYSTEMS, have_topologies, servers_title
from telemetry.systems.registry import telemetry_of

LONG_APART = timedelta(minutes=1)
"""A bridge that was not connected for so long is shown in the list of networks."""


@needs("read", network=ANY)
@login_required
def index(request: HttpRequest) -> HttpResponse:
    # By name: alarms and bridges are above networks.
    long_ago = timezone.now() - LONG_APART
    apart = Q(bridges__state__in=("connecting", "failed"), bridges__since__lt=long_ago)
    counts = {
        "firing": Count("alarms", filter=Q(alarms__state="firing"), distinct=True),
        "apart": Count("bridges", filter=apart, distinct=True),
    }
    rows = shown_networks(Network.objects.annotate(**counts).order_by("-created"), asked(request).access)
    if state := request.GET.get("state", ""):
        rows = rows.filter(state=state)
    if query := sought(request):
        rows = rows.filter(Q(name__icontains=query) | Q(deployed__name__icontains=query))
    page = page_of(request, rows)
    hosts, now = Host.objects.in_bulk({network.host for network in page}), time.time()
    listed = [
        (network, broker_index.servers_of(network), trouble(network, hosts.get(network.host), now)) for network in page
    ]
    systems = {network.system for network in page}
    context: dict[str, Any] = {"page": page, "listed": listed, "title": servers_title(systems or SYSTEMS)}
    context |= {"have_topologies": have_topologies(systems)}
    return render(request, "networks/list.html", context)


@form_page
def new(request: HttpRequest) -> HttpResponse:
    given = request.POST if request.method == "POST" else request.GET
    system = SYSTEMS.get(given.get("system", ""), SYSTEMS[FIRST])
    sent: dict[str, Any] = {"name": given.get("name", ""), "topology": given.get("topology", ""), "system": system}
    infos, profiles = services.offered(system.name), services.profiles(system.name)
    if request.method != "POST":
        return _form(request, setting_forms.shown(infos, "settings-", sweeps=False, profiles=profiles), sent)
    inputs = setting_forms.read(infos, "settings-", request.POST, sweeps=False, profiles=profiles)
    try:
        if given.get("system", FIRST) not in SYSTEMS:
            raise InvalidSetting("system", f"must be one of {', '.join(SYSTEMS)}")
        if inputs.wrong:
            raise InvalidSetting("settings", "some values are invalid; see below")
        topology = Topology.objects.filter(pk=sent["topology"]).first()
        if topology is None and (system.needs_topology or sent["topology"]):
            raise InvalidSetting("topology", "select a topology")
        network = services.deploy(
            name=sent["name"],
            topology=topology,
            system=system.name,
            settings=inputs.changed(),
            owner=person(request),
        )
    except InvalidSetting as error:
        inputs.blame(error.field.rpartition(".")[2], error.sentence)
        return _form(request, inputs, sent, error)
    return redirect("networks:detail", network.id)


def _form(
    request: HttpRequest, inputs: setting_forms.Inputs, sent: dict[str, Any], error: InvalidSetting | None = None
) -> HttpResponse:
    system = sent["system"]
    context = {"inputs": inputs, "sent": sent, "error": error, "topologies": Topology.objects.all()}
    context |= {"main_settings": setting_sections.main(system, inputs.inputs), "systems": SYSTEMS.values()}
    context |= {"sections": setting_sections.of_settings(system, inputs.inputs)}
    context |= {"own": quotas.networks_of(person(request)), "brokers": quotas.brokers_of("")}
    return render(request, "networks/form.html", context, status=400 if error else 200)


@login_required
def detail(request: HttpRequest, network_id: str) -> HttpResponse:
    network = get_object_or_404(Network.objects.select_related("owner"), pk=network_id)
    found = _broker(network, request.GET.get("broker", ""))
    opened = {} if found is None else live_data.panel_of(network, found)
    graph = overlay.picture(network.deployed, broker_index.servers_of(network))
    web = web_of(network.system)
    parts = web.parts_of_network(network)
    has_context = web.context is not None and "get" in web.context.operations
    context = {**_shown(network), **opened, "graph": graph, **_course(network, request.GET.get("range", ""))}
    context |= {"parts": parts, "events": history.newest(network), "has_context": has_context}
    return render(request, "networks/detail.html", context)


def _course(network: Network, said: str) -> dict[str, Any]:
    """Of the charts over time."""
    shown = charts(telemetry_of({"system": network.system}))
    return {
        "charts": shown,
        "chart_scripts": for_script(shown),
        "ranges": [(tier.range, RANGES[tier.range], tier.covers_s) for tier in TIERS],
        "range": said if said in RANGES else TIERS[0].range,
    }


@login_required
def brokers(request: HttpRequest, network_id: str) -> HttpResponse:
    """The live parts of the page: state, reason, brokers; or the totals next to the graph."""
    network = get_object_or_404(Network, pk=network_id)
    if request.GET.get("part") == "totals":
        return render(
            request, "brokers/totals.html", {"system": network.system, "servers": broker_index.servers_of(network)}
        )
    return render(request, "networks/brokers.html", {**_shown(network), "is_part": True})


def _shown(network: Network) -> dict[str, Any]:
    shown, servers = live_data.frame(network), broker_index.servers_of(network)
    ordered = {order.broker for order in network.restart_orders.all()}
    restartable = services.restartable(network) - ordered
    rows = [
        {
            **row,
            "full": servers.in_text(row["index"]),
            "short": servers.short(row["index"]),
            "is_restarting": row["index"] in ordered,
            "can_restart": row["index"] in restartable,
        }
        for row in live_data.rows_of(network, shown)
    ]
    return {
        "network": network,
        "frame": {**shown, "resting": web_of(network.system).resting_links(network)},
        "rows": rows,
        "servers": servers,
        "progress": changes.progress(network, services.worker_missing(network.host)),
        "is_deletable": services.is_deletable(network),
        "reports_counters": bool(SYSTEMS[network.system].statistics_request(0)),
    }


def _broker(network: Network, index: str) -> dict[str, Any] | None:
    try:
        return live_data.one_of(network, broker_index.read(network, index))
    except InvalidSetting:
        return None


@login_required
def events(request: HttpRequest, network_id: str) -> HttpResponse:
    """Events of the network; a polled fragment of the page."""
    network = get_object_or_404(Network, pk=network_id)
    return render(request, "networks/events.html", {"network": network, "events": history.newest(network)})


@login_required
def broker(request: HttpRequest, network_id: str, index: str) -> HttpResponse:
    """The panel of one broker; polled while it is open."""
    network = get_object_or_404(Network, pk=network_id)
    found = _broker(network, index)
    if found is None:
        raise Http404("This network has no server with this index.")
    part = "brokers/now.html" if request.GET.get("part") == "now" else "brokers/panel.html"
    return render(request, part, live_data.panel_of(network, found))


@changing
def start(request: HttpRequest, network_id: str) -> HttpResponse:
    moves = bool(request.POST.get("new_addresses"))
    services.start(get_object_or_404(Network, pk=network_id), new_addresses=moves)
    return redirect("networks:detail", network_id)


@changing
def stop(request: HttpRequest, network_id: str) -> HttpResponse:
    services.stop(get_object_or_404(Network, pk=network_id))
    return redirect("networks:detail", network_id)


@changing
def restart_broker(request: HttpRequest, network_id: str, index: str) -> HttpResponse:
    network = get_object_or_404(Network, pk=network_id)
    try:
        services.restart_broker(network, broker_index.read(network, index), person(request))
    except InvalidSetting:
        raise Http404("This network has no server with this index.") from None
    except NotPossible as error:
        messages.error(request, str(error))
    else:
        messages.success(
            request, f"{broker_index.servers_of(network).full(int(index))} will be restarted within a few seconds."
        )
    return redirect("networks:detail", network_id)


@changing
def delete(request: HttpRequest, network_id: str) -> HttpResponse:
    network = get_object_or_404(Network, pk=network_id)
    try:
        services.delete(network)
    except NotPossible as error:
        messages.error(request, str(error))
        return redirect("networks:detail", network_id)
    messages.success(request, f"Deleted the network {network.name}.")
    return redirect("networks:list")
