"""The page that changes a network: forms, the preview of the steps of each, and the progress."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render

from brokerweb.kit import setting_forms, setting_sections
from brokerweb.kit.errors import NotPossible
from brokerweb.kit.view_guards import changes as changing
from brokerweb.kit.view_guards import form_page, person
from brokerweb.networks import broker_index, changes, difference_picture, services
from brokerweb.networks.changes import Changed, How
from brokerweb.networks.models import Network
from brokerweb.topologies.models import Topology
from overlay.core.errors import InvalidSetting
from overlay.deployment import rollout
from overlay.systems.registry import SYSTEMS

PREFIX = "settings-"
NEIGHBOURS = 12
"""Listed for each server."""
NOT_REPEATED = ("csrfmiddlewaretoken", "apply", "allow_split", "version")

Edit = Callable[[Network, QueryDict, How], Changed]


def _list(network: Network, text: str) -> list[int]:
    """Indices of brokers in ``0, 2``. Raises ``InvalidSetting`` for ``links``."""
    try:
        return [broker_index.read(network, part.strip()) for part in text.split(",") if part.strip()]
    except InvalidSetting as error:
        raise InvalidSetting("links", error.sentence) from None


def _end(network: Network, sent: QueryDict, name: str) -> int:
    try:
        return broker_index.read(network, sent.get(name, "").strip())
    except InvalidSetting as error:
        raise InvalidSetting(name, error.sentence) from None


def _settings(network: Network, sent: QueryDict, how: How) -> Changed:
    inputs = setting_forms.read(
        services.offered(network.system), PREFIX, sent, sweeps=False, profiles=services.profiles(network.system)
    )
    for one in inputs.inputs:
        if one.wrong:
            raise InvalidSetting(f"settings.{one.info.name}", one.wrong)
    present = SYSTEMS[network.system].whole(network.settings)
    changed = {name: value for name, value in inputs.values.items() if value != present.get(name)}
    return changes.set_settings(network, changed, how)


def _topology(network: Network, sent: QueryDict, how: How) -> Changed:
    id = sent.get("topology", "")
    topology = Topology.objects.filter(pk=id).first()
    if id and topology is None:
        raise InvalidSetting("topology", "select a topology")
    return changes.follow_topology(network, topology, how)


EDITS: dict[str, Edit] = {
    "add": lambda network, sent, how: changes.add_broker(network, _list(network, sent.get("links", "")), how),
    "move": lambda network, sent, how: changes.move_broker(network, _end(network, sent, "broker"), how),
    "drain": lambda network, sent, how: changes.drain_broker(network, _end(network, sent, "broker"), how),
    "return": lambda network, sent, how: changes.return_broker(network, _end(network, sent, "broker"), how),
    "remove": lambda network, sent, how: changes.remove_broker(network, _end(network, sent, "broker"), how),
    "link": lambda network, sent, how: changes.add_link(
        network, _end(network, sent, "a"), _end(network, sent, "b"), how
    ),
    "cut": lambda network, sent, how: changes.cut_link(
        network, _end(network, sent, "a"), _end(network, sent, "b"), how
    ),
    "settings": _settings,
    "topology": _topology,
    "rollback": lambda network, _, how: changes.roll_back(network, how),
}


@form_page
def change(request: HttpRequest, network_id: str) -> HttpResponse:
    """The forms; a posted one is previewed, and applied when the preview is confirmed."""
    network = get_object_or_404(Network, pk=network_id)
    if request.method != "POST":
        return _page(request, network)
    sent = request.POST
    try:
        edit = EDITS.get(sent.get("do", ""))
        if edit is None:
            raise InvalidSetting("do", "select a change")
        if not sent.get("apply"):
            return _page(request, network, preview=edit(network, sent, How(dry_run=True, by=person(request))))
        version = _version(sent.get("version", ""))
        how = How(allow_split=bool(sent.get("allow_split")), version=version, by=person(request))
        found = edit(network, sent, how)
    except (InvalidSetting, NotPossible) as error:
        return _page(request, network, error=error)
    messages.success(request, f"Version {found.version} of the network is being applied.")
    return redirect("networks:detail", network.id)


@changing
def resume(request: HttpRequest, network_id: str) -> HttpResponse:
    """Restart the brokers that a change waits for."""
    try:
        services.restart_failed(get_object_or_404(Network, pk=network_id), person(request))
    except NotPossible as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "The failed brokers restart.")
    return redirect("networks:detail", network_id)


def _page(
    request: HttpRequest,
    network: Network,
    *,
    preview: Changed | None = None,
    error: InvalidSetting | NotPossible | None = None,
) -> HttpResponse:
    system = SYSTEMS[network.system]
    sent = request.POST
    described = services.offered(network.system), services.profiles(network.system)
    if sent.get("do") == "settings":
        inputs = setting_forms.read(described[0], PREFIX, sent, sweeps=False, profiles=described[1])
    else:
        inputs = setting_forms.shown(described[0], PREFIX, network.settings, sweeps=False, profiles=described[1])
    if isinstance(error, InvalidSetting):
        inputs.blame(error.field.rpartition(".")[2], error.sentence)
    states = {row["index"]: row["state"] for row in network.brokers}
    names, neighbours = broker_index.servers_of(network), _neighbours(network)
    context: dict[str, Any] = {
        "network": network,
        "system": system,
        "servers": names,
        "preview": preview,
        "drawn": _drawn(preview),
        "lines": [changes.words(step) for step in preview.steps] if preview else [],
        "splits": preview is not None and bool(preview.split),
        "repeated": [(name, value) for name in sent for value in sent.getlist(name) if name not in NOT_REPEATED],
        "error": error,
        "sent": sent,
        "rows": [
            {
                "index": index,
                "full": full,
                "is_node": index < network.deployed["brokers"],
                "state": states.get(index, "stopped"),
                "is_drained": changes.is_drained(network, index),
                "links": neighbours[index][:NEIGHBOURS],
                "more": max(0, len(neighbours[index]) - NEIGHBOURS),
            }
            for index, full in names.all
        ],
        "progress": changes.progress(network, services.worker_missing(network.host)),
        "topologies": Topology.objects.all(),
        "main_settings": setting_sections.main(system, inputs.inputs),
        "sections": setting_sections.of_settings(system, inputs.inputs),
    }
    return render(request, "networks/change.html", context, status=400 if error else 200)


def _drawn(preview: Changed | None) -> dict[str, Any] | None:
    """The difference in one picture; ``None`` where there is nothing to draw."""
    if preview is None or preview.drafts is None or not preview.steps:
        return None
    restarted = {step.brokers[0] for step in preview.steps if step.verb == rollout.REPLACE}
    return difference_picture.picture(*preview.drafts, restarted)


def _neighbours(network: Network) -> Mapping[int, list[int]]:
    found: defaultdict[int, list[int]] = defaultdict(list)
    for link in network.deployed["links"]:
        found[link["a"]].append(link["b"])
        found[link["b"]].append(link["a"])
    return defaultdict(list, {index: sorted(others) for index, others in found.items()})


def _version(text: str) -> int | None:
    """The version that the form was made from; ``None`` for anything that is no number."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= broker_index.DIGITS else None
