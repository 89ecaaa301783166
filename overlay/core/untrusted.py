"""JSON and YAML that others wrote, read within limits: definitions, topologies and bodies of REST alike. Pure.

What is read is made of null, booleans, finite numbers, texts that UTF-8 can write, lists and objects with texts as
names, so that it can be stored as JSON and shown again. Whoever opens a file, or takes a request, bounds its bytes.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any

import yaml

from overlay.core.errors import WaxwingError

MOST_DEEP = 50
"""Levels. The deepest document that means something has seven; what walks one may recurse."""
MOST_NODES = 1_000_000
"""Values and names. A topology with 100,000 links that say all that links can has 900,000 in JSON."""
MOST_YAML_NODES = 200_000
"""Reading YAML costs 20 µs for each, reading JSON less than one: these are 4 s."""
MOST_DIGITS = 400
"""Characters of a number; the largest that a double holds has 309. Python reads long ones in quadratic time."""
MOST_CHARACTERS = 100_000
"""Of one value in YAML."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STRINGS = re.compile(r'"(?:[^"\\]|\\.|\\\Z)*+(?:"|\Z)', re.DOTALL)
"""To the end where one is not closed: a search that began again at each of its quotes would take quadratic time."""
_NUMBER_LIKE = re.compile(r"[-+.0-9][-+.:_0-9a-fA-FxX]*")


class Unreadable(WaxwingError):
    """Why a document cannot be read, as the end of a sentence about it. It names the line, or the ``field``."""

    def __init__(self, sentence: str, field: str = "") -> None:
        super().__init__(sentence + (f" at {field}" if field else ""))
        self.field = field


def read_json(text: str) -> Any:
    """What ``text`` says in JSON. Raises ``Unreadable``."""
    # Counted before it is read: 10 MB of brackets are 400 MB of lists.
    if _marks(text) >= MOST_NODES and _marks(_STRINGS.sub("", text)) >= MOST_NODES:
        raise Unreadable(f"has more than {MOST_NODES:,} values, the most that are read")
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_int=_number(int), parse_float=_number(float))
    except RecursionError:
        raise Unreadable("is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise Unreadable(f"is not JSON: {error.msg} in line {error.lineno}, column {error.colno}") from None
    _check(value)
    return value


def _marks(text: str) -> int:
    """At least as many as there are values, less one."""
    return sum(map(text.count, ",:[{"))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuses a name that stands twice in one object, of which Python would quietly take the last."""
    values = dict(pairs)
    if len(values) < len(pairs):
        raise Unreadable(_said_twice(name for name, _ in pairs) + " in one object")
    return values


def _said_twice(names: Iterable[str]) -> str:
    return f"says “{Counter(names).most_common(1)[0][0]:.40}” twice"


class _TooLong:
    """In the place of a number that was not read."""


def _number(read: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda text: read(text) if len(text) <= MOST_DIGITS else _TooLong()


def read_yaml(text: str) -> Any:
    """What ``text`` says in YAML. Raises ``Unreadable``."""
    try:
        _look_over(text)
        value = yaml.load(text, _Loader)  # noqa: S506  (a safe loader)
        plain = json.loads(json.dumps(value))
    except yaml.YAMLError as error:
        raise Unreadable(f"is not YAML: {_first_words(error)}") from None
    except TypeError as error:
        raise Unreadable(f"says something that is no text, number, list or object: {error}") from None
    except (ValueError, LookupError, AttributeError, OverflowError):  # of what its tag, or its look, promises in vain
        raise Unreadable("has a value that is not of the kind it says, or a number that is too large") from None
    _check(plain)
    return plain


def _look_over(text: str) -> None:
    """Raises ``Unreadable`` for what would take long to make values of, before any is made."""
    depth = nodes = 0
    for event in yaml.parse(text, _LOADER):
        nodes += isinstance(event, yaml.NodeEvent)
        line = event.start_mark.line + 1 if event.start_mark else 1
        if nodes > MOST_YAML_NODES:
            raise Unreadable(f"has more than {MOST_YAML_NODES:,} values by line {line}; give so many as JSON")
        # A value that refers to itself has no end, and one that refers to others may be as large as one likes.
        if isinstance(event, yaml.AliasEvent):
            raise Unreadable(f"refers to an anchor (*{event.anchor:.40}) in line {line}; write the value out instead")
        if isinstance(event, yaml.ScalarEvent) and len(event.value) > MOST_DIGITS:
            _check_scalar(event, line)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MOST_DEEP:
            raise Unreadable(f"is nested too deeply: more than {MOST_DEEP} levels in line {line}")


def _check_scalar(event: yaml.ScalarEvent, line: int) -> None:
    if len(event.value) > MOST_CHARACTERS:
        raise Unreadable(f"has a value of more than {MOST_CHARACTERS:,} characters in line {line}")
    if event.implicit[0] and _NUMBER_LIKE.fullmatch(event.value):
        raise Unreadable(f"has a number of more than {MOST_DIGITS} characters in line {line}")


class _Loader(_LOADER):  # type: ignore[misc, valid-type]
    """Refuses a name that stands twice in one object, of which YAML would quietly take the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        values: dict[Any, Any] = super().construct_mapping(node, deep)
        if len({str(name) for name in values}) < len(node.value):  # in JSON the numbers 1 and "1" are one name
            twice = _said_twice(str(name.value) for name, _ in node.value)
            raise Unreadable(f"{twice} in the object of line {node.start_mark.line + 1}")
        return values


def _first_words(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        return f"{error.problem or error.context} in line {mark.line + 1}, column {mark.column + 1}"
    return str(error).splitlines()[0]


def _check(value: Any, *place: str | int) -> None:
    """Raises ``Unreadable`` for what cannot be stored as JSON, or not be shown."""
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
            _check(one, *place, name)


def _wrong(value: Any) -> str:
    """What is wrong with one value, whatever is in it."""
    if isinstance(value, str):
        return "has half a surrogate pair, which is no character, in a text" if _is_half(value) else ""
    if isinstance(value, _TooLong):
        return f"has a number of more than {MOST_DIGITS} characters"
    return "has a number that is not finite" if isinstance(value, float) and not isfinite(value) else ""


def _is_half(text: str) -> bool:
    """Whether there is half a surrogate pair (``"\\ud800"``) in it, which JSON can write and UTF-8 cannot."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _field(place: tuple[str | int, ...]) -> str:
    """``workload.consumers.3``; what can be shown of long or strange names."""
    return ".".join(str(name)[:40].encode(errors="replace").decode() for name in place)
