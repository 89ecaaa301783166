"""The types of fields: how one is read from what MessagePack gives, within its limits, and written back.

``read`` raises ``BadMessage``. It accepts tuples for arrays, so it also checks what ``write`` gives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import isfinite
from typing import Any, Final

from overlay.core.addresses import parse_address
from overlay.core.errors import WireError, shown
from overlay.messages.errors import BadMessage, Reason, refuse

MOST: Final = 65_536
"""Bytes of a message, so no array has more elements."""
SHORT: Final = 64
"""Bytes of a text for which nothing else is said."""
_USUAL: Final = (1 << 62) - 1
"""Up to it, integers of compiled code need no object."""

Read = Callable[[Any], Any]


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class Kind:
    words: str
    """As in the documentation of messages."""
    read: Read
    write: Callable[[Any], Any] = _same
    parts: tuple[tuple[str, Kind], ...] = ()
    """Names and kinds of the elements, of an array with one kind for each. For tools that show values."""
    each: Kind | None = None
    """Of the elements, of an array of one kind."""


def unsigned(value: Any) -> int:
    if type(value) is not int:
        refuse(Reason.TYPE, f"{shown(value)} is no integer")
    found: int = value
    if not 0 <= found <= _USUAL and not 0 <= found < 1 << 64:
        refuse(Reason.RANGE, f"{shown(value)} is not in 0 … 2^64 - 1")
    return found


def number(value: Any) -> float:
    if type(value) is not float and type(value) is not int:
        refuse(Reason.TYPE, f"{shown(value)} is no number")
    if not abs(value) < 1 << 64 and not isfinite(float(min(value, 1 << 64))):
        refuse(Reason.RANGE, f"{value} is not finite")
    return float(value)


def boolean(value: Any) -> bool:
    if type(value) is not bool:
        refuse(Reason.TYPE, f"{shown(value)} is neither true nor false")
    return value


def byte_length(text: str) -> int:
    """In UTF-8."""
    if text.isascii():
        return len(text)
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        refuse(Reason.RANGE, f"{shown(text)} has half a surrogate pair, which is no character")


def short(value: Any) -> str:
    """Text of 1 to 64 bytes, the most frequent kind."""
    if type(value) is str and 0 < len(value) <= SHORT and (value.isascii() or byte_length(value) <= SHORT):
        return value
    return _text(value, 1, SHORT)


def _text(value: Any, least: int, most: int) -> str:
    if type(value) is not str:
        refuse(Reason.TYPE, f"{shown(value)} is no text")
    if not least <= len(value) <= most or byte_length(value) > most:
        refuse(Reason.RANGE, f"{shown(value)} does not have {least} to {most} bytes")
    return value


def address(value: Any) -> str:
    """``host:port`` with a numeric host."""
    short(value)
    try:
        parse_address(value)
    except WireError as error:
        refuse(Reason.RANGE, str(error))
    return str(value)


def elements(value: Any, least: int, most: int) -> Sequence[Any]:
    """The elements of an array."""
    if type(value) is not list and not isinstance(value, tuple):
        refuse(Reason.TYPE, f"{shown(value)} is no array")
    if not least <= len(value) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        refuse(Reason.COUNT, f"an array has {len(value)} elements instead of {wanted}")
    return value


def text(most: int, least: int = 0) -> Kind:
    return Kind(f"text of {least} to {most} bytes", lambda value: _text(value, least, most))


def choice(enumeration: type[IntEnum]) -> Kind:
    words = ", ".join(f"{one.value} {one.name.lower().replace('_', ' ')}" for one in enumeration)

    def read(value: Any) -> IntEnum:
        try:
            return enumeration(unsigned(value))
        except ValueError:
            refuse(Reason.RANGE, f"{value} is none of {words}")

    return Kind(words, read, int)


def listed(inner: Kind, least: int = 0, most: int = MOST) -> Kind:
    """An array of elements of one kind."""
    read_one, write_one = inner.read, inner.write

    def read(value: Any) -> tuple[Any, ...]:
        kind = type(value)
        if (kind is not list and kind is not tuple) or not least <= len(value) <= most:
            value = elements(value, least, most)
        return tuple([read_one(one) for one in value]) if value else ()

    bounds = f", {least} to {most}" if most < MOST else ""
    write = tuple if write_one is _same else lambda value: [write_one(one) for one in value]
    return Kind(f"array of {inner.words}{bounds}", read, write, each=inner)


def optional(inner: Kind) -> Kind:
    return Kind(
        f"{inner.words}, or nil",
        lambda value: None if value is None else inner.read(value),
        lambda value: None if value is None else inner.write(value),
        inner.parts,
        inner.each,
    )


def record(words: str, make: Callable[..., Any], kinds: Sequence[Kind], attributes: Sequence[str]) -> Kind:
    """An array with one kind for each element, and the object made from them."""
    count, reads = len(kinds), [kind.read for kind in kinds]
    writes = [(name, kind.write) for name, kind in zip(attributes, kinds, strict=True)]

    def read(value: Any) -> Any:
        return make(*[read_one(one) for read_one, one in zip(reads, elements(value, count, count), strict=True)])

    parts = tuple(zip(attributes, kinds, strict=True))
    return Kind(words, read, lambda value: [write(getattr(value, name)) for name, write in writes], parts)


def pair(words: str, inner: Kind, names: tuple[str, str] = ("first", "second")) -> Kind:
    """An array of two."""
    read_one = inner.read

    def read(value: Any) -> tuple[Any, Any]:
        first, second = elements(value, 2, 2)
        return read_one(first), read_one(second)

    return Kind(words, read, tuple, tuple((name, inner) for name in names))


def limited(kind: Kind, most: int, what: str) -> Kind:
    """An array with at most so many elements, which is no matter of form but of ``Reason.LIMIT``."""

    def read(value: Any) -> Any:
        if isinstance(value, list | tuple) and len(value) > most:
            raise BadMessage(Reason.LIMIT, f"{len(value):,} {what} are more than {most:,}")
        return kind.read(value)

    return Kind(f"{kind.words}, at most {most:,}", read, kind.write, kind.parts, kind.each)


U = Kind("unsigned", unsigned)
TIME = Kind("unsigned, ms since 1970", unsigned)
FLOAT = Kind("number", number, float)
BOOLEAN = Kind("boolean", boolean)
SHORT_TEXT = Kind(f"text of 1 to {SHORT} bytes", short)
ADDRESS = Kind("host:port", address)
