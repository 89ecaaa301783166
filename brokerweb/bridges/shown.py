"""What pages show of the bridges of a network."""

from __future__ import annotations

from typing import Any

from brokerweb.bridges import services
from brokerweb.bridges.models import Bridge, BridgeState
from brokerweb.networks.models import UP, Desired, Network

BADGES = {
    BridgeState.CONNECTED: "done",
    BridgeState.CONNECTING: "suspect",
    BridgeState.FAILED: "failed",
    BridgeState.STOPPED: "stopped",
}
"""Badge style by state."""


def part(network: Network) -> dict[str, Any]:
    """Template context of ``bridges/part.html``."""
    bridging = services.bridging(network)
    rows = [] if bridging is None else [_row(bridge) for bridge in network.bridges.all()]
    return {"network": network, "bridging": bridging, "bridges": rows, "is_up": network.state in UP}


def _row(bridge: Bridge) -> dict[str, Any]:
    told = services.told(bridge)
    return {
        "bridge": bridge,
        "badge": BADGES[BridgeState(bridge.state)],
        "mqtt": told["mqtt"],
        "ways": [(way, [_pattern(one) for one in told[way]]) for way in ("in", "out") if told[way]],
        "counters": services.counters(bridge),
        "refusal": bridge.report.get("last_refusal", ""),
        "is_wanted": bridge.desired == Desired.RUNNING,
    }


def _pattern(one: Any) -> str:
    return str(one.get("pattern", "")) if isinstance(one, dict) else str(one)
