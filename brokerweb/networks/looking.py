"""A network that stays up, looked at: how busy all of its brokers are, and one of them closely.

Counterparts: ``live.brokers`` and ``live.snapshots`` do the same for runs from journals, ``brokers.panel`` words it.
The brokers of a network keep no journal; ``glance`` and ``asking`` ask them.
"""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from brokerweb.brokers import panel
from brokerweb.brokers.rows import merged
from brokerweb.kit.following import Following
from brokerweb.networks.asking import own_words
from brokerweb.networks.glance import Glance
from brokerweb.networks.models import UP, Network
from brokerweb.networks.walks import traced_one_in

KEPT = 8
"""Networks that are followed at a time."""

_networks: Following[tuple[str, int], Glance] = Following(KEPT)


def frame(network: Network) -> dict[str, Any]:
    """What its picture shows, as a frame of a run: ``{brokers, memory, load, totals}``.

    Loads are those since the look before, some seconds ago; what is not known is left out.
    """
    states = [{name: row.get(name) for name in ("index", "state", "address", "restarts")} for row in network.brokers]
    told: dict[str, Any] = {}
    if network.state in UP:
        told = _networks.look((network.pk, network.epoch), Glance, lambda glance: glance.look(network))
    return {"memory": {"brokers": []}, **told, "brokers": states}


def rows_of(network: Network, shown: dict[str, Any]) -> list[dict[str, Any]]:
    """A row for each broker of what ``frame`` found, with all that its supervisor says of it, its load and memory."""
    loads = (shown.get("load") or {}).get("brokers") or []
    known = {row["index"] for row in network.brokers}
    return [row for row in merged(network.brokers, shown["memory"]["brokers"], loads) if row["index"] in known]


def one_of(network: Network, index: int) -> dict[str, Any]:
    """``{index, traced_one_in, now, own}``: its row and its own words."""
    now = next((row for row in rows_of(network, frame(network)) if row["index"] == index), {"index": index})
    return {"index": index, "traced_one_in": traced_one_in(network), "now": now, "own": own_words(network, index)}


def panel_of(network: Network, found: dict[str, Any]) -> dict[str, Any]:
    """What the panel shows of one of its brokers, of what ``one_of`` found."""
    index = found["index"]
    place = panel.Place(
        part=f"{reverse('networks:broker', args=[network.pk, index])}?part=now",
        json=f"/api/networks/{network.pk}/brokers/{index}/",
        asks_again=True,
        since="the network was started",
        silent="It does not answer.",
        entries_told="A broker says how many data it has. Which, it tells only whoever asks for one by its name.",
        messages_told="A network keeps nothing of what its brokers send. The walk of what you ask is shown below.",
        ways_on=(("Ask for data", "#ask"), ("Send it a message in the wire lab", reverse("wire-compose"))),
    )
    return {"broker": found, "panel": panel.shown_at(place, found)}
