"""The settings of the MQTT proxy, and the bounds that are no settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from overlay.core.node import SECOND
from overlay.core.settings import check, setting
from overlay.systems.contextnet.mqtt.mapping import Pair, mapping_of

CONNECT_WAIT: Final = 10 * SECOND
"""From a new connection to its CONNECT."""
MOST_SILENCE: Final = 3_600 * SECOND
"""Of a client that names no keep-alive."""
MOST_IN_FLIGHT: Final = 64
"""Messages of a client that are not durable yet; then no more is read of it."""
MOST_HELD: Final = 64 << 20
"""Bytes of messages of all clients that are not durable yet; the same."""
MOST_CONNECT: Final = 4_096
"""Bytes of a connection before its CONNECT has been accepted, so that strangers cannot fill the memory."""
MOST_PROXIES: Final = 8


@dataclass(frozen=True)
class MqttSettings:
    """Which clients and topics of MQTT are taken."""

    mqtt_proxies: int = setting(
        0,
        unit="proxies",
        low=0,
        high=MOST_PROXIES,
        zero="none",
        help="Servers for clients of MQTT 3.1.1, which connect by TCP to any of them.",
    )
    mqtt_connections: int = setting(
        1_000, unit="connections", low=1, high=20_000, help="Connections of MQTT clients to a proxy."
    )
    mqtt_topics: str = setting(
        '[["#", "inbound"]]',
        help=(
            "Which topics of MQTT go to which topic of the log: pairs of a filter and a name, the first that fits. The "
            "topic of the log has “mqtt.” before the name. Clients that publish to another topic are closed."
        ),
        most=10_000,
        language=mapping_of,
    )

    def __post_init__(self) -> None:
        check(self)

    @property
    def mqtt_pairs(self) -> tuple[Pair, ...]:
        return mapping_of(self.mqtt_topics)

    @property
    def topics_of_mqtt(self) -> tuple[str, ...]:
        """Topics of the log that proxies write; empty without a proxy."""
        return tuple(dict.fromkeys(pair.topic for pair in self.mqtt_pairs)) if self.mqtt_proxies else ()
