"""What a bridge reports of itself: one JSON object, as a line and as a retained message."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from overlay.core.addresses import format_address
from overlay.core.node import MILLISECOND
from overlay.programs.context_broker.mqtt.network import Network
from overlay.systems.context_broker.mqtt.bridge import Bridge

OFFLINE = "offline"
ONLINE = "online"
RECONNECTING = "reconnecting"


def status(bridge: Bridge, network: Network, state: str, connections: int, reason: str) -> dict[str, Any]:
    """Counters since the start, sizes now, delays of the latest 512 (milliseconds)."""
    return {
        "state": state,
        "reason": reason,
        "connections": connections,
        "brokers": len(network.brokers),
        "brokers_missing": {format_address(broker): why for broker, why in network.missing.items()},
        **bridge.sizes(),
        "pending_withdrawals": network.pending_withdrawals,
        "lag_in_ms": _lag(bridge.lags_in),
        "lag_out_ms": _lag(bridge.lags_out),
        "counters": dict(sorted(bridge.counts.items())),
        "last_refusal": bridge.last_refusal,
    }


def offline(reason: str) -> bytes:
    """The message that others read when the bridge is away; the server sends it if the connection breaks."""
    return json.dumps({"state": OFFLINE, "reason": reason}).encode()


def _lag(lags_ns: Sequence[int]) -> dict[str, float] | None:
    if not lags_ns:
        return None
    ordered = sorted(lags_ns)
    return {name: round(ordered[int(share * (len(ordered) - 1))] / MILLISECOND, 2) for name, share in _SHARES.items()}


_SHARES = {"p50": 0.5, "p95": 0.95, "max": 1.0}
