"""The page of documentation of a table of binary messages: conversations, each message with bytes and fields. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from brokerweb.wirelab.binary.composing import allowed
from brokerweb.wirelab.binary.lab import BinaryLab
from overlay.core.binary import LENGTHS, SIZES, Field, Kind, Layout

ROW = 32
"""Bytes in a row of an example."""
_SIZED = {Kind.TEXT8: "length (1 byte), UTF-8", Kind.JSON16: "length (2 bytes), JSON", Kind.REST: "bytes to the end"}


def page(lab: BinaryLab, head: str, now_ms: int) -> str:
    """``head`` is the beginning of the page; examples are composed at ``now_ms``, Unix milliseconds."""
    return "\n".join([head, *_conversations(lab), *_overview(lab), *_messages(lab, now_ms)]) + "\n"


def _conversations(lab: BinaryLab) -> Iterator[str]:
    yield "## Conversations\n"
    for one in lab.conversations():
        yield f"### {one.title}\n"
        yield from ["```", *one.picture, "```", ""]


def _overview(lab: BinaryLab) -> Iterator[str]:
    yield "## All messages\n"
    yield "| kind | message | from, to | purpose |"
    yield "|---|---|---|---|"
    for layout in lab.format.layouts.values():
        link = f"[{layout.name}](#{layout.code}-{layout.name.lower()})"
        yield f"| {layout.code} | {link} | {layout.way} | {layout.purpose} |"
    yield ""


def _messages(lab: BinaryLab, now_ms: int) -> Iterator[str]:
    for layout in lab.format.layouts.values():
        yield f"## {layout.code} {layout.name}\n"
        way = f"{layout.way[0].upper()}{layout.way[1:]}."
        yield " ".join(filter(None, [way, layout.purpose, layout.changes])) + "\n"
        data = lab.compose(layout.code, {}, now_ms)
        yield from ["```", *(data[at : at + ROW].hex(" ") for at in range(0, len(data), ROW)), "```", ""]
        yield "| byte | field | type | values | unit | meaning |"
        yield "|---|---|---|---|---|---|"
        yield from _rows(lab, layout)
        yield ""


def _rows(lab: BinaryLab, layout: Layout) -> Iterator[str]:
    at: int | None = len(lab.format.magic) + 1
    for field in layout.fields:
        presence = f" Present only if {field.only_with[0]} is {field.only_with[1]}." if field.only_with else ""
        place = "…" if at is None else str(at)
        cells = [place, field.name, _type(field), allowed(field), field.unit, field.meaning + presence]
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
        size = SIZES.get(field.kind) or field.size
        if not field.only_with:
            at = at + size if at is not None and size and field.kind not in LENGTHS else None


def _type(field: Field) -> str:
    return f"{field.size} bytes" if field.kind is Kind.FIXED else _SIZED.get(field.kind, str(field.kind))
