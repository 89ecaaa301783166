"""A network that stays up, looked at: how busy all of its brokers are, and one of them closely.

Counterparts: ``live.brokers`` and ``live.snapshots`` do the same for runs, ``live.panel`` words it. Ticks and traces in
their journals tell, where there are any on this host; else the one that somebody looks at is asked itself. What was
read is kept between two looks, of the last few that somebody looked at.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.urls import reverse

from brokerweb.live import panel
from brokerweb.live.brokers import merged
from brokerweb.live.following import Following
from brokerweb.networks.asking import own_words
from brokerweb.networks.models import Network, NetworkState
from brokerweb.networks.services import SYSTEM
from overlay.systems import SYSTEMS
from telemetry.brokers import BrokerWindow, linked_to
from telemetry.runs import RunFiles
from telemetry.window import LiveWindow

KEPT, NETWORKS_KEPT = 16, 4
"""Brokers, and networks, that are followed at a time."""
TICKS_BYTES = 1 << 15
"""So much of each broker's journal is read at the first look: some minutes of a network that may be up for weeks."""
AGE_S = 1.0
"""Brokers tell once a second, so nobody looks into their journals more often, however many watch."""
TRACED = "what traced queries found or left there; how long data are valid, their providers know"
ITS_NUMBER = "a broker tells how many there are; which, it tells whoever asks for them"
"""What tells of the data in a broker's table."""
QUIET = (NetworkState.STOPPED, NetworkState.FAILED)

_brokers: Following[tuple[str, int, int], BrokerWindow] = Following(KEPT)


class _Glance:
    """The newest load and memory of all brokers of one network."""

    def __init__(self, files: RunFiles) -> None:
        self._window = LiveWindow(files, TICKS_BYTES)
        self._read_at = -AGE_S
        self._told: dict[str, Any] = {}

    def look(self) -> dict[str, Any]:
        now = time.monotonic()
        if now - self._read_at >= AGE_S:
            snapshot = self._window.advance()
            self._told = {name: snapshot[name] for name in ("t_s", "memory", "load", "totals")}
            self._read_at = now
        return self._told


_networks: Following[tuple[str, int], _Glance] = Following(NETWORKS_KEPT)


def frame(network: Network) -> dict[str, Any]:
    """What its picture shows, as a frame of a run: ``{brokers, memory, load, totals, t_s}``.

    Load and memory are those of the last second, and are left out where nothing is known of them.
    """
    states = [{name: row.get(name) for name in ("index", "state", "address", "restarts")} for row in network.brokers]
    told: dict[str, Any] = {}
    if network.state not in QUIET and _files(network).journal_directory.is_dir():
        told = _networks.look((network.pk, network.epoch), lambda: _Glance(_files(network)), _Glance.look)
    # What a process needs when idle is known of a run, whose clients begin later; of a network nobody can say.
    memory = [{**row, "over_idle_bytes": None} for row in (told.get("memory") or {}).get("brokers", [])]
    return {**told, "brokers": states, "memory": {"brokers": memory}}


def rows_of(network: Network, shown: dict[str, Any]) -> list[dict[str, Any]]:
    """A row for each broker of what ``frame`` found, with all that its supervisor says of it, its load and memory."""
    loads = (shown.get("load") or {}).get("brokers") or []
    known = {row["index"] for row in network.brokers}
    return [row for row in merged(network.brokers, shown["memory"]["brokers"], loads) if row["index"] in known]


def one_of(network: Network, index: int) -> dict[str, Any] | None:
    """``{index, traced_one_in, now, own}``: its row and its own words; ``None`` if there is none such."""
    if not 0 <= index < network.deployed["brokers"]:
        return None
    now = next((row for row in rows_of(network, frame(network)) if row["index"] == index), {"index": index})
    names = {one["address"]: one["index"] for one in network.brokers if one.get("address")}

    def make() -> BrokerWindow:
        return BrokerWindow(_files(network), index, linked_to(index, network.deployed["links"]), names)

    own = _brokers.look((network.pk, network.epoch, index), make, BrokerWindow.advance) or own_words(network, index)
    is_asked = own is not None and own.get("asked", False)
    one_in = 0 if is_asked else int(SYSTEMS[SYSTEM].whole(network.settings)["trace_one_in"])
    return {"index": index, "traced_one_in": one_in, "now": now, "own": own}


def panel_of(network: Network, found: dict[str, Any]) -> dict[str, Any]:
    """What the panel shows of one of its brokers, of what ``one_of`` found."""
    index = found["index"]
    place = panel.Place(
        part=f"{reverse('networks:broker', args=[network.pk, index])}?part=now",
        json=f"/api/networks/{network.pk}/brokers/{index}/",
        asks_again=True,
        since="the network was started",
        silent="It has written nothing on this host.",
        leads=_ask_again,
        leads_to="Ask the same in the wire lab",
        told_by=ITS_NUMBER if (found["own"] or {}).get("asked") else TRACED,
    )
    return {"broker": found, "panel": panel.shown_at(place, found)}


def _ask_again(message: panel.Row) -> str:
    """The wire lab with the request of this query; a network's queries have no pages."""
    type_, _, rest = message["entity"].partition("|")
    entity, _, scope = rest.rpartition("|")
    given = {"code": 3, "entity_type": type_, "entity_id": entity, "scope": scope}
    return f"{reverse('wire-compose')}?{urlencode(given)}"


def _files(network: Network) -> RunFiles:
    return RunFiles(Path(settings.VAR) / "networks" / network.pk)
