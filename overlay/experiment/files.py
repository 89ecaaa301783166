"""Definitions as people write them into files: YAML or JSON. Pure; doors read and write the files themselves."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import yaml

from overlay.errors import InvalidSetting

MAX_BYTES = 5_000_000
"""A topology with 100,000 links, written out, is half of it."""

MOST_DEEP = 50
MOST_CHARACTERS = 100_000
"""Of one value in YAML. A hundred thousand brackets, or a number as 1:1:1:…, take minutes to read."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_LOADER):  # type: ignore[misc, valid-type]
    """Refuses a name that stands twice in one object, of which YAML would quietly take the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        values: dict[Any, Any] = super().construct_mapping(node, deep)
        if len(values) < len(node.value):
            times = Counter(str(name.value) for name, _ in node.value)
            twice = times.most_common(1)[0][0]
            raise _wrong(f"says “{twice:.40}” twice in the object of line {node.start_mark.line + 1}")
        return values


def parse_definition(data: bytes, *, is_json: bool = False) -> dict[str, Any]:
    """The object that ``data`` says, made of what JSON knows. Raises ``InvalidSetting`` of the field ``spec``."""
    if len(data) > MAX_BYTES:
        raise _wrong(f"has more than {MAX_BYTES:,} bytes, the most that are read")
    try:
        text = data.decode()
        value = json.loads(text) if is_json else _load_yaml(text)
        plain = json.loads(json.dumps(value, allow_nan=False))
    except RecursionError:
        raise _wrong("is nested too deeply") from None
    except yaml.YAMLError as error:
        raise _wrong(f"is not YAML: {_first_words(error)}") from None
    except UnicodeDecodeError as error:
        raise _wrong(f"is not text in UTF-8: {error.reason} at byte {error.start}") from None
    except TypeError as error:
        raise _wrong(f"says something that is no text, number, list or object: {error}") from None
    except ValueError as error:
        raise _wrong(f"{'is not JSON' if is_json else 'cannot be read'}: {error}") from None
    if not isinstance(plain, dict):
        raise _wrong("must be one object of names and values")
    return plain


def _load_yaml(text: str) -> Any:
    depth = 0
    for event in yaml.parse(text, _LOADER):
        # A value that refers to itself has no end, and one that refers to others may be as large as one likes.
        if isinstance(event, yaml.AliasEvent):
            raise _wrong(f"refers to an anchor (*{event.anchor:.40}); write the value out instead")
        if isinstance(event, yaml.ScalarEvent) and len(event.value) > MOST_CHARACTERS:
            raise _wrong(f"has a value of more than {MOST_CHARACTERS:,} characters")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MOST_DEEP:
            raise RecursionError
    try:
        return yaml.load(text, _Loader)  # noqa: S506  (a safe loader)
    except (LookupError, AttributeError, OverflowError):  # of a value that its tag, or its look, promises in vain
        raise _wrong("has a value that is not of the kind it says, or a number that is too large") from None


def _first_words(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        return f"{error.problem or error.context} in line {mark.line + 1}, column {mark.column + 1}"
    return str(error).splitlines()[0]


def _wrong(sentence: str) -> InvalidSetting:
    return InvalidSetting("spec", sentence)
