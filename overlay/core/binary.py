"""Tables of binary messages: a parser and an encoder are made from one description of each message. Big-endian.

A system lists its messages as ``Layout``; ``Format`` reads and writes them. Fields of fixed size at the beginning are
one ``struct``; the others follow one by one. ``parse`` is total: any bytes give a message or ``WireError``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from struct import Struct
from struct import error as StructError
from typing import Any

from overlay.core.errors import WireError
from overlay.core.untrusted import Unreadable, read_json

MAX_DATAGRAM = 65_507
"""Bytes: the payload of one UDP datagram over IPv4."""
MAX_DEPTH = 8
"""Nesting of JSON in a field."""
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


class Kind(StrEnum):
    """The type of a field."""

    U8 = "unsigned, 1 byte"
    U16 = "unsigned, 2 bytes"
    U32 = "unsigned, 4 bytes"
    U64 = "unsigned, 8 bytes"
    FIXED = "bytes of a fixed number"
    TEXT8 = "UTF-8 of 1 to 255 bytes after its length (1 byte)"
    JSON16 = "JSON object of at most 65,535 bytes after its length (2 bytes)"
    REST = "all bytes that follow"


CODES = {Kind.U8: "B", Kind.U16: "H", Kind.U32: "I", Kind.U64: "Q"}
SIZES = {Kind.U8: 1, Kind.U16: 2, Kind.U32: 4, Kind.U64: 8}
"""Bytes of a number."""
LENGTHS = {Kind.TEXT8: 1, Kind.JSON16: 2}
"""Bytes of the length before the value."""


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    """Also that of the attribute of the message."""
    kind: Kind
    meaning: str
    """One sentence."""
    size: int = 0
    """Bytes of a ``FIXED`` field."""
    most: int = 65_535
    """Bytes of a ``JSON16`` value at most."""
    choices: tuple[int, ...] = ()
    """The permitted values of a number; empty if all are."""
    only_with: tuple[str, int] | None = None
    """A field and its value with which this one is present. Otherwise the message has the attribute's default."""
    words: tuple[str, ...] = ()
    """The meaning of each of ``choices``."""
    unit: str = ""
    example: str = ""
    """What a form begins with: a number, hexadecimal digits of bytes, a text, JSON."""

    @property
    def code(self) -> str:
        """In a ``struct``; empty if it has no fixed size or place."""
        if self.only_with:
            return ""
        return f"{self.size}s" if self.kind is Kind.FIXED else CODES.get(self.kind, "")


@dataclass(frozen=True, slots=True)
class Layout:
    """One message. ``message`` is a ``NamedTuple`` with the attributes of ``fields`` in their order."""

    code: int
    message: type[Any]
    short: str
    """Its name in lists of recorded messages."""
    way: str
    """Sender and receiver."""
    purpose: str
    fields: tuple[Field, ...]
    check: Callable[[Any], str] | None = None
    """The first error of fields taken together; empty if there is none."""
    changes: str = ""
    """What sending it does to a network; empty of one that only asks."""

    @property
    def name(self) -> str:
        return self.message.__name__


class Format:
    """The messages of a protocol, each with a fixed ``magic`` and the code of its layout at the beginning."""

    def __init__(self, magic: bytes, layouts: Iterable[Layout]) -> None:
        self.magic = magic
        self.layouts = {layout.code: layout for layout in layouts}
        self._coders = {layout.code: _Coder(layout, magic) for layout in self.layouts.values()}
        self._by_class = {coder.layout.message: coder for coder in self._coders.values()}

    def layout_of(self, data: bytes) -> Layout | None:
        """The layout that ``data`` claims to have, readable or not."""
        at = len(self.magic)
        return self.layouts.get(data[at]) if len(data) > at and data.startswith(self.magic) else None

    def parse(self, data: bytes) -> Any:
        """Raises ``WireError`` and nothing else."""
        if len(data) > MAX_DATAGRAM:
            raise WireError(f"{len(data)} bytes are more than a datagram can have")
        at = len(self.magic)
        if len(data) <= at or not data.startswith(self.magic):
            raise WireError(f"{data[: at + 1]!r} is not the beginning of a known message")
        coder = self._coders.get(data[at])
        if coder is None:
            raise WireError(f"{data[at]} is not the kind of a known message")
        return coder.parse(data, at + 1)

    def encode(self, message: Any) -> bytes:
        """Raises ``WireError`` if a value does not fit its field."""
        data = self._by_class[type(message)].encode(message)
        if len(data) > MAX_DATAGRAM:
            raise WireError(f"{len(data)} bytes are more than a datagram can have")
        return data


class _Coder:
    """Parser and encoder of one layout."""

    def __init__(self, layout: Layout, magic: bytes) -> None:
        count = next((i for i, field in enumerate(layout.fields) if not field.code), len(layout.fields))
        self.layout = layout
        self._head = magic + bytes([layout.code])
        self._fixed = Struct(">" + "".join(field.code for field in layout.fields[:count]))
        self._count = count
        self._others = [(i, field) for i, field in enumerate(layout.fields) if i >= count]
        self._is_short = [(field.kind, field.only_with) for _, field in self._others] in ([], [(Kind.REST, None)])
        """Whether no field needs a reader of its own, as in the most frequent messages."""
        self._chosen = [(i, field) for i, field in enumerate(layout.fields) if field.choices]
        self._sized = [(i, field) for i, field in enumerate(layout.fields) if field.kind is Kind.FIXED]
        self._places = {field.name: i for i, field in enumerate(layout.fields)}

    def parse(self, data: bytes, at: int) -> Any:
        try:
            fixed = self._fixed.unpack_from(data, at)
        except StructError:
            raise WireError(f"{self.layout.short}: {len(data)} bytes are too few") from None
        at += self._fixed.size
        if self._is_short and (self._others or at == len(data)):
            return self._checked(self.layout.message._make((*fixed, data[at:]) if self._others else fixed))
        values = list(fixed)
        for _, field in self._others:
            value, at = self._read(field, data, at, values)
            values.append(value)
        if at != len(data):
            raise WireError(f"{self.layout.short}: {len(data) - at} surplus bytes")
        return self._checked(self.layout.message._make(values))

    def encode(self, message: Any) -> bytes:
        self._checked(message)
        for i, field in self._sized:
            if len(message[i]) != field.size and self._is_present(field, message):
                raise WireError(f"{self.layout.short}: {field.name} has {len(message[i])} bytes, not {field.size}")
        try:
            fixed = self._fixed.pack(*message[: self._count])
            if self._is_short:
                return self._head + fixed + (message[-1] if self._others else b"")
            parts = [self._head, fixed]
            parts += [_write(field, message[i]) for i, field in self._others if self._is_present(field, message)]
        except StructError as error:
            raise WireError(f"{self.layout.short}: {error}") from None
        return b"".join(parts)

    def _checked(self, message: Any) -> Any:
        for i, field in self._chosen:
            if message[i] not in field.choices:
                raise WireError(f"{self.layout.short}: {field.name} must not be {message[i]}")
        if self.layout.check and (wrong := self.layout.check(message)):
            raise WireError(f"{self.layout.short}: {wrong}")
        return message

    def _is_present(self, field: Field, values: Any) -> bool:
        return field.only_with is None or values[self._places[field.only_with[0]]] == field.only_with[1]

    def _read(self, field: Field, data: bytes, at: int, values: list[Any]) -> tuple[Any, int]:
        """The value of a field at ``at``, and the place after it."""
        if not self._is_present(field, values):
            return self.layout.message._field_defaults[field.name], at
        try:
            return _READERS[field.kind](field, data, at)
        except (IndexError, StructError, UnicodeDecodeError, WireError) as error:
            raise WireError(f"{self.layout.short}: {_wrong(field, error)}") from None


# ---- single fields


def read_field(field: Field, data: bytes, at: int) -> tuple[Any, int]:
    """The value of a field at ``at``, and the place after it. Raises ``WireError``."""
    try:
        return _READERS[field.kind](field, data, at)
    except (IndexError, StructError, UnicodeDecodeError, WireError) as error:
        raise WireError(_wrong(field, error)) from None


def _wrong(field: Field, error: Exception) -> str:
    if isinstance(error, WireError):
        return str(error)
    return f"{field.name} is {'not UTF-8' if isinstance(error, UnicodeDecodeError) else 'cut off'}"


def canonical(value: Any) -> bytes:
    """Canonical JSON: UTF-8, sorted keys, no spaces, finite numbers. Raises ``WireError``."""
    try:
        return _ENCODER.encode(value).encode()
    except (TypeError, ValueError, RecursionError) as error:  # UnicodeEncodeError is a ValueError
        # Python's own sentence on such a number is another in each version.
        why = "a number is not finite" if str(error).startswith("Out of range float") else error
        raise WireError(f"cannot be written as JSON: {why}") from None


def read_untrusted(data: bytes, depth: int = MAX_DEPTH) -> Any:
    """JSON from a peer, at most ``depth`` levels of lists and objects. Raises ``WireError``."""
    try:
        value = read_json(data.decode())
    except UnicodeDecodeError as error:
        raise WireError(f"{data[:40]!r} is not UTF-8: {error.reason} at byte {error.start}") from None
    except Unreadable as error:
        raise WireError(f"{data[:40]!r} {error}") from None
    if not _is_within(value, depth):
        raise WireError(f"JSON of more than {depth} levels")
    return value


def _is_within(value: Any, depth: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return depth > 0 and all(_is_within(one, depth - 1) for one in inner)


def _cut(data: bytes, at: int, size: int) -> tuple[bytes, int]:
    if at + size > len(data):
        raise IndexError
    return data[at : at + size], at + size


def _read_number(field: Field, data: bytes, at: int) -> tuple[int, int]:
    number = Struct(">" + CODES[field.kind])
    return number.unpack_from(data, at)[0], at + number.size


def _read_text(field: Field, data: bytes, at: int) -> tuple[str, int]:
    raw, at = _cut(data, at + 1, data[at])
    if not raw:
        raise WireError(f"{field.name} is empty")
    return raw.decode(), at


def _read_object(field: Field, data: bytes, at: int) -> tuple[Any, int]:
    raw, at = _cut(data, at + 2, int.from_bytes(_cut(data, at, 2)[0], "big"))
    if len(raw) > field.most:
        raise WireError(f"{field.name} has {len(raw):,} bytes, more than {field.most:,}")
    value = read_untrusted(raw)
    if not isinstance(value, dict):
        raise WireError(f"{field.name} is not a JSON object")
    return value, at


_READERS: dict[Kind, Callable[[Field, bytes, int], tuple[Any, int]]] = {
    **dict.fromkeys(CODES, _read_number),
    Kind.FIXED: lambda field, data, at: _cut(data, at, field.size),
    Kind.TEXT8: _read_text,
    Kind.JSON16: _read_object,
    Kind.REST: lambda field, data, at: (data[at:], len(data)),
}


def _write(field: Field, value: Any) -> bytes:
    if field.kind in CODES:
        return Struct(">" + CODES[field.kind]).pack(value)
    if field.kind is Kind.TEXT8:
        return _with_length(field, _utf8(value), 1, 255)
    if field.kind is Kind.JSON16:
        return _with_length(field, canonical(value), 2, field.most)
    return bytes(value)


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise WireError(f"{text[:40]!r} cannot be written as UTF-8") from None


def _with_length(field: Field, raw: bytes, size: int, most: int) -> bytes:
    if not 1 <= len(raw) <= most:
        raise WireError(f"{field.name} has {len(raw):,} bytes, not 1 to {most:,}")
    return len(raw).to_bytes(size, "big") + raw
