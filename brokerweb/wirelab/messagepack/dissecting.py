"""A message taken apart into the values of its MessagePack, each with its offset, however wrong it is. Pure.

Segments follow each other without a gap from the first byte to the last. A codec reads a message exactly if
nothing here is wrong with it: the kinds of its table judge the values, from the whole to the part that is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from itertools import islice
from typing import Any

from brokerweb.wirelab.lab import Dissection, Segment
from brokerweb.wirelab.messagepack import places
from brokerweb.wirelab.messagepack.places import UNREAD, Value
from brokerweb.wirelab.messagepack.table import Table, words_of
from brokerweb.wirelab.moments import date_of, distance
from overlay.core.errors import shown
from overlay.messages.codec import Codec
from overlay.messages.errors import BadMessage
from overlay.messages.kinds import MOST, TIME, Kind
from overlay.messages.layouts import Field, Layout

MOST_SEGMENTS = 2_000
"""Of a message; what follows is one."""
_ANY = Kind("", lambda value: value)
_NO_FIELD = Field("surplus", _ANY, "")


def dissect(table: Table, message: bytes, now_ms: int) -> Dissection:
    """Never raises."""
    reader = _Reader(table, message, now_ms)
    segments = list(islice(reader.segments(), MOST_SEGMENTS))
    end = segments[-1].end if segments else 0
    if end < len(message):
        rest = message[end:]
        segments.append(Segment("rest", "unknown", end, len(rest), rest.hex()))
    problems = reader.problems
    if not problems and (refused := _refused(reader.codec, message)):
        problems.append(refused)
    layout = table.described[reader.layout.code] if reader.layout else None
    inside = "\n".join(reader.documents)
    return Dissection(message, layout, tuple(segments), tuple(reader.missing), tuple(problems), inside)


def _refused(codec: Codec, message: bytes) -> str:
    try:
        codec.parse(message)
    except BadMessage as error:
        return error.sentence
    return ""


class _Reader:
    def __init__(self, table: Table, message: bytes, now_ms: int) -> None:
        self._table = table
        self.codec = table.codec_of(message)
        self.layout: Layout | None = None
        self.missing: list[str] = []
        self.problems: list[str] = []
        self.documents: list[str] = []
        """Those in texts, indented."""
        self._message, self._now_ms = message, now_ms
        self._root = places.read(message)
        self._wrong: dict[int, str] = {}
        """What is wrong with a value, by ``id``."""
        self._judge()

    # ---- judging

    def _judge(self) -> None:
        root = self._root
        if len(self._message) > MOST:
            self.problems.append(f"{len(self._message):,} bytes are more than a message can have, {MOST:,}")
        if not self._message:
            self.missing.append("message")
            self.problems.append("the message is empty")
            return
        self._note_unread(root, "message")
        elements = root.elements
        if root.type != "array" or (not root.size and not root.problem):
            self._mark(root, "message", "a message is an array that begins with its kind")
            return
        code = elements[0].value if elements else UNREAD
        self.layout = self._table.layouts_of(self.codec).get(code) if type(code) is int else None
        if self.layout is not None:
            self._judge_fields(self.layout)
        elif code is not UNREAD:
            self._mark(elements[0], "kind", f"{shown(code)} is not the kind of a message")
        if root.end < len(self._message) and not places.is_broken(root):
            count = len(self._message) - root.end
            self.problems.append(f"{count:,} bytes follow after the message, at byte {root.end}")

    def _note_unread(self, value: Value, name: str) -> None:
        """The one place that cannot be read."""
        while not value.problem:
            if not value.elements:
                return
            value = value.elements[-1]
            name = value.type
        self.problems.append(f"{name} at byte {value.offset}: {value.problem}")
        self._wrong[id(value)] = value.problem

    def _judge_fields(self, layout: Layout) -> None:
        fields, values = layout.fields, self._root.elements[1:]
        for field, value in zip(fields, values, strict=False):
            self._judge_value(field.kind, value, _name(field))
        if places.is_broken(self._root):
            self.missing += [_name(field) for field in fields[len(values) :]]
            return
        if len(values) < len(fields):
            self.missing += [_name(field) for field in fields[len(values) :]]
            verb = "is" if len(self.missing) == 1 else "are"
            self.problems.append(f"{', '.join(self.missing)} {verb} missing after byte {self._root.end}")
        for value in values[len(fields) :]:
            self._mark(value, "surplus", "not a field of this message")

    def _judge_value(self, kind: Kind, value: Value, name: str) -> None:
        """Find the smallest part of it that cannot be read."""
        if value.value is UNREAD:  # said already
            return
        sentence = _sentence(kind, value)
        if not sentence:
            return
        before = len(self.problems)
        for inner_name, inner, element in _parts(kind, value, name):
            self._judge_value(inner, element, inner_name)
        if len(self.problems) == before:
            self._mark(value, name, sentence)

    def _mark(self, value: Value, name: str, problem: str) -> None:
        self._wrong.setdefault(id(value), problem)
        self.problems.append(f"{name} at byte {value.offset}: {problem}")

    # ---- segments

    def segments(self) -> Iterator[Segment]:
        root = self._root
        if not self._message:
            return
        if root.type != "array":
            yield from self._value("message", root, _ANY, "", 0)
        else:
            yield self._segment("message", root, root.offset, root.inside, f"{root.size} elements", "", "", 0)
            yield from self._fields()
        if root.end < len(self._message):
            rest = self._message[root.end :]
            problem = "" if places.is_broken(root) else "follows after the message"
            yield Segment("surplus", "unknown", root.end, len(rest), rest.hex(), "", problem)

    def _fields(self) -> Iterator[Segment]:
        layout, elements = self.layout, self._root.elements
        if not elements:
            return
        code, *values = elements
        words = "" if layout is None else layout.name.upper()
        if code.elements:
            yield from self._value("kind", code, _ANY, "Kind of the message.", 0)
        else:
            text = _shown(code)
            yield self._segment("kind", code, code.offset, code.end, text, words, "Kind of the message.", 0)
        fields = layout.fields if layout else ()
        for at, value in enumerate(values):
            field = fields[at] if at < len(fields) else _NO_FIELD
            yield from self._value(_name(field), value, field.kind, field.meaning, 0)

    def _value(self, name: str, value: Value, kind: Kind, help: str, depth: int) -> Iterator[Segment]:
        if value.type not in ("array", "map") or (not value.elements and value.value is UNREAD):
            yield self._leaf(name, value, kind, help, depth)
            return
        if (words := self._table.formatted(kind, value.value)) is not None:
            yield self._segment(name, value, value.offset, value.end, words or "everything", "", help, depth)
            return
        many = f"{value.size} {'entr' if value.type == 'map' else 'element'}"
        many += ("y" if value.size == 1 else "ies") if value.type == "map" else ("" if value.size == 1 else "s")
        yield self._segment(name, value, value.offset, value.inside, many, self._about(kind), help, depth)
        if value.type == "map":
            yield from self._entries(value, depth + 1)
            return
        for inner_name, inner, element in _named(kind, value, name):
            yield from self._value(inner_name, element, inner, "", depth + 1)

    def _entries(self, value: Value, depth: int) -> Iterator[Segment]:
        name = ""
        for at, element in enumerate(value.elements):
            if at % 2:
                yield from self._value(name, element, _ANY, "", depth)
            else:
                name = element.value if isinstance(element.value, str) else "key"
                yield from self._value(f"name {at // 2 + 1}", element, _ANY, "", depth)

    def _leaf(self, name: str, value: Value, kind: Kind, help: str, depth: int) -> Segment:
        if isinstance(value.value, str) and (document := self._table.indented(value.value)):
            self.documents.append(document)
        words = "" if id(value) in self._wrong else _words(kind, value.value, self._now_ms)
        return self._segment(name, value, value.offset, value.end, _shown(value, self._message), words, help, depth)

    def _about(self, kind: Kind) -> str:
        return self._table.values.get(words_of(kind).strip("*"), "")

    def _segment(
        self, name: str, value: Value, at: int, end: int, text: str, words: str, help: str, depth: int
    ) -> Segment:
        return Segment(name, value.type, at, end - at, text, words, self._wrong.get(id(value), ""), help, depth)


def _name(field: Field) -> str:
    return field.name or "padding"


def _sentence(kind: Kind, value: Value) -> str:
    """Why it cannot be read."""
    try:
        kind.read(value.value)
    except BadMessage as error:
        return error.sentence
    return ""


def _named(kind: Kind, value: Value, name: str) -> Iterator[tuple[str, Kind, Value]]:
    """The elements with their names and kinds, as far as they are known."""
    one = name.removesuffix("s") or name
    for at, element in enumerate(value.elements):
        if kind.each is not None:
            yield f"{one} {at + 1}", kind.each, element
        elif at < len(kind.parts):
            yield *kind.parts[at], element
        else:
            yield f"element {at + 1}", _ANY, element


def _parts(kind: Kind, value: Value, name: str) -> Iterator[tuple[str, Kind, Value]]:
    """The elements that are judged by kinds of their own."""
    if value.type == "array" and (kind.each is not None or len(kind.parts) == len(value.elements)):
        yield from _named(kind, value, name)


def _shown(value: Value, message: bytes = b"") -> str:
    if value.value is UNREAD:
        return message[value.offset : value.end].hex()
    if isinstance(value.value, bytes):
        return value.value.hex()
    return value.value if isinstance(value.value, str) else shown(value.value)


def _words(kind: Kind, value: Any, now_ms: int) -> str:
    if kind is TIME and type(value) is int:
        return f"{date_of(value)}, {distance(value, now_ms)}"
    try:
        read = kind.read(value)
    except BadMessage:
        return ""
    return read.name.lower().replace("_", " ") if isinstance(read, IntEnum) else ""
