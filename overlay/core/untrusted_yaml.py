"""Reads untrusted YAML within the limits of ``untrusted``, a module of its own, since servers read JSON only. Pure."""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

from overlay.core.untrusted import MOST_DEEP, MOST_DIGITS, Unreadable, check, said_twice

MOST_NODES = 200_000
"""Maximum values. Reading takes 20 µs per value, in JSON less than 1 µs. This limit is 4 s."""
MOST_CHARACTERS = 100_000
"""Maximum characters of a value."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NUMBER_LIKE = re.compile(r"[-+.0-9][-+.:_0-9a-fA-FxX]*")


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
    check(plain)
    return plain


def _look_over(text: str) -> None:
    """Raises ``Unreadable`` for documents that would take long to construct, before constructing any values."""
    depth = nodes = 0
    for event in yaml.parse(text, _LOADER):
        nodes += isinstance(event, yaml.NodeEvent)
        line = event.start_mark.line + 1 if event.start_mark else 1
        if nodes > MOST_NODES:
            raise Unreadable(f"has more than {MOST_NODES:,} values by line {line}; use JSON for so many")
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
            twice = said_twice(str(name.value) for name, _ in node.value)
            raise Unreadable(f"{twice} in the object of line {node.start_mark.line + 1}")
        return values


def _first_words(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        return f"{error.problem or error.context} in line {mark.line + 1}, column {mark.column + 1}"
    return str(error).splitlines()[0]
