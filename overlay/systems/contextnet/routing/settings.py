"""How senders find nodes (contract, sections 2 and 8)."""

from __future__ import annotations

from dataclasses import dataclass

from overlay.core.settings import check, setting

DIRECTORY, EVERYONE = "directory", "everyone"


@dataclass(frozen=True)
class RoutingSettings:
    routing: str = setting(
        DIRECTORY,
        choices=(DIRECTORY, EVERYONE),
        help="How messages to nodes find their gateway. directory: senders know it; everyone: each gateway reads all "
        "of them, as in the paper, which costs every gateway the work of all.",
    )

    def __post_init__(self) -> None:
        check(self)
