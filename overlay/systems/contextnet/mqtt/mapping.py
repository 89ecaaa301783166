"""Topics of MQTT to topics of the log: pairs of a filter and a name. Pure."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Final, NamedTuple

from overlay.core.settings import InvalidText, json_list

PREFIX: Final = "mqtt."
"""Of topics of the log that the proxy writes."""
OWN: Final = "clients/"
"""Before the id of a client, its own topic of MQTT."""
MOST_PAIRS: Final = 256

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


class Pair(NamedTuple):
    levels: tuple[str, ...]
    """Of the filter."""
    topic: str
    """Of the log."""


@lru_cache(maxsize=8)
def mapping_of(text: str) -> tuple[Pair, ...]:
    """The pairs of ``mqtt_topics``. Raises ``InvalidText``."""
    pairs = json_list(text)
    if len(pairs) > MOST_PAIRS:
        raise InvalidText(0, f"has more than {MOST_PAIRS} pairs")
    return tuple(map(_pair, pairs))


def _pair(found: object) -> Pair:
    if not isinstance(found, list) or len(found) != 2 or not all(isinstance(one, str) for one in found):
        raise InvalidText(0, f"must be pairs of a filter and a name, not {json.dumps(found)[:60]}")
    filter_, name = found
    levels = tuple(filter_.split("/"))
    if not filter_ or any(len(level) > 1 and set(level) & {"+", "#"} for level in levels) or "#" in levels[:-1]:
        raise InvalidText(0, f"is no filter of MQTT: {filter_[:60]!r}")
    if not _NAME.fullmatch(name):
        raise InvalidText(0, f"is no name of lower-case letters, digits, hyphens and underscores: {name[:60]!r}")
    return Pair(levels, PREFIX + name)


def mapped(pairs: tuple[Pair, ...], topic: str) -> str | None:
    """The topic of the log for a topic of MQTT; ``None``: there is none."""
    levels = topic.split("/")
    return next((pair.topic for pair in pairs if _fits(pair.levels, levels)), None)


def _fits(pattern: tuple[str, ...], levels: list[str]) -> bool:
    """MQTT 3.1.1, 4.7: ``#`` also fits its parent level; wildcards do not fit a first level with a dollar sign."""
    if levels[0].startswith("$") and pattern[0] in ("+", "#"):
        return False
    if pattern[-1] == "#":
        pattern = pattern[:-1]
        levels = levels[: len(pattern)]
    return len(pattern) == len(levels) and all(one in ("+", level) for one, level in zip(pattern, levels, strict=True))
