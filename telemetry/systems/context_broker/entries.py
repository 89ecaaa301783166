"""What a broker is known to hold while it goes on, though nobody asks it. Pure.

Its table is told whole once, at its end (``overlay.journal.facts.Holdings``). Until then there are three kinds of word
of it::

    update    a provider's, which it acknowledged: it has what the provider wrote
    (``telemetry.systems.context_broker.updates``)
    replica   an answer to a traced query passed by and was kept here
    (``telemetry.systems.context_broker.brokers``)
    found     a traced query was answered from its table, be it with a replica or not
    (``telemetry.systems.context_broker.brokers``)

A word is of an instant. What was dropped since, for want of room, nobody reports; what expired since is left out here.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

UPDATE, REPLICA, FOUND = "update", "replica", "found"
KEPT = 200
"""Entities of one broker that are remembered, those of which there was a word last."""
TOLD = 30
"""As many are told, the newest."""


@dataclass(frozen=True, slots=True)
class Word:
    """That an entity lay in a broker's table."""

    entity: str
    """``type|id|scope``."""
    came_as: str
    at_us: int
    """When that was so, since the deployment's zero."""
    provider: str = ""
    """Of an update, whose."""
    stamp_ms: int = 0
    """Of an update, when it was provided: Unix ms. Of the others only ``at_us`` bounds it."""


class Words:
    """The newest words of one broker, by entity and kind."""

    def __init__(self) -> None:
        self._words: OrderedDict[tuple[str, str], Word] = OrderedDict()

    def add(self, word: Word) -> None:
        key = (word.entity, word.came_as)
        before = self._words.pop(key, None)
        self._words[key] = word if before is None or word.at_us >= before.at_us else before
        while len(self._words) > KEPT:
            self._words.popitem(last=False)

    def clear(self) -> None:
        self._words.clear()

    def __iter__(self) -> Any:
        return iter(self._words.values())


def known_entries(
    words: Iterable[Word], as_of_us: int, zero_unix_us: int, valid_ms: int | None
) -> list[dict[str, Any]]:
    """A row for each entity, that with the newest word first: ``{entity, came_as, provider, t_s, left_ms, at_most}``.

    ``valid_ms`` is how long data are valid from when they were provided, ``None`` where that is each provider's
    business. ``left_ms`` is how long they still were at ``as_of_us``; with ``at_most`` perhaps less, since it is not
    told when they were provided. A word of an update or replica says how data came; a later find only that they lie
    there still.
    """
    newest: dict[str, Word] = {}
    origins: dict[str, Word] = {}
    for word in sorted(words, key=lambda word: word.at_us):
        newest[word.entity] = word
        if word.came_as != FOUND:
            origins[word.entity] = word
    as_of_ms = (zero_unix_us + as_of_us) // 1000
    rows = []
    for word in sorted(newest.values(), key=lambda word: -word.at_us):
        origin = origins.get(word.entity, word)
        seen_ms = (zero_unix_us + word.at_us) // 1000
        left_ms, at_most = None, False
        if valid_ms is not None:
            # Found when the last known update had expired: something newer lies there.
            at_most = not origin.stamp_ms or origin.stamp_ms + valid_ms < seen_ms
            left_ms = (seen_ms if at_most else origin.stamp_ms) + valid_ms - as_of_ms
            if left_ms <= 0:
                continue
        rows.append(
            {
                "entity": word.entity,
                "came_as": origin.came_as,
                "provider": origin.provider,
                "t_s": word.at_us / 1_000_000,
                "left_ms": left_ms,
                "at_most": at_most,
            }
        )
    return rows[:TOLD]
