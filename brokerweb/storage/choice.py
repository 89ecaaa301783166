"""What goes first when room is to be made. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

Kind = Literal["simulated", "run", "report"]
ORDER: dict[Kind, int] = {"simulated": 0, "run": 1, "report": 2}
"""For the sake of size: first what can be made again as it was, last what people read."""


@dataclass(frozen=True, slots=True)
class Item:
    """Something that may be removed."""

    kind: Kind
    key: str
    bytes: int
    at: datetime
    """When it was made: of a run, when it ended."""
    is_stale: bool = False
    """Of a kept simulation: it was made by a simulator that is no longer this one, so nothing will ask for it."""


def choose(
    items: Iterable[Item], now: datetime, *, max_days: int | None, max_bytes: int | None, pinned_bytes: int = 0
) -> list[Item]:
    """What the limits remove of ``items``, in the order in which it goes.

    ``pinned_bytes`` are there too and count, though none of them may be removed. Without a limit nothing is chosen.
    """
    if max_days is None and max_bytes is None:
        return []
    by_order = sorted(items, key=lambda item: (not item.is_stale, ORDER[item.kind], item.at, item.key))
    oldest = None if max_days is None else now - timedelta(days=max_days)
    over = None if max_bytes is None else pinned_bytes + sum(item.bytes for item in by_order) - max_bytes
    aged = [item for item in by_order if item.is_stale or (oldest is not None and item.at < oldest)]
    if over is None:
        return aged
    over -= sum(item.bytes for item in aged)
    gone, chosen = set(aged), aged
    for item in by_order:
        if over <= 0:
            break
        if item not in gone and item.bytes:
            chosen.append(item)
            over -= item.bytes
    return chosen
