"""The known data of a running broker, inferred without queries. Pure.

A broker reports its complete table only once, at its end (``overlay.journal.facts.Holdings``). Until then there are
three kinds of evidence::

    update    an acknowledged update of a provider
    (``telemetry.systems.context_broker.updates``)
    replica   a replica kept from the answer to a traced query
    (``telemetry.systems.context_broker.brokers``)
    found     a traced query answered from its table, by a replica or not
    (``telemetry.systems.context_broker.brokers``)

Evidence is for one point in time. Later evictions are not reported; expired entries are omitted here.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

UPDATE, REPLICA, FOUND = "update", "replica", "found"
KEPT = 200
"""Maximum entities remembered per broker, those with the newest evidence."""
TOLD = 30
"""Maximum entities returned, the newest."""


@dataclass(frozen=True, slots=True)
class Word:
    """Evidence of an entity in a broker's table."""

    entity: str
    """``type|id|scope``."""
    came_as: str
    at_us: int
    """The time, since the deployment's zero."""
    provider: str = ""
    """For an update: its provider."""
    stamp_ms: int = 0
    """For an update: its timestamp, Unix ms. For others ``at_us`` is an upper bound."""


class Words:
    """The newest evidence of one broker, by entity and kind."""

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
    """One row per entity, the newest evidence first: ``{entity, came_as, provider, t_s, left_ms, at_most}``.

    ``valid_ms`` is the validity of data, ``None`` if it depends on the provider. ``left_ms`` is the remaining validity
    at ``as_of_us``; with ``at_most`` it is an upper bound, because the time of the update is unknown. Updates and
    replicas show where data came from; a later find only shows that it is still there.
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
            # Found after the last known update had expired: there is a newer value.
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
