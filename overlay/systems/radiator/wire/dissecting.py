"""A datagram field by field, from the table of fields, with its compressed body. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from overlay.core.binary import CODES, Field, Kind, Layout, canonical
from overlay.core.errors import WireError
from overlay.systems.radiator.wire import messages as m
from overlay.systems.radiator.wire.compression import inflate
from overlay.systems.radiator.wire.table import FORMAT, KINDS, MAGIC, encode, parse

MOST_INFLATED = 1 << 16
"""Bytes of a body that are shown inflated."""
_SIZES = {"B": 1, "H": 2, "I": 4, "Q": 8}


@dataclass(frozen=True, slots=True)
class Part:
    """Adjacent bytes of a datagram."""

    offset: int
    length: int
    name: str
    value: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Dissection:
    layout: Layout
    parts: tuple[Part, ...]
    inflated: str = ""
    """The JSON of a CONTEXT, or of a PUSH of one segment; empty for others."""


def dissect(data: bytes) -> Dissection:
    """Raises ``WireError`` for bytes that are no message."""
    message = parse(data)
    layout = FORMAT.layouts[KINDS[type(message)]]
    head = len(MAGIC)
    parts = [
        Part(0, head, "magic", MAGIC.hex(), "Protocol and version."),
        Part(head, 1, "kind", str(layout.code), layout.purpose),
    ]
    at = head + 1
    for field, value in zip(layout.fields, message, strict=True):
        if field.only_with and getattr(message, field.only_with[0]) != field.only_with[1]:
            continue
        length = _length(field, value, len(data) - at)
        parts.append(Part(at, length, field.name, _shown(value), field.meaning))
        at += length
    return Dissection(layout, tuple(parts), _inflated(message))


def _length(field: Field, value: Any, left: int) -> int:
    if field.kind in CODES:
        return _SIZES[CODES[field.kind]]
    if field.kind is Kind.TEXT8:
        return 1 + len(value.encode())
    return field.size if field.kind is Kind.FIXED else left


def _shown(value: Any) -> str:
    if isinstance(value, bytes):
        return value.hex()
    return canonical(value).decode() if isinstance(value, dict) else str(value)


def _inflated(message: m.Message) -> str:
    if isinstance(message, m.Context):
        data = message.body
    elif isinstance(message, m.Push) and message.segments == 1:
        data = message.part
    else:
        return ""
    try:
        return inflate(data, message.codec, MOST_INFLATED).decode()
    except (WireError, UnicodeDecodeError):
        return ""


def examples() -> dict[str, bytes]:
    """A datagram of each kind, by its short name."""
    context = b'{"a":{"speed":50},"n":1,"p":["Alice"],"t":[0,0]}'
    report = 1, 2, 0, 0, 5, 7
    messages: list[m.Message] = [
        m.Register(1, 7, 0, 1, "Alice", {"floor": 2}),
        m.Registered(1, m.Registration.OK, 1, key=bytes(16)),
        m.Unregister(2, 7, "Alice"),
        m.Unregistered(2, m.Registration.OK),
        m.Context(3, 7, 1_700_000_000_000_000_000, 0, context),
        m.Accepted(3, m.Acceptance.OK, 0),
        m.Push(1, 2, m.DIRECT, 0, 0, 0, 0, 0, 1, bytes(8), context),
        m.Ack(1, 2, m.DIRECT, 0, 1, bytes(m.WINDOW // 8)),
        m.Failed(*report),
        m.Done(*report),
        m.Progress(*report),
        m.noted(m.Done(*report)),
        m.Alive(7),
        m.RegisterAgain(1),
        m.Inspect(4, 9, m.Subject.CLIENTS, limit=100),
        m.Inspected(4, m.Inspection.OK, body=b'{"clients":0,"offset":0,"reachable":0,"rows":[],"total":0}'),
    ]
    return {FORMAT.layouts[KINDS[type(one)]].short: encode(one) for one in messages}
