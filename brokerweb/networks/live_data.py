"""Live data of a network: load of all servers, and one server in detail.

Counterparts: ``live.brokers`` and ``live.snapshots`` do the same for runs from journals. Servers of a network have no
journal; ``load_polling`` polls them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.urls import reverse

from brokerweb.brokers.panel import Place, shown
from brokerweb.brokers.rows import merged
from brokerweb.kit.follower_cache import Following
from brokerweb.networks import broker_index
from brokerweb.networks.load_polling import LoadSampler
from brokerweb.networks.models import UP, Network
from brokerweb.systems.registry import web_of
from overlay.deployment.rollout import DRAINED

KEPT = 8
"""Maximum number of followed networks."""

_networks: Following[tuple[str, int], LoadSampler] = Following(KEPT)


def frame(network: Network) -> dict[str, Any]:
    """The data of its graph, as a frame of a run: ``{brokers, memory, load, totals}``.

    Load is that since the previous poll, some seconds ago; unknown values are omitted.
    """
    states = [{name: row.get(name) for name in ("index", "state", "address", "restarts")} for row in network.brokers]
    told: dict[str, Any] = {}
    if network.state in UP:
        told = _networks.look((network.pk, network.epoch), LoadSampler, lambda sampler: sampler.look(network))
    return {"memory": {"brokers": []}, **told, "brokers": states}


def rows_of(network: Network, frame: dict[str, Any]) -> list[dict[str, Any]]:
    """One row per broker of ``frame``, with the supervisor's report, load and memory."""
    loads = (frame.get("load") or {}).get("brokers") or []
    known = {row["index"] for row in network.brokers}
    return [row for row in merged(network.brokers, frame["memory"]["brokers"], loads) if row["index"] in known]


def one_of(network: Network, index: int) -> dict[str, Any]:
    """``{index, now}``, its row, and the data of its system."""
    now = next((row for row in rows_of(network, frame(network)) if row["index"] == index), {"index": index})
    return {"index": index, "now": now, **web_of(network.system).server_of_network(network, index)}


def _silent(network: Network, index: int, called: str) -> str:
    """Why a server says nothing of itself."""
    if network.members.get(str(index)) == DRAINED:
        return f"This {called} has left the network. Return it under Change."
    return f"The {called} does not answer."


def panel_of(network: Network, found: Mapping[str, Any]) -> dict[str, Any]:
    """Context of the panel for a server, from the result of ``one_of``."""
    names = broker_index.servers_of(network)
    place = Place(
        part=f"{reverse('networks:broker', args=[network.pk, found['index']])}?part=now",
        json=f"/api/networks/{network.pk}/brokers/{found['index']}/",
        asks_again=True,
        since="the start of the network",
        silent=_silent(network, found["index"], names.title.in_text.one),
    )
    return shown(place, names, found, web_of(network.system).detail_of_network(network, found))
