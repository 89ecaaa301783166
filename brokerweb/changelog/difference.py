"""What differs between two states of an object. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

MOST_LETTERS = 1_000
"""Of one value as JSON; longer ones are cut."""
MOST_OF_ALL = 20_000
"""Of all values on one side."""

MOST_TOLD = 120
"""Letters of a value on a page."""
State = Mapping[str, Any]


def difference(before: State, after: State) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values that differ, as they were and as they are; objects within objects likewise."""
    was, now = _pick(before, after), _pick(after, before)
    return bounded(was), bounded(now)


def _pick(one: State, other: State) -> dict[str, Any]:
    """What ``one`` has and ``other`` has not."""
    found: dict[str, Any] = {}
    for name, value in one.items():
        twin = other.get(name)
        if name in other and value == twin:
            continue
        if isinstance(value, Mapping) and isinstance(twin, Mapping):
            found[name] = _pick(value, twin)
        else:
            found[name] = value
    return found


def bounded(state: State) -> dict[str, Any]:
    """The same with long values cut to a beginning and their length."""
    cut = {name: _cut(value, MOST_LETTERS) for name, value in state.items()}
    return cut if len(_text(cut)) <= MOST_OF_ALL else {"cut": _cut(cut, MOST_LETTERS)}


def _cut(value: Any, most: int) -> Any:
    text = value if isinstance(value, str) else _text(value)
    return value if len(text) <= most else {"begins": text[: most // 5], "letters": len(text)}


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def pairs(before: State, after: State, within: str = "") -> list[tuple[str, str, str]]:
    """Name, former and new value of each difference, as text; empty where there is none."""
    found = []
    for name in dict.fromkeys([*before, *after]):
        was, now = before.get(name), after.get(name)
        inner = [one for one in (was, now) if isinstance(one, Mapping) and one]
        if inner and all(one is None or isinstance(one, Mapping) for one in (was, now)):
            found += pairs(was or {}, now or {}, f"{within}{name}.")
        else:
            sides = (_told(was) if name in before else "", _told(now) if name in after else "")
            found.append((f"{within}{name}", *sides))
    return found


def _told(value: Any) -> str:
    text = value if isinstance(value, str) else _text(value)
    return text if len(text) <= MOST_TOLD else f"{text[:MOST_TOLD]}…"
