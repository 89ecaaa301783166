"""Selects the items to delete when space is needed. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

Kind = Literal["simulated", "run", "report"]
ORDER: dict[Kind, int] = {"simulated": 0, "run": 1, "report": 2}
"""Order for the size limit: first reproducible items, last those that people read."""


@dataclass(frozen=True, slots=True)
class Item:
    """An item that may be deleted."""

    kind: Kind
    key: str
    bytes: int
    at: datetime
    """Creation time; for a run, its end."""
    is_stale: bool = False
    """For a cached simulation: it is from an earlier simulator version, so it is never reused."""


def choose(
    items: Iterable[Item], now: datetime, *, max_days: int | None, max_bytes: int | None, pinned_bytes: int = 0
) -> list[Item]:
    """The items to delete, in order.

    ``pinned_bytes`` count towards the limit, but cannot be deleted. Without a limit nothing is selected.
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
