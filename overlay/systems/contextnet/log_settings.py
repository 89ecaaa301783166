"""The settings of the log (contract, section 8)."""

from __future__ import annotations

from dataclasses import dataclass

from overlay.core.settings import check, setting
from overlay.log.spec import DURABILITIES, ENGINES, VALKEY


@dataclass(frozen=True)
class LogSettings:
    log_engine: str = setting(
        VALKEY, choices=ENGINES, help="What carries the log of a live run. In simulated runs it is in memory."
    )
    partitions: int = setting(
        3, unit="partitions", low=1, high=256, help="Of each topic, but of those that nodes publish to."
    )
    member_timeout_s: float = setting(
        2.0, unit="s", low=0.5, high=60, help="Silence of a reader, after which others have its partitions."
    )
    retention_s: int = setting(
        7_200, unit="s", low=120, high=1_209_600, help="Age at which records are dropped. Messages expire before."
    )
    durability: str = setting(
        "everysec",
        choices=DURABILITIES,
        help="When a record counts as durable. none: in memory; everysec: on disk within a second; always: on disk.",
    )

    def __post_init__(self) -> None:
        check(self)
