"""What a request came to, in a word of ``TRUTHS``, and the shares that these make. Pure.

A system's oracle gives each request its word; of a system without one nothing is known, and no share is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from telemetry.statistics import metrics
from telemetry.statistics.metrics import Numbers

TRUTHS = ("fresh", "stale", "expired", "false_not_found", "proved_not_found", "lost", "refused")
"""What a request came to. ``fresh``: answered with the newest value acknowledged when it was sent, or a newer one.
``stale``: with an older one. ``expired``: with one whose validity had passed when the answer came. ``false_not_found``:
NACK 202 although a living broker held a valid value all the while. ``proved_not_found``: NACK 202, and there was none.
``lost``: no answer before the deadline. ``refused``: another NACK."""

SHARES = ("success", "fresh_share", "false_not_found_per_1000")
"""What is told of counts of truths: of what existed, of the answers, of the requests."""

MOST = {"false_not_found_per_1000": 1000.0}
"""What stands for all of them in a share that is not of 1."""


def account(counts: Mapping[str, int], stale_ms: Numbers, existed: int) -> dict[str, Any]:
    """Counts per word, how old the stale answers were (``stale_ms`` of these alone), and ``shares``."""
    found = {word: int(counts.get(word, 0)) for word in TRUTHS}
    return {
        **found,
        "requests": sum(found.values()),
        "existed": existed,
        "stale_ms": metrics.spread(stale_ms),
        **shares(found, existed),
    }


def shares(counts: Mapping[str, int], existed: int) -> dict[str, float | None]:
    """By the names of ``SHARES``; ``None`` where there is nothing to take a share of.

    ``success`` is the share of the requests for what existed that were answered with valid data.
    """
    parts = (counts["fresh"] + counts["stale"], counts["fresh"], 1000 * counts["false_not_found"])
    of = shared_by(counts, existed)
    return {name: _share(part, of[name]) for name, part in zip(SHARES, parts, strict=True)}


def shared_by(counts: Mapping[str, int], existed: int) -> dict[str, int]:
    """By the names of ``SHARES``, of how many requests each is a share."""
    answers = sum(counts[word] for word in ("fresh", "stale", "expired"))
    return dict(zip(SHARES, (existed, answers, sum(counts[word] for word in TRUTHS)), strict=True))


def _share(count: int, of: int) -> float | None:
    return count / of if of else None
