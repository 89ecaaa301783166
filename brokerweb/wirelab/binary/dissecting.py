"""A binary datagram taken apart into fields with their offsets, however wrong it is. Pure.

Segments follow each other without a gap from the first byte to the last; the parser reads a datagram exactly if nothing
here is wrong with it. Counterpart: ``overlay.core.binary`` reads single fields, so both say the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from brokerweb.wirelab.lab import Dissection, Segment
from overlay.core.binary import LENGTHS, MAX_DATAGRAM, Field, Format, Kind, Layout, canonical, read_field
from overlay.core.errors import WireError

Words = Callable[[Field, Any, int], str]
"""What the value of a field says, in words; the last argument is now, Unix milliseconds."""


def dissect(format: Format, data: bytes, now_ms: int, words: Words, inside: Callable[[Any], str]) -> Dissection:
    """``inside`` is the text of what a message has compressed. Never raises."""
    reader = _Reader(format, data, now_ms, words)
    layout = reader.read()
    problems = [f"{one.name} at byte {one.offset}: {one.problem}" for one in reader.segments if one.problem]
    if reader.missing:
        names = ", ".join(reader.missing)
        problems.append(f"{names} {'is' if len(reader.missing) == 1 else 'are'} missing after byte {len(data)}")
    if len(data) > MAX_DATAGRAM:
        problems.append(f"{len(data)} bytes exceed the limit of a datagram, {MAX_DATAGRAM}")
    text = ""
    if not problems:
        try:
            text = inside(format.parse(data))
        except WireError as error:
            problems.append(str(error))
    return Dissection(data, layout, tuple(reader.segments), tuple(reader.missing), tuple(problems), text)


def shown(field: Field, value: Any) -> str:
    """A value as text: a number in decimals, bytes as hexadecimal digits unless they are text."""
    if isinstance(value, bytes):
        return _printable(value) if field.kind is Kind.REST else value.hex()
    return canonical(value).decode() if isinstance(value, dict) else str(value)


def _printable(data: bytes) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return data.hex()
    return text if text.isprintable() else data.hex()


class _Reader:
    def __init__(self, format: Format, data: bytes, now_ms: int, words: Words) -> None:
        self.segments: list[Segment] = []
        self.missing: list[str] = []
        self._format, self._data, self._now_ms, self._words = format, data, now_ms, words
        self._at = 0
        """The next byte."""
        self._values: dict[str, Any] = {}

    def read(self) -> Layout | None:
        magic = self._format.magic
        begin = self._data[: len(magic)]
        problem = "" if begin == magic else f"is not {magic.hex()}, the beginning of a message"
        self._add("magic", "protocol and version", len(begin), begin.hex(), problem=problem, help="Protocol, version.")
        if len(self._data) <= len(magic):
            self.missing.append("kind")
            return None
        return self._message()

    def _message(self) -> Layout | None:
        code = self._data[self._at]
        layout = self._format.layouts.get(code)
        problem = "" if layout else "no message has this kind"
        name = layout.name if layout else ""
        self._add("kind", str(Kind.U8), 1, str(code), words=name, problem=problem, help="Kind of the message.")
        is_known = layout is not None and not self.segments[0].problem
        if layout is not None and is_known:
            self._fields(layout)
        self._rest("not a field of this message" if is_known else "")
        return layout if is_known else None

    def _rest(self, problem: str) -> None:
        left = self._data[self._at :]
        if left:
            self._add("Surplus" if problem else "Rest", "unknown", len(left), left.hex(), problem=problem)

    def _fields(self, layout: Layout) -> None:
        """Up to the first field that cannot be read."""
        for at, field in enumerate(layout.fields):
            if field.only_with and self._values.get(field.only_with[0]) != field.only_with[1]:
                continue
            if not self._field(field):
                rest = layout.fields[at + 1 :]
                self.missing += [one.name for one in rest if one.only_with is None and one.kind is not Kind.REST]
                return

    def _field(self, field: Field) -> bool:
        """Whether it could be read."""
        start = self._at
        try:
            value, end = read_field(field, self._data, start)
        except WireError as error:
            self._unread(field, str(error).removeprefix(f"{field.name} "))
            return False
        self._values[field.name] = value
        if prefix := LENGTHS.get(field.kind, 0):
            self._length_of(field, prefix)
        problem = f"must not be {value}" if field.choices and value not in field.choices else ""
        words = "" if problem else self._words(field, value, self._now_ms)
        self._add(field.name, str(field.kind), end - self._at, shown(field, value), words, problem, field.meaning)
        return True

    def _length_of(self, field: Field, size: int) -> None:
        length = int.from_bytes(self._data[self._at : self._at + size], "big")
        self._add(f"{field.name} length", "length", size, str(length), f"{length} byte{'' if length == 1 else 's'}")

    def _unread(self, field: Field, problem: str) -> None:
        left = len(self._data) - self._at
        if not left:
            self.missing.append(field.name)
            return
        prefix = LENGTHS.get(field.kind, 0)
        if 0 < prefix <= left:
            stated = int.from_bytes(self._data[self._at : self._at + prefix], "big")
            self._length_of(field, prefix)
            left = min(stated, left - prefix)
        raw = self._data[self._at : self._at + left]
        self._add(field.name, str(field.kind), left, raw.hex(), problem=problem, help=field.meaning)

    def _add(
        self, name: str, kind: str, length: int, text: str, words: str = "", problem: str = "", help: str = ""
    ) -> None:
        self.segments.append(Segment(name, kind, self._at, length, text, words, problem, help))
        self._at += length
