"""Answer quality of a run for its page: a bar of seven parts with counts and shares.

Counterpart: ``telemetry.summary.truths.account``, the summary's ``truth``. A system's oracle judges each request. Older
runs have none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from telemetry.summary.truths import TRUTHS

EXPLAINED = {
    "fresh": "Answered with the newest value that had been acknowledged when the request was sent, or a newer one",
    "stale": "Answered with an older value",
    "expired": "Answered with a value whose validity had passed",
    "false_not_found": "Answered “not found” although a running broker had a valid value all the time",
    "proved_not_found": "Answered “not found”, and no broker had a value",
    "lost": "No answer within the consumer's timeout",
    "refused": "Refused for another reason",
}
ALWAYS = ("fresh", "stale", "false_not_found")
"""Parts shown even if empty."""

WIDTH = 10_000
"""Width of the bar, in its own units."""
LEAST = 30
"""Minimum width of a non-empty part, so that one false not-found in ten thousand is visible."""


@dataclass(frozen=True, slots=True)
class Part:
    word: str
    count: int
    share: float
    explained: str
    x: int
    width: int


def of_summary(summary: Mapping[str, Any]) -> dict[str, Any] | None:
    """The summary's ``truth`` with its ``parts``; empty for a run without judged requests."""
    truth = summary.get("truth") or {}
    total = truth.get("requests")
    if not total:
        return None
    counts = {word: int(truth.get(word) or 0) for word in TRUTHS}
    widths = [max(LEAST, WIDTH * count / total) if count else 0.0 for count in counts.values()]
    edges = [round(WIDTH * edge / sum(widths)) for edge in accumulate(widths, initial=0.0)]
    parts = [
        Part(word, count, count / total, EXPLAINED[word], begin, end - begin)
        for (word, count), (begin, end) in zip(counts.items(), pairwise(edges), strict=True)
        if count or word in ALWAYS
    ]
    return {**truth, "parts": parts}
