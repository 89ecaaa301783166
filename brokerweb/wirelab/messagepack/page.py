"""The page of documentation of the messages: conversations, and each message with its bytes and fields. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from brokerweb.wirelab.lab import Conversation
from brokerweb.wirelab.messagepack.composing import compose, told
from brokerweb.wirelab.messagepack.table import Table
from overlay.messages.layouts import Layout

ROW = 32
"""Bytes in a row of an example."""
MOST_ROWS = 8


def page(table: Table, head: str, held: Sequence[Conversation], now_ms: int) -> str:
    """``head`` comes first; examples are composed at ``now_ms``."""
    return "\n".join([head, *_conversations(held), *_overview(table), *_messages(table, now_ms)]).rstrip() + "\n"


def _conversations(held: Sequence[Conversation]) -> Iterator[str]:
    yield "## Conversations\n"
    for one in held:
        yield f"### {one.title}\n"
        yield from ["```", *(row.rstrip() for row in one.picture), "```", ""]


def _overview(table: Table) -> Iterator[str]:
    yield "## All messages\n"
    yield "| kind | message | from, to | purpose |"
    yield "|---|---|---|---|"
    for layout in table.layouts.values():
        name = layout.name.upper()
        yield f"| {layout.code} | [{name}](#{layout.code}-{name.lower()}) | {layout.way} | {layout.purpose} |"
    yield ""


def _messages(table: Table, now_ms: int) -> Iterator[str]:
    for layout in table.layouts.values():
        yield f"## {layout.code} {layout.name.upper()}\n"
        yield f"{layout.way[0].upper()}{layout.way[1:]}. {layout.purpose}\n"
        data = compose(table, layout.code, {}, now_ms)
        rows = [data[at : at + ROW].hex(" ") for at in range(0, len(data), ROW)]
        if len(rows) > MOST_ROWS:
            rows[MOST_ROWS:] = [f"… {len(data)} bytes in all"]
        yield from ["```", *rows, "```", ""]
        yield "| field | type | meaning | example |"
        yield "|---|---|---|---|"
        yield from _rows(table, layout)
        yield ""


def _rows(table: Table, layout: Layout) -> Iterator[str]:
    for field in layout.fields:
        example = table.examples[layout.message].get(field.name, "")
        shown = f"`{example}`" if example else ""
        cells = [field.name or "padding", told(field.kind).rstrip("."), field.meaning, shown]
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
