"""A TAKE in parts that a message can carry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from overlay.systems.silbops.wire.messages import Take


def parts(peers: Any, take: Take) -> Iterator[Take]:
    """In order; the last one has ``is_last``. One context or row fits, as a message brought it; a notification that
    does not is left out, as no message could bring it to its client."""
    if peers.encoded(take) is not None:
        yield take
        return
    if _size(take) <= 1:
        yield replace(take, kept=())
        return
    former, latter = _halves(take)
    yield from parts(peers, former)
    yield from parts(peers, latter)


def _size(take: Take) -> int:
    return (take.context is not None) + len(take.subscriptions) + len(take.advertisements) + len(take.kept)


def _halves(take: Take) -> tuple[Take, Take]:
    """The context first, then advertisements, subscriptions and notifications."""
    half = _size(take) // 2 - (take.context is not None)
    first, second = take.advertisements, take.subscriptions
    a, s = min(half, len(first)), min(max(half - len(first), 0), len(second))
    k = max(half - len(first) - len(second), 0)
    former = replace(take, advertisements=first[:a], subscriptions=second[:s], kept=take.kept[:k], is_last=False)
    latter = replace(take, context=None, advertisements=first[a:], subscriptions=second[s:], kept=take.kept[k:])
    return former, latter
