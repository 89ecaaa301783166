"""The settings of the store (contract, section 8)."""

from __future__ import annotations

from dataclasses import dataclass

from overlay.core.settings import check, setting

SENDER, UNIFORM = "sender", "uniform"
STORED, CREATED = "stored", "created"


@dataclass(frozen=True)
class MtdSettings:
    mtd_enabled: bool = setting(
        True, unit="", help="Whether messages that could not be delivered are stored. Otherwise they are lost."
    )
    ttl_default_s: int = setting(
        3_600, unit="s", low=1, high=604_800, help="How long a message is stored whose sender does not say it."
    )
    ttl_policy: str = setting(
        SENDER,
        choices=(SENDER, UNIFORM),
        help="How long messages are stored. sender: as their senders say; uniform: all of them for the default time.",
    )
    expiry_from: str = setting(
        STORED,
        choices=(STORED, CREATED),
        help="When that time begins. stored: when the message is stored, as in the paper; created: when it is made, "
        "and gateways begin to send no expired messages, either.",
    )
    per_node: int = setting(
        1_000,
        unit="messages",
        low=1,
        high=1_000_000,
        help="Most messages stored for one node. Beyond it, its oldest are dropped.",
    )
    total_mb: int = setting(
        256,
        unit="MB",
        low=1,
        high=65_536,
        help="Memory for all stored messages of a store. Beyond it, the oldest of the fullest node are dropped.",
    )
    drain_per_s: int = setting(
        50, unit="1/s", low=1, high=100_000, help="Most messages a second to a node that is back."
    )
    presence_events: bool = setting(
        True,
        unit="",
        help="Whether a store learns at once that a node is back. Otherwise it waits for its gateway's next report of "
        "connections, as in the paper.",
    )

    def __post_init__(self) -> None:
        check(self)
