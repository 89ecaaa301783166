"""The correctness of answers: a verdict of ``TRUTHS`` for each request, and their shares. Pure.

A system's oracle gives each request its verdict. A system without an oracle has no verdicts and no shares.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from telemetry.statistics import metrics
from telemetry.statistics.metrics import Numbers

TRUTHS = ("fresh", "stale", "expired", "false_not_found", "proved_not_found", "lost", "refused")
"""The verdicts. ``fresh``: answered with the newest value acknowledged when it was sent, or a newer one.
``stale``: with an older one. ``expired``: with one whose validity had ended when the answer arrived.
``false_not_found``: NACK 202 although a live broker had a valid value throughout. ``proved_not_found``: NACK 202, and
there was none. ``lost``: no answer before the deadline. ``refused``: another NACK."""

SHARES = ("success", "fresh_share", "false_not_found_per_1000")
"""Shares of verdicts: of requests for existing data, of answers, and of requests."""

MOST = {"false_not_found_per_1000": 1000.0}
"""The value that means all, for shares not relative to 1."""


def account(counts: Mapping[str, int], stale_ms: Numbers, existed: int) -> dict[str, Any]:
    """Counts by verdict, the age of stale answers (``stale_ms`` of these only), and ``shares``."""
    found = {word: int(counts.get(word, 0)) for word in TRUTHS}
    return {
        **found,
        "requests": sum(found.values()),
        "existed": existed,
        "stale_ms": metrics.spread(stale_ms),
        **shares(found, existed),
    }


def shares(counts: Mapping[str, int], existed: int) -> dict[str, float | None]:
    """By the names of ``SHARES``; ``None`` if the denominator is zero.

    ``success`` is the share of requests for existing data that were answered with valid data.
    """
    parts = (counts["fresh"] + counts["stale"], counts["fresh"], 1000 * counts["false_not_found"])
    of = shared_by(counts, existed)
    return {name: _share(part, of[name]) for name, part in zip(SHARES, parts, strict=True)}


def shared_by(counts: Mapping[str, int], existed: int) -> dict[str, int]:
    """By the names of ``SHARES``: the number of requests of which each is a share."""
    answers = sum(counts[word] for word in ("fresh", "stale", "expired"))
    return dict(zip(SHARES, (existed, answers, sum(counts[word] for word in TRUTHS)), strict=True))


def _share(count: int, of: int) -> float | None:
    return count / of if of else None
