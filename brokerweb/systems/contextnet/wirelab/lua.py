"""The dissector for Wireshark, made from the table. Pure. Counterpart: ``dissector.lua``, its template."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from brokerweb.systems.contextnet.wirelab.table import FRAMES, SIZES, TAG_BYTES, Field, Frame, Shape
from overlay.systems.contextnet.transport.layouts import PROOF_BYTES, VERSION

TEMPLATE = Path(__file__).with_name("dissector.lua")
TITLE = "Tether"
KEY = "contextnet"
WORDS = {Shape.BYTES: "bytes", Shape.COOKIE: "cookie", Shape.ADDRESSES: "addresses", Shape.PADDING: "zeros"}


def script() -> str:
    parts = {
        "TITLE": TITLE,
        "KEY": KEY,
        "VERSION": str(VERSION),
        "PROOF": str(PROOF_BYTES),
        "TAG": str(TAG_BYTES),
        "FRAMES": "\n".join(map(_frame, FRAMES)),
        "WORDS": "\n".join(_words()),
        "FIELDS": "\n".join(_fields()),
    }
    text = TEMPLATE.read_text()
    for name, value in parts.items():
        text = text.replace(f"@{name}@", value)
    return text


def _frame(frame: Frame) -> str:
    fields = " ".join(map(_specified, frame.fields))
    end = "PROOF" if not frame.is_protected else "TAG"
    end = end if any(field.shape is Shape.PROOF for field in frame.fields) else "0"
    return f'  [{frame.code}] = {{"{frame.name}", "{fields}", {end}}},'


def _specified(field: Field) -> str:
    """``name:adder:size``, and ``:echo`` where it is present with that flag."""
    if field.shape in SIZES:
        adder, size = "number", SIZES[field.shape]
    elif field.shape is Shape.PROOF:
        adder, size = "last", field.size
    elif field.shape is Shape.REST:
        adder, size = "rest", 0
    else:
        adder, size = WORDS[field.shape], field.size
    return ":".join(filter(None, [_named(field), adder, str(size), field.only_with]))


def _named(field: Field) -> str:
    """Fields of one name differ in nothing but their words."""
    return {"code": "refuse_code", "reason": "close_reason", "data": "path_data"}.get(field.name, field.name)


def _each() -> Iterator[Field]:
    seen: set[str] = set()
    for field in (field for frame in FRAMES for field in frame.fields):
        if field.name not in seen:
            seen.add(field.name)
            yield field


def _words() -> Iterator[str]:
    for field in _each():
        if field.words:
            told = ", ".join(f'[{value}] = "{word}"' for value, word in field.words.items())
            yield f'  ["{_named(field)}"] = {{ {told} }},'


def _fields() -> Iterator[str]:
    for field in _each():
        name = _named(field)
        names = f'"{KEY}.{name}", "{field.name}"'
        if field.shape in SIZES:
            words = f', base.DEC, WORDS["{name}"]' if field.words else ""
            yield f'  ["{name}"] = ProtoField.uint{8 * SIZES[field.shape]}({names}{words}),'
        elif field.shape is not Shape.ADDRESSES:
            yield f'  ["{name}"] = ProtoField.bytes({names}),'
