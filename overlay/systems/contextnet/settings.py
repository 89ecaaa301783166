"""The settings of ContextNet (seed 004, contract, section 8). ``profiles`` has the paper's, ``workload`` the load."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from overlay.core.errors import InvalidSetting
from overlay.core.settings import Use, check, setting
from overlay.log.spec import KAFKA, NATS, VALKEY
from overlay.systems.contextnet.gateway.settings import MINI_BUFFER, GatewaySettings
from overlay.systems.contextnet.log_settings import LogSettings
from overlay.systems.contextnet.mqtt.settings import MqttSettings
from overlay.systems.contextnet.mtd.settings import MtdSettings
from overlay.systems.contextnet.nodes.settings import MemorySettings
from overlay.systems.contextnet.poa.settings import PoaSettings
from overlay.systems.contextnet.routing.settings import RoutingSettings
from overlay.systems.contextnet.tracing import Tracing
from overlay.systems.contextnet.transport.settings import TETHER

TTL_MARGIN_S: Final = 60
"""A message must expire so long before its record is dropped."""
LIST_MARGIN_S: Final = 60
"""The list of gateways must be written again so long before its record is dropped, so that the log always has one."""
MOST_GATEWAYS: Final = 16
"""Of a network."""
MOST_FIELDS: Final = 8
"""Of contexts, with a group definer each."""
_FIELD: Final = re.compile("[A-Za-z0-9_-]{1,32}")


@dataclass(frozen=True)
class Networks:
    """Of networks; a run has what its workload says."""

    network_gateways: int = setting(
        1, unit="gateways", low=1, high=MOST_GATEWAYS, help="Gateways of a network. A run has those of its workload."
    )
    group_fields: str = setting(
        "",
        help="Fields of contexts that make groups in a network, separated by commas: floor makes groups floor/1 "
        "and floor/2. Each has a group definer. A run has those of its workload.",
    )

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(filter(None, map(str.strip, self.group_fields.split(",")))))

    def __post_init__(self) -> None:
        check(self)
        if len(self.fields) > MOST_FIELDS or not all(map(_FIELD.fullmatch, self.fields)):
            sentence = f"must be at most {MOST_FIELDS} names of letters, digits, - and _, separated by commas"
            raise InvalidSetting("group_fields", sentence)


_CHECKED = (
    *(GatewaySettings, PoaSettings, MtdSettings, RoutingSettings, LogSettings, MemorySettings, MqttSettings, Networks),
)


@dataclass(frozen=True)
class Settings(
    Tracing,
    Networks,
    MqttSettings,
    MemorySettings,
    LogSettings,
    RoutingSettings,
    MtdSettings,
    PoaSettings,
    GatewaySettings,
):
    """All settings. Fields are in the order of the last base first."""

    def __post_init__(self) -> None:
        for base in _CHECKED:
            base.__post_init__(self)
        if self.ttl_default_s > self.retention_s - TTL_MARGIN_S:
            sentence = f"must be at most retention_s - {TTL_MARGIN_S}, which is {self.retention_s - TTL_MARGIN_S:,} s"
            raise InvalidSetting("ttl_default_s", sentence)
        if self.list_s > self.retention_s - LIST_MARGIN_S:
            sentence = f"must be at most retention_s - {LIST_MARGIN_S}, which is {self.retention_s - LIST_MARGIN_S:,} s"
            raise InvalidSetting("list_s", sentence)


USES: Mapping[str, Use] = {
    "mini_buffer": Use("delivery", (MINI_BUFFER,)),
    "linger_s": Use("resume"),
    "repeat_share": Use("bound_repeats"),
    **{name: Use("transport", (TETHER,)) for name in ("tag_bytes", "bound_repeats")},
    "durability": Use("log_engine", (VALKEY, NATS, KAFKA)),
    **{name: Use("rescale_enabled") for name in ("rescale", "window_min_ms", "window_max_ms")},
    **{name: Use("balancing") for name in ("smoothing", "band", "persistence", "budget", "hold_s")},
    **{
        name: Use("mtd_enabled")
        for name in ("ttl_default_s", "ttl_policy", "expiry_from", "per_node", "total_mb", "drain_per_s")
    },
    "presence_events": Use("mtd_enabled"),
    **{name: Use("mqtt_proxies") for name in ("mqtt_connections", "mqtt_topics")},
}
"""Settings that depend on another one."""
