"""What pages show of the alarms of a network."""

from __future__ import annotations

from typing import Any

from brokerweb.alarms import services
from brokerweb.alarms.measures import MEASURES
from brokerweb.alarms.models import Alarm, AlarmEvent
from brokerweb.alarms.rules import COMPARISONS, State
from brokerweb.networks import broker_index
from brokerweb.networks.models import Network

BADGES = {
    State.QUIET: "done",
    State.PENDING: "suspect",
    State.FIRING: "failed",
    State.RESOLVED: "done",
}
"""Badge style by state."""


def part(network: Network) -> dict[str, Any]:
    """Template context of ``alarms/part.html``."""
    servers = broker_index.servers_of(network)
    alarms = [_row(alarm, servers) for alarm in network.alarms.all()]
    return {
        "network": network,
        "servers": servers,
        "alarms": alarms,
        "unwatched": services.unwatched(network) if alarms else "",
        "events": [_event(event) for event in services.log_of(network)[: services.SHOWN]],
        "measures": list(MEASURES.values()),
        "comparisons": COMPARISONS,
        "most_alarms": services.MOST,
    }


def _row(alarm: Alarm, servers: Any) -> dict[str, Any]:
    measure = MEASURES[alarm.measure]
    return {
        "alarm": alarm,
        "badge": BADGES[State(alarm.state)],
        "of": "" if alarm.broker is None else servers.in_text(alarm.broker),
        "value": measure.write(alarm.value),
        "clears": measure.write(alarm.clears),
        "seen": "" if alarm.seen is None else measure.write(alarm.seen),
        "title": measure.title,
    }


def _event(event: AlarmEvent) -> dict[str, Any]:
    return {"event": event, "badge": BADGES[State(event.state)]}
