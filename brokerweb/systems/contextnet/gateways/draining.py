"""The gateways of a network: nodes, and whether an operator drains them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from brokerweb.networks import live_data
from brokerweb.networks.models import UP, Network
from overlay.core.processes import role_of
from overlay.systems.contextnet.names import DRAIN, GATEWAY

OPEN, DRAINING, EMPTY, DOWN = "takes nodes", "draining", "drained", "down"
TONES = {OPEN: "up", DRAINING: "draining", EMPTY: "stopped", DOWN: "failed"}
"""The style of each state on pages."""


@dataclass(frozen=True, slots=True)
class GatewayNow:
    index: int
    state: str
    nodes: int | None
    """Its connections; ``None`` if it does not answer."""
    under_way: int | None
    log_lag_ms: int | None
    ordered: bool | None
    """What was ordered and has not reached it yet: to be drained, or to take nodes again; ``None``: nothing."""

    @property
    def tone(self) -> str:
        return TONES[self.state]


def gateways(network: Network) -> Sequence[GatewayNow]:
    """In the order of their indices; none before the network has been started."""
    ordered = {order.broker: order.begins for order in network.fault_orders.filter(what=DRAIN)}
    rows = [row for row in network.brokers if role_of(row.get("name") or "") == GATEWAY]
    known = live_data.frame(network).get("load", {}).get("brokers", []) if network.state in UP else []
    loads = {row["index"]: row for row in known}
    found = []
    for row in rows:
        load = loads.get(row["index"], {})
        nodes, records = load.get("connections"), [load.get(name) for name in ("pool_used", "parked")]
        found.append(
            GatewayNow(
                row["index"],
                _state(row["state"] == "up", DRAIN in row.get("faults", ()), nodes),
                nodes,
                None if None in records else sum(records),
                load.get("log_lag_ms"),
                ordered.get(row["index"]),
            )
        )
    return found


def _state(is_up: bool, is_drained: bool, nodes: int | None) -> str:
    if not is_up:
        return DOWN
    return OPEN if not is_drained else EMPTY if nodes == 0 else DRAINING
