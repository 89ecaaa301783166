"""MessagePack with the place of every value, however wrong it is. Pure.

``read`` gives values as ``msgpack.unpackb`` does, and a problem exactly where that raises: for bytes that are cut off
or none, for text that is no UTF-8, and for keys that are no text. Extension types, which no message here has, are
problems, too. Nothing is read behind the first problem.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from struct import Struct
from typing import Any

MOST_DEPTH = 32
"""Levels that are read."""
UNREAD = object()
"""The value of what cannot be read."""
_NUMBERS = {
    0xCA: ("float", Struct(">f")),
    0xCB: ("float", Struct(">d")),
    0xCC: ("unsigned", Struct(">B")),
    0xCD: ("unsigned", Struct(">H")),
    0xCE: ("unsigned", Struct(">I")),
    0xCF: ("unsigned", Struct(">Q")),
    0xD0: ("integer", Struct(">b")),
    0xD1: ("integer", Struct(">h")),
    0xD2: ("integer", Struct(">i")),
    0xD3: ("integer", Struct(">q")),
}
_CONSTANTS = {0xC0: ("nil", None), 0xC2: ("boolean", False), 0xC3: ("boolean", True)}
_SIZED = {
    0xC4: ("bytes", 1),
    0xC5: ("bytes", 2),
    0xC6: ("bytes", 4),
    0xD9: ("text", 1),
    0xDA: ("text", 2),
    0xDB: ("text", 4),
    0xDC: ("array", 2),
    0xDD: ("array", 4),
    0xDE: ("map", 2),
    0xDF: ("map", 4),
}
"""The type, and the bytes of its length."""
_NEVER, _EXTENSIONS = 0xC1, (0xC7, 0xC8, 0xC9, 0xD4, 0xD5, 0xD6, 0xD7, 0xD8)


@dataclass(slots=True)
class Value:
    """A value, and the bytes from ``offset`` to before ``end`` that it takes; its elements begin at ``inside``."""

    offset: int
    inside: int
    end: int
    type: str
    value: Any
    problem: str = ""
    elements: list[Value] = field(default_factory=list)
    """Of an array; of a map its keys and values in turn."""
    size: int = 0
    """Elements that it should have; of a map its entries."""


def read(data: bytes, at: int = 0) -> Value:
    """The value that begins there. Never raises."""
    return _Reader(data).read(at, MOST_DEPTH)


def is_broken(value: Value) -> bool:
    """Whether it, or something in it, could not be read."""
    return bool(value.problem) or (bool(value.elements) and is_broken(value.elements[-1]))


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data

    def read(self, at: int, depth: int) -> Value:
        data = self._data
        if at >= len(data):
            return self._wrong(at, "nothing", "is missing")
        first = data[at]
        if first < 0x80 or first >= 0xE0:
            return Value(at, at, at + 1, "integer", first if first < 0x80 else first - 0x100)
        if first < 0x90:
            return self._many(at, at + 1, "map", first & 0x0F, depth)
        if first < 0xA0:
            return self._many(at, at + 1, "array", first & 0x0F, depth)
        if first < 0xC0:
            return self._bytes(at, at + 1, "text", first & 0x1F)
        if first in _CONSTANTS:
            return Value(at, at, at + 1, *_CONSTANTS[first])
        if first in _NUMBERS:
            return self._number(at, *_NUMBERS[first])
        if first in _SIZED:
            return self._sized(at, *_SIZED[first], depth)
        why = "0xc1 begins no value" if first == _NEVER else "is an extension type, which no message has"
        return self._wrong(at, "unknown", why)

    def _wrong(self, at: int, type: str, problem: str, value: Any = UNREAD) -> Value:
        return Value(at, at, len(self._data), type, value, problem)

    def _number(self, at: int, type: str, packed: Struct) -> Value:
        end = at + 1 + packed.size
        if end > len(self._data):
            return self._wrong(at, type, "is cut off")
        return Value(at, at, end, type, packed.unpack_from(self._data, at + 1)[0])

    def _sized(self, at: int, type: str, bytes_: int, depth: int) -> Value:
        inside = at + 1 + bytes_
        if inside > len(self._data):
            return self._wrong(at, type, "is cut off")
        size = int.from_bytes(self._data[at + 1 : inside], "big")
        if type in ("array", "map"):
            return self._many(at, inside, type, size, depth)
        return self._bytes(at, inside, type, size)

    def _bytes(self, at: int, inside: int, type: str, size: int) -> Value:
        end = inside + size
        raw = self._data[inside:end]
        if end > len(self._data):
            return self._wrong(at, type, f"is cut off: {size:,} bytes should follow, and {len(raw):,} do")
        if type == "bytes":
            return Value(at, inside, end, type, raw)
        try:
            return Value(at, inside, end, type, raw.decode())
        except UnicodeDecodeError as error:
            return self._wrong(at, type, f"is not UTF-8: {error.reason} at byte {inside + error.start}")

    def _many(self, at: int, inside: int, type: str, size: int, depth: int) -> Value:
        if not depth:
            return self._wrong(at, type, f"is nested more than {MOST_DEPTH} deep")
        made = Value(at, inside, inside, type, UNREAD, size=size)
        wanted = size if type == "array" else 2 * size
        while len(made.elements) < wanted:
            if made.end >= len(self._data):
                made.problem = f"is cut off: {size:,} {'entries' if type == 'map' else 'elements'} should follow"
                return made
            element = self.read(made.end, depth - 1)
            is_key = type == "map" and not len(made.elements) % 2
            if is_key and not element.problem and element.type not in ("text", "bytes"):
                element.problem = "is the key of a map, and no text"
            made.elements.append(element)
            made.end = element.end
            if is_broken(element):
                return made
        values = [element.value for element in made.elements]
        made.value = values if type == "array" else dict(zip(values[::2], values[1::2], strict=True))
        return made
