"""Pages of networks and hosts: parse, call one service, show."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render

from brokerweb import traced
from brokerweb.kit import setting_forms
from brokerweb.kit.doors import changes, form_page, may_change, page_of, person, posted, sought
from brokerweb.kit.errors import NotPossible
from brokerweb.kit.formatting import words
from brokerweb.networks import context as rest_front
from brokerweb.networks import history, looking, numbers, services, walks
from brokerweb.networks.models import Network
from brokerweb.topologies import pictures
from brokerweb.topologies.models import Topology
from overlay.core.engines import LIVE
from overlay.core.errors import InvalidSetting

LOOKS = 6
"""Times that the page looks for a walk, half a second apart: brokers report what they traced once a second."""


@login_required
def index(request: HttpRequest) -> HttpResponse:
    rows = Network.objects.select_related("topology")
    if state := request.GET.get("state", ""):
        rows = rows.filter(state=state)
    if query := sought(request):
        rows = rows.filter(Q(name__icontains=query) | Q(deployed__name__icontains=query))
    return render(request, "networks/list.html", {"page": page_of(request, rows)})


@form_page
def new(request: HttpRequest) -> HttpResponse:
    infos = services.described()
    if request.method != "POST":
        sent = {"name": "", "topology": request.GET.get("topology", "")}
        return _form(request, setting_forms.shown(infos, "settings-", sweeps=False, profiles=services.profiles()), sent)
    inputs = setting_forms.read(infos, "settings-", request.POST, sweeps=False, profiles=services.profiles())
    sent = {"name": request.POST.get("name", ""), "topology": request.POST.get("topology", "")}
    try:
        if inputs.wrong:
            raise InvalidSetting("settings", "some of them are wrong; see below")
        topology = Topology.objects.filter(pk=sent["topology"]).first()
        if topology is None:
            raise InvalidSetting("topology", "choose one")
        network = services.deploy(
            name=sent["name"],
            topology=topology,
            settings=inputs.changed(),
            owner=person(request),
        )
    except InvalidSetting as error:
        inputs.blame(error.field.rpartition(".")[2], error.sentence)
        return _form(request, inputs, sent, error)
    return redirect("networks:detail", network.id)


def _form(
    request: HttpRequest, inputs: setting_forms.Inputs, sent: dict[str, str], error: InvalidSetting | None = None
) -> HttpResponse:
    context = {"inputs": inputs, "sent": sent, "error": error, "topologies": Topology.objects.all()}
    return render(request, "networks/form.html", context, status=400 if error else 200)


@login_required
def detail(request: HttpRequest, network_id: str) -> HttpResponse:
    network = get_object_or_404(Network.objects.select_related("topology", "owner"), pk=network_id)
    found = _broker(network, request.GET.get("broker", ""))
    opened = {} if found is None else looking.panel_of(network, found)
    graph = pictures.of_document(network.deployed)
    context = {**_shown(network), **opened, "graph": graph, "numbers": range(network.deployed["brokers"])}
    return render(request, "networks/detail.html", {**context, "events": history.newest(network)})


@login_required
def brokers(request: HttpRequest, network_id: str) -> HttpResponse:
    """The parts of the page that move: state, reason, brokers; or what is beside the picture while none is open."""
    network = get_object_or_404(Network, pk=network_id)
    if request.GET.get("part") == "totals":
        return render(request, "brokers/totals.html")
    return render(request, "networks/brokers.html", {**_shown(network), "is_part": True})


def _shown(network: Network) -> dict[str, Any]:
    shown = looking.frame(network)
    ordered = {order.broker for order in network.restart_orders.all()}
    restartable = services.restartable(network) - ordered
    rows = [
        {**row, "is_restarting": row["index"] in ordered, "can_restart": row["index"] in restartable}
        for row in looking.rows_of(network, shown)
    ]
    return {"network": network, "frame": shown, "rows": rows}


def _broker(network: Network, index: str) -> dict[str, Any] | None:
    try:
        return looking.one_of(network, numbers.read(network, index))
    except InvalidSetting:
        return None


@login_required
def events(request: HttpRequest, network_id: str) -> HttpResponse:
    """What happened to the network and its brokers; a part of its page that asks for itself."""
    network = get_object_or_404(Network, pk=network_id)
    return render(request, "networks/events.html", {"network": network, "events": history.newest(network)})


@login_required
def broker(request: HttpRequest, network_id: str, index: str) -> HttpResponse:
    """The part beside the picture for one broker; it asks for itself while it is open."""
    network = get_object_or_404(Network, pk=network_id)
    found = _broker(network, index)
    if found is None:
        raise Http404("This network has no broker of this number.")
    part = "brokers/now.html" if request.GET.get("part") == "now" else "brokers/panel.html"
    return render(request, part, looking.panel_of(network, found))


@posted
def context(request: HttpRequest, network_id: str) -> HttpResponse:
    """Asks or provides through the REST front's own service; answers with a part of the page."""
    network = get_object_or_404(Network, pk=network_id)
    try:
        if request.POST.get("do") == "provide":
            may_change(request)
            return render(request, "networks/answer.html", {"provided": _provide(network, request.POST)})
        broker = numbers.chosen(network, request.POST.get("broker", ""))
        asked = rest_front.ask(network, *_key(request.POST), broker=broker, is_traced=True)
    except InvalidSetting as error:
        return render(request, "networks/answer.html", {"problem": f"{words(error.field)}: {error.sentence}"})
    except (rest_front.NotRunning, rest_front.NotAnswered) as error:
        return render(request, "networks/answer.html", {"problem": str(error)})
    where = {"network": network, "trace": asked.trace, "traced_one_in": walks.traced_one_in(network)}
    if asked.entry is None:
        sentence = "Not found: no broker has valid data of this entity and scope."
        return render(request, "networks/answer.html", {**where, "problem": sentence, "problem_kind": "not-found"})
    return render(request, "networks/answer.html", {**where, "answer": asked.entry})


@login_required
def walk(request: HttpRequest, network_id: str, trace: str) -> HttpResponse:
    """The walk of a query that was asked here, as far as brokers reported it; asks again ``?left=`` times at most."""
    network = get_object_or_404(Network, pk=network_id)
    said = request.GET.get("left", "0")
    left = min(int(said), LOOKS) if said.isascii() and said.isdigit() and len(said) < 4 else 0
    found = walks.drawn(network, trace)
    shown = traced.shown(*found, network=network.pk, engine=LIVE) if found else {}
    if left and not (found and traced.is_whole(found[0])):
        shown = {"then": left - 1}
    context = {"network": network, "trace": trace, **shown}
    return render(request, "networks/walk.html", context)


def _key(data: QueryDict) -> tuple[str, str, str]:
    return data.get("type", "").strip(), data.get("entity", "").strip(), data.get("scope", "").strip()


def _provide(network: Network, data: QueryDict) -> dict[str, Any]:
    valid = data.get("valid_ms", "").strip()
    if not (valid.isascii() and valid.isdigit() and len(valid) < 13 and int(valid)):
        raise InvalidSetting("valid_ms", f"must be a whole number of milliseconds, not {valid[:40]!r}")
    payload = data.get("payload", "").strip()
    return rest_front.provide(
        network,
        *_key(data),
        provider=data.get("provider", "").strip(),
        payload=payload,
        valid_ms=int(valid),
        broker=numbers.chosen(network, data.get("broker", "")),
    )


@changes
def start(request: HttpRequest, network_id: str) -> HttpResponse:
    services.start(get_object_or_404(Network, pk=network_id))
    return redirect("networks:detail", network_id)


@changes
def stop(request: HttpRequest, network_id: str) -> HttpResponse:
    services.stop(get_object_or_404(Network, pk=network_id))
    return redirect("networks:detail", network_id)


@changes
def restart_broker(request: HttpRequest, network_id: str, index: str) -> HttpResponse:
    network = get_object_or_404(Network, pk=network_id)
    try:
        services.restart_broker(network, numbers.read(network, index), person(request))
    except InvalidSetting:
        raise Http404("This network has no broker of this number.") from None
    except NotPossible as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Broker {index} will be restarted within a few seconds.")
    return redirect("networks:detail", network_id)


@changes
def delete(request: HttpRequest, network_id: str) -> HttpResponse:
    network = get_object_or_404(Network, pk=network_id)
    try:
        services.delete(network)
    except NotPossible as error:
        messages.error(request, str(error))
        return redirect("networks:detail", network_id)
    messages.success(request, f"Deleted the network {network.name}.")
    return redirect("networks:list")
