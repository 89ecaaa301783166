"""The settings of a gateway (contract, section 8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from overlay.core.addresses import parse_networks
from overlay.core.errors import InvalidSetting
from overlay.core.settings import check, setting
from overlay.systems.contextnet.records.names import INBOUND, OF_SYSTEM
from overlay.systems.contextnet.transport.settings import TransportSettings

EXACT, MINI_BUFFER, NONE = "exact", "mini_buffer", "none"
"""Values of ``delivery``."""
SECRET: Final = "secret"  # noqa: S105 (a way, not a secret)
"""The value of ``auth`` other than ``NONE``."""
_TOPIC_CHARACTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


@dataclass(frozen=True)
class GatewaySettings(TransportSettings):
    pool_size: int = setting(
        256,
        unit="records",
        low=1,
        high=65_536,
        help="Records of the log on their way to nodes at once. While all are, the gateway reads no more of them, "
        "unless datagrams, among them acknowledgements, wait for it.",
    )
    delivery: str = setting(
        EXACT,
        choices=(EXACT, MINI_BUFFER, NONE),
        help="What becomes of messages when a connection breaks. exact: all that were not acknowledged are stored; "
        "mini_buffer: the last few that were sent, as in the paper; none: they are lost.",
    )
    mini_buffer: int = setting(
        2, unit="messages", low=0, high=64, help="How many are stored when a connection breaks, with mini_buffer."
    )
    memory_limit_mb: int = setting(
        1_024,
        unit="MB",
        low=1,
        high=65_536,
        help="Bytes of messages that wait for nodes or for the log. Beyond it, those for nodes are stored instead.",
    )
    load_report_s: int = setting(5, unit="s", low=1, high=300, help="From one load report to the next.")
    busy_ms: int = setting(
        100, unit="ms", low=1, high=60_000, help="Age of the oldest input at which a gateway says that it is busy."
    )
    evict_per_s: int = setting(
        500, unit="1/s", low=1, high=100_000, help="Connections that a gateway closes when it leaves."
    )
    allowed_topics: str = setting(
        "", help="Topics that nodes may publish to in addition to inbound: names, separated by commas."
    )
    auth: str = setting(
        SECRET,
        choices=(SECRET, NONE),
        help="How nodes prove who they are. secret: by a secret of their own; none: not at all, on private addresses "
        "only.",
    )
    hello_per_ip: int = setting(
        20, unit="1/s", low=1, high=100_000, help="HELLOs that a gateway answers to one IP address."
    )
    connections_per_ip: int = setting(
        1_000, unit="connections", low=1, high=200_000, help="Connections of one IP address to a gateway."
    )
    trusted: str = setting(
        "127.0.0.0/8, ::1/128", help="Networks that are free of the two limits per IP address, separated by commas."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check(self)
        parse_networks(self.trusted, "trusted")
        for name in self.topics_allowed:
            _check_topic(name)

    @property
    def topics_allowed(self) -> tuple[str, ...]:
        return tuple(name.strip() for name in self.allowed_topics.split(",") if name.strip())

    @property
    def is_exact(self) -> bool:
        return self.delivery == EXACT


def _check_topic(name: str) -> None:
    if not set(name) <= _TOPIC_CHARACTERS or len(name) > 64:
        raise InvalidSetting("allowed_topics", f"{name[:64]} is no name of 1 to 64 letters, digits, - and _")
    if name in (*OF_SYSTEM, INBOUND):
        raise InvalidSetting("allowed_topics", f"{name} is a topic of the system")
