"""Bytes to messages and back, as ``table`` describes them.

For each message a parser and an encoder are made from its layout at import. ``parse`` is total: any bytes give a
message or ``WireError``, whose sentence is about the first field that is wrong. Splitting is strict (exact field
counts, no empty field). A payload is taken by its size in bytes and never searched for separators: the prototype's
tokeniser dropped empty fields and let a payload inject hops.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from overlay.core.errors import WireError
from overlay.systems.context_broker.wire.kinds import FORMATS, MAX_DATAGRAM, Field, Kind, Layout
from overlay.systems.context_broker.wire.messages import Hops
from overlay.systems.context_broker.wire.table import LAYOUTS, AnyMessage
from overlay.systems.context_broker.wire.values import (
    READERS,
    TAIL_READERS,
    TAIL_WRITERS,
    WRITERS,
    read_integer,
    read_payload,
    write_marked_hops,
)

Parser = Callable[[bytes], AnyMessage]
Encoder = Callable[[Any], bytes]

_RAW = (Kind.PAYLOAD, Kind.MESSAGE)
"""Fields of bytes that may contain ``|``; always the last one."""


def parse(data: bytes) -> AnyMessage:
    """The message in a datagram. Raises ``WireError`` and nothing else."""
    if len(data) > MAX_DATAGRAM:
        raise WireError(f"{len(data)} bytes are more than a datagram holds")
    parser = _PARSERS.get(data[: data.find(b"|")])
    if parser is None:
        raise WireError(f"{data[:20]!r} does not start with the code of a known message")
    try:
        return parser(data)
    except UnicodeDecodeError:
        raise WireError("not UTF-8") from None


def encode(message: AnyMessage) -> bytes:
    """The datagram of a message. Raises ``WireError`` where a value from outside (a name, a payload) does not fit."""
    try:
        data = _ENCODERS[type(message)](message)
    except UnicodeEncodeError as error:
        raise WireError(f"{error.object[error.start : error.end]!r} is no character of UTF-8 text") from None
    if len(data) > MAX_DATAGRAM:
        raise WireError(f"{len(data)} bytes are more than a datagram holds")
    return data


def with_hops(response: bytes, hops: Hops, marks: Collection[int] = ()) -> bytes:
    """An encoded Response that has no hops, with these behind it. It may be longer than ``MAX_DATAGRAM``."""
    return response + write_marked_hops(hops, marks).encode("ascii")


def code_of(data: bytes) -> int | None:
    """The code that a datagram claims, readable or not; ``None`` where it does not tell."""
    return _lenient_integer(data.partition(b"|")[0])


def timestamp_of(data: bytes) -> int | None:
    """The timestamp that a datagram claims, readable or not; ``None`` where it does not tell."""
    return _lenient_integer(data[:50].partition(b"|")[2].partition(b"|")[0])


def _lenient_integer(field: bytes) -> int | None:
    try:
        return read_integer(field[:50].decode())
    except (UnicodeDecodeError, WireError):
        return None


# ---- reading


def _parser(layout: Layout) -> Parser:
    return _raw_parser(layout) if layout.fields[-1].kind in _RAW else _text_parser(layout)


def _text_parser(layout: Layout) -> Parser:
    """Of a message that is all text."""
    message, read, read_tail = layout.message, _reader(layout), TAIL_READERS.get(layout.tail)
    count = len(layout.fields)

    def parser(data: bytes) -> AnyMessage:
        fields = data.decode().split("|")
        if len(fields) <= count or (read_tail is None and len(fields) > count + 1):
            raise WireError("a field is missing or surplus")
        values = read(fields)
        if read_tail is not None:
            values += read_tail(fields[count + 1 :])
        made: AnyMessage = message(*values)
        return made

    return parser


def _raw_parser(layout: Layout) -> Parser:
    """Of a message with a field of bytes."""
    message, read, read_tail = layout.message, _reader(layout), TAIL_READERS.get(layout.tail)
    count = len(layout.fields)
    size_at = next((at for at, one in enumerate(layout.fields, 1) if one.kind == Kind.SIZE), None)
    read_size = READERS[Kind.SIZE]

    def parser(data: bytes) -> AnyMessage:
        *head, rest = data.split(b"|", count)
        if len(head) < count or not rest:
            raise WireError("a field is missing")
        fields = [field.decode() for field in head]
        raw, rest = (rest, b"") if size_at is None else read_payload(read_size(fields[size_at]), rest)
        if rest and (read_tail is None or not rest.startswith(b"|")):
            raise WireError("the payload is longer than PayloadSize")
        values = read(fields)
        values.append(raw)
        if read_tail is not None:
            values += read_tail(rest.decode().split("|")[1:])
        made: AnyMessage = message(*values)
        return made

    return parser


def _reader(layout: Layout) -> Callable[[list[str]], list[Any]]:
    """The values of the text fields of a message, whose code is at 0; constants and sizes give none."""
    texts = [(at, one) for at, one in enumerate(layout.fields, 1) if one.kind not in (*_RAW, Kind.SIZE)]
    valued = [(at, one) for at, one in texts if one.kind != Kind.WORD]
    names = [one.name for _, one in valued]
    source = f"[{', '.join(f'{one.kind.name}(fields[{at}])' for at, one in valued)}]"
    for _, one in valued:
        if one.after:
            source = f"ORDERED({source}, {names.index(one.after)}, {names.index(one.name)}, {_wrong(one)!r})"
    for at, one in texts:
        if one.kind == Kind.WORD:
            source = f"WORD(fields[{at}], {one.example!r}) and {source}"
    reader: Callable[[list[str]], list[Any]]
    reader = _made(f"lambda fields: {source}", READERS, WORD=_is_word, ORDERED=_ordered)
    return reader


def _is_word(text: str, word: str) -> bool:
    if text != word:
        raise WireError(f"must be {word}, not {text[:40]!r}")
    return True


def _ordered(values: list[Any], first: int, second: int, wrong: str) -> list[Any]:
    if values[first] >= values[second]:
        raise WireError(wrong)
    return values


def _wrong(one: Field) -> str:
    return f"{one.after} is not before {one.name}"


# ---- writing


def _encoder(layout: Layout) -> Encoder:
    names = iter(layout.attributes)
    *others, last = layout.fields
    texts = [str(layout.code), *(_written(one, names) for one in others)]
    raw = f".encode() + message.{next(names)} + f'" if last.kind in _RAW else ""
    texts.append("'" + raw if raw else _written(last, names))
    tail = ", ".join(f"message.{name}" for name in names)
    source = f"lambda message: f'{'|'.join(texts)}{f'{{TAIL({tail})}}' if tail else ''}'.encode()"
    encoder: Encoder = _made(source, WRITERS, TAIL=TAIL_WRITERS.get(layout.tail), LATER=_later)
    return encoder


def _written(one: Field, names: Iterator[str]) -> str:
    """A field within the f-string that writes its message; ``names`` are those of the attributes from it on."""
    if one.kind == Kind.WORD:
        return one.example
    value = "message.payload" if one.kind == Kind.SIZE else f"message.{next(names)}"
    if one.after:
        value = f'LATER({value}, message.{Field(one.after, one.kind).key}, "{_wrong(one)}")'
    if one.kind in WRITERS:
        value = f"{one.kind.name}({value})"
    return f"{FORMATS[one.kind].prefix}{{{value}{':d' if FORMATS[one.kind].is_number else ''}}}"


def _later(value: int, earlier: int, wrong: str) -> int:
    if value <= earlier:
        raise WireError(wrong)
    return value


def _made(source: str, functions: Mapping[Kind, Any], **others: Any) -> Any:
    """A function from a line of source, made of the table alone: as fast as one that is written by hand."""
    return eval(source, {kind.name: function for kind, function in functions.items()} | others)  # noqa: S307


_PARSERS: dict[bytes, Parser] = {b"%d" % code: _parser(layout) for code, layout in LAYOUTS.items()}
_ENCODERS: dict[type, Encoder] = {layout.message: _encoder(layout) for layout in LAYOUTS.values()}
