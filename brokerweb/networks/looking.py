"""One broker of a network that stays up, from its own journal: neighbours, counters, what it did with traced queries.

Counterpart: ``live.brokers`` does the same for runs. Nothing is asked of the broker. The journal lies on the host that
runs the network, so elsewhere there is nothing to be told.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings

from brokerweb.networks.models import Network
from telemetry.brokers import BrokerWindow, linked_to
from telemetry.runs import RunFiles


def one_of(network: Network, index: int) -> dict[str, Any] | None:
    """``{index, now, own}``: the supervisor's last word on it, and its own; ``None`` for one that there is not."""
    if not 0 <= index < network.deployed["brokers"]:
        return None
    now = next((row for row in network.brokers if row["index"] == index), {"index": index})
    names = {row["address"]: row["index"] for row in network.brokers if row.get("address")}
    files = RunFiles(Path(settings.VAR) / "networks" / network.pk)
    own = BrokerWindow(files, index, linked_to(index, network.deployed["links"]), names).advance()
    return {"index": index, "now": now, "own": own}
