"""Reads untrusted JSON within limits: definitions, topologies, bodies of REST requests. Pure. YAML: ``untrusted_yaml``.

The result consists of null, booleans, finite numbers, texts that UTF-8 can encode, lists, and objects with texts as
names, so it can be stored as JSON and shown again. The caller limits the number of bytes.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any

from overlay.core.errors import WaxwingError

MOST_DEEP = 50
"""Maximum nesting. The deepest valid document has seven levels; functions over documents may recurse."""
MOST_NODES = 1_000_000
"""Maximum values and names. A topology with 100,000 links and all their settings has 900,000 in JSON."""
MOST_DIGITS = 400
"""Maximum characters of a number. The largest double has 309, and Python parses long ones in quadratic time."""

_STRINGS = re.compile(r'"(?:[^"\\]|\\.|\\\Z)*+(?:"|\Z)', re.DOTALL)
"""An unclosed string extends to the end. Searching again from each of its quotes would take quadratic time."""


class Unreadable(WaxwingError):
    """Why a document cannot be read, as the end of a sentence about it, with the line or the ``field``."""

    def __init__(self, sentence: str, field: str = "", *, line: str = "", at: int = 0) -> None:
        super().__init__(sentence + line + (f" at {field}" if field else ""))
        self.sentence = sentence
        """Without the place."""
        self.field = field
        self.at = at
        """The offset of the error in a JSON text; 0 if it concerns the whole."""


def read_json(text: str) -> Any:
    """Parse JSON. Raises ``Unreadable``."""
    # Counted before parsing: 10 MB of brackets would become 400 MB of lists.
    if _marks(text) >= MOST_NODES and _marks(_STRINGS.sub("", text)) >= MOST_NODES:
        raise Unreadable(f"has more than {MOST_NODES:,} values, the maximum")
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_int=_number(int), parse_float=_number(float))
    except RecursionError:
        raise Unreadable("is nested too deeply") from None
    except json.JSONDecodeError as error:
        line = f" in line {error.lineno}, column {error.colno}"
        raise Unreadable(f"is not JSON: {error.msg}", line=line, at=error.pos) from None
    check(value)
    return value


def _marks(text: str) -> int:
    """An upper bound of the number of values, minus one."""
    return sum(map(text.count, ",:[{"))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuses duplicate names in an object, of which Python would silently use the last."""
    values = dict(pairs)
    if len(values) < len(pairs):
        raise Unreadable(said_twice(name for name, _ in pairs) + " in one object")
    return values


def said_twice(names: Iterable[str]) -> str:
    return f"says “{Counter(names).most_common(1)[0][0]:.40}” twice"


class _TooLong:
    """Placeholder for a number that was too long to parse."""


def _number(read: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda text: read(text) if len(text) <= MOST_DIGITS else _TooLong()


def check(value: Any, *place: str | int) -> None:
    """Raises ``Unreadable`` for values that cannot be stored as JSON or shown."""
    if wrong := _wrong(value):
        raise Unreadable(wrong, _field(place))
    if not isinstance(value, dict | list):
        return
    if len(place) >= MOST_DEEP:
        raise Unreadable(f"is nested too deeply: more than {MOST_DEEP} levels", _field(place))
    for name, one in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(name, str) and _is_half(name):
            raise Unreadable("has half a surrogate pair, which is no character, in a name", _field(place))
        if isinstance(one, dict | list) or _wrong(one):
            check(one, *place, name)


def _wrong(value: Any) -> str:
    """The problem with a single value, ignoring its elements; empty if there is none."""
    if isinstance(value, str):
        return "has half a surrogate pair, which is no character, in a text" if _is_half(value) else ""
    if isinstance(value, _TooLong):
        return f"has a number of more than {MOST_DIGITS} characters"
    return "has a number that is not finite" if isinstance(value, float) and not isfinite(value) else ""


def _is_half(text: str) -> bool:
    """Whether it contains half a surrogate pair (``"\\ud800"``), which JSON can express and UTF-8 cannot."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _field(place: tuple[str | int, ...]) -> str:
    """``workload.duration_s.3``, with long or unprintable names shortened."""
    return ".".join(str(name)[:40].encode(errors="replace").decode() for name in place)
