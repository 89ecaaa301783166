"""Which operations are kept as the slowest or the failed of a network. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import nlargest

from brokerweb.operationlog.entries import FAILED, GET, NO_ANSWER, NOT_FOUND, Line

MOST = 100
"""Of each network, and of each of the two kinds."""
KEPT_S = 24 * 3600
FAILURES = (NOT_FOUND, NO_ANSWER, FAILED)


def failed(lines: Iterable[Line]) -> list[Line]:
    """The latest queries that found nothing or had no answer."""
    return [line for line in lines if line.op == GET and line.outcome in FAILURES and not line.waits][-MOST:]


def slow(lines: Iterable[Line], above_us: int) -> list[Line]:
    """The slowest answered queries that took longer than ``above_us``; not those that waited on purpose, and none of a
    batch, whose time is that of all its operations."""
    found = (
        line
        for line in lines
        if line.op == GET and line.status < 400 and not line.waits and not line.in_batch and line.took_us > above_us
    )
    return nlargest(MOST, found, key=lambda line: line.took_us)


def least_us(kept: Sequence[int]) -> int:
    """What a query must exceed to be among ``MOST``, from the times of those that are kept."""
    return min(kept) if len(kept) >= MOST else -1
