"""Texts, numbers, booleans and times in ContextML, and structures and arrays of them.

``t`` says the type: ``s`` for text, which is also meant without it, ``n`` for a number, ``b`` for a boolean.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.etree.ElementTree import Element

from overlay.core.errors import shown
from overlay.systems.federation.contextml.xml import attributes, children, escaped, refuse, text_of, written

MAX_DIGITS = 400
"""Characters of a number. The largest double has 309 digits."""
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,3})?Z")
_BEGIN = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
LAST_MS = (datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC) - _BEGIN) // _MILLISECOND
"""The last time that can be written."""
_TYPES = {str: "s", int: "n", float: "n", bool: "b"}
_CONTAINERS = ("par", "parS", "parA")


def read_scalar(element: Element, *names: str) -> Any:
    """The text, number or boolean in an element with the attributes ``names`` and ``t``."""
    kind = attributes(element, names, ("t",)).get("t", "s")
    text = text_of(element)
    if kind == "s":
        return text
    if kind == "n":
        return _number(text.strip())
    if kind != "b":
        refuse(f"the type t of {element.tag} is {shown(kind)}, none of s, n, b")
    if text.strip() not in ("true", "false"):
        refuse(f"{shown(text)} is neither true nor false")
    return text.strip() == "true"


def write_scalar(tag: str, value: Any, **names: str) -> str:
    kind = _TYPES[type(value)]
    types = {} if kind == "s" else {"t": kind}
    text = value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else repr(value)
    return written(tag, escaped(text), **names, **types)


def _number(text: str) -> int | float:
    if len(text) > MAX_DIGITS or not _NUMBER.fullmatch(text):
        refuse(f"{shown(text)} is no number")
    return float(text) if any(mark in text for mark in ".eE") else int(text)


def read_structure(element: Element) -> dict[str, Any]:
    """The values in ``dataPart`` or ``parS``, by name."""
    found: dict[str, Any] = {}
    for child in children(element, *_CONTAINERS):
        name = child.get("n")
        if name is None:
            refuse(f"{child.tag} in {element.tag} has no attribute n")
        if name in found:
            refuse(f"{element.tag} has two values of the name {shown(name)}")
        found[name] = _value(child, "n")
    return found


def _value(element: Element, *names: str) -> Any:
    if element.tag == "par":
        return read_scalar(element, *names)
    attributes(element, names)
    if element.tag == "parS":
        return read_structure(element)
    return [_value(child) for child in children(element, *_CONTAINERS)]


def write_structure(tag: str, values: Mapping[str, Any], **names: str) -> str:
    return written(tag, "".join(_written(value, n=name) for name, value in values.items()), **names)


def _written(value: Any, **names: str) -> str:
    if isinstance(value, Mapping):
        return write_structure("parS", value, **names)
    if isinstance(value, list):
        return written("parA", "".join(map(_written, value)), **names)
    return write_scalar("par", value, **names)


def read_time(text: str) -> int:
    """Milliseconds since 1970 of ``2026-11-23T10:02:00.000Z``; the fraction may be left out."""
    if not _TIME.fullmatch(text.strip()):
        refuse(f"{shown(text)} is no time such as 2026-11-23T10:02:00.000Z")
    try:
        elapsed = datetime.fromisoformat(text.strip()) - _BEGIN
    except ValueError as error:
        refuse(f"{shown(text)} is no time: {error}")
    if elapsed < timedelta(0):
        refuse(f"{shown(text)} is before 1970")
    return elapsed // _MILLISECOND


def write_time(ms: int) -> str:
    if not 0 <= ms <= LAST_MS:
        refuse(f"{ms} ms since 1970 is no time of a year up to 9999")
    return (_BEGIN + ms * _MILLISECOND).isoformat(timespec="milliseconds").replace("+00:00", "Z")
