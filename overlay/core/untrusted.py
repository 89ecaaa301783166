"""Reads untrusted JSON and YAML within limits: definitions, topologies and bodies of REST requests. Pure.

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

import yaml

from overlay.core.errors import WaxwingError

MOST_DEEP = 50
"""Maximum nesting. The deepest valid document has seven levels; functions over documents may recurse."""
MOST_NODES = 1_000_000
"""Maximum values and names. A topology with 100,000 links and all their settings has 900,000 in JSON."""
MOST_YAML_NODES = 200_000
"""Reading takes 20 µs per value in YAML, less than 1 µs in JSON. This limit is 4 s."""
MOST_DIGITS = 400
"""Maximum characters of a number. The largest double has 309, and Python parses long ones in quadratic time."""
MOST_CHARACTERS = 100_000
"""Maximum characters of a value in YAML."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STRINGS = re.compile(r'"(?:[^"\\]|\\.|\\\Z)*+(?:"|\Z)', re.DOTALL)
"""An unclosed string extends to the end. Searching again from each of its quotes would take quadratic time."""
_NUMBER_LIKE = re.compile(r"[-+.0-9][-+.:_0-9a-fA-FxX]*")


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
    _check(value)
    return value


def _marks(text: str) -> int:
    """An upper bound of the number of values, minus one."""
    return sum(map(text.count, ",:[{"))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuses duplicate names in an object, of which Python would silently use the last."""
    values = dict(pairs)
    if len(values) < len(pairs):
        raise Unreadable(_said_twice(name for name, _ in pairs) + " in one object")
    return values


def _said_twice(names: Iterable[str]) -> str:
    return f"says “{Counter(names).most_common(1)[0][0]:.40}” twice"


class _TooLong:
    """Placeholder for a number that was too long to parse."""


def _number(read: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda text: read(text) if len(text) <= MOST_DIGITS else _TooLong()


def read_yaml(text: str) -> Any:
    """Parse YAML. Raises ``Unreadable``."""
    try:
        _look_over(text)
        value = yaml.load(text, _Loader)  # noqa: S506  (a safe loader)
        plain = json.loads(json.dumps(value))
    except yaml.YAMLError as error:
        raise Unreadable(f"is not YAML: {_first_words(error)}") from None
    except TypeError as error:
        raise Unreadable(f"has a value that is no text, number, list or object: {error}") from None
    except (
        ValueError,
        LookupError,
        AttributeError,
        OverflowError,
    ):  # the value does not match its tag or its apparent type
        raise Unreadable("has a value that does not match its tag, or a number that is too large") from None
    _check(plain)
    return plain


def _look_over(text: str) -> None:
    """Raises ``Unreadable`` for documents that would take long to construct, before constructing any values."""
    depth = nodes = 0
    for event in yaml.parse(text, _LOADER):
        nodes += isinstance(event, yaml.NodeEvent)
        line = event.start_mark.line + 1 if event.start_mark else 1
        if nodes > MOST_YAML_NODES:
            raise Unreadable(f"has more than {MOST_YAML_NODES:,} values by line {line}; use JSON for so many")
        # A value that refers to itself is infinite, and references allow values of any size.
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
    """Refuses duplicate names in an object, of which YAML would silently use the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        values: dict[Any, Any] = super().construct_mapping(node, deep)
        if len({str(name) for name in values}) < len(
            node.value
        ):  # in JSON the number 1 and the text "1" are the same name
            twice = _said_twice(str(name.value) for name, _ in node.value)
            raise Unreadable(f"{twice} in the object of line {node.start_mark.line + 1}")
        return values


def _first_words(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        return f"{error.problem or error.context} in line {mark.line + 1}, column {mark.column + 1}"
    return str(error).splitlines()[0]


def _check(value: Any, *place: str | int) -> None:
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
            _check(one, *place, name)


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
