"""What the libraries of nodes and applications remember (contract, section 8)."""

from __future__ import annotations

from dataclasses import dataclass

from overlay.core.settings import check, setting


@dataclass(frozen=True)
class MemorySettings:
    """Ids of messages that were handed over, so that none is handed over twice."""

    dedup_ids: int = setting(
        1_024, unit="messages", low=0, high=65_536, help="Newest ids that a receiver remembers. 0: duplicates pass."
    )
    dedup_s: int = setting(600, unit="s", low=1, high=86_400, help="For how long it remembers them.")

    def __post_init__(self) -> None:
        check(self)
