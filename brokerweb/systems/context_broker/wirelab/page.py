"""``docs/wire.md``: every message with its bytes, fields and conversations, made from the table. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from brokerweb.systems.context_broker.wirelab.composing import example
from brokerweb.systems.context_broker.wirelab.conversations import NOW, held
from brokerweb.systems.context_broker.wirelab.dissecting import Segment, dissect
from overlay.systems.context_broker.wire.kinds import FORMATS, MAX_DATAGRAM, TAIL_PRESENCE, Layout
from overlay.systems.context_broker.wire.messages import Status
from overlay.systems.context_broker.wire.table import LAYOUTS

HEAD = f"""\
# Messages of the context broker

Made from the code by `python -m brokerweb.systems.context_broker.wirelab`; a test compares the two. The messages are
described in `overlay/systems/context_broker/wire/table.py`, from which the parser, the encoder, [the wire
lab](wire-lab.md) and the dissector for Wireshark are made as well. How brokers use the messages from 16 up is in
[extensions.md](extensions.md).

One message is one UDP datagram of UTF-8 text, at most {MAX_DATAGRAM:,} bytes. Its fields are separated by `|`; none is
empty. Integers are decimal without sign or leading zeros. A payload is taken by its size, so it may contain `|`. A
message that cannot be read gets NACK 301, or nothing where it is an answer.
"""


def page() -> str:
    return "\n".join([HEAD, *_conversations(), *_overview(), *_statuses(), *_messages()]) + "\n"


def _conversations() -> Iterator[str]:
    yield "## Conversations\n"
    yield "Between real brokers. `t` is the present time; A, B and D are addresses of brokers, C of the consumer,"
    yield "P of the provider and K of the controller.\n"
    for title, picture in held():
        yield f"### {title}\n"
        yield from ["```", *picture, "```", ""]


def _overview() -> Iterator[str]:
    yield "## All messages\n"
    yield "| code | message | from, to | purpose | known with |"
    yield "|---|---|---|---|---|"
    for layout in LAYOUTS.values():
        link = f"[{layout.name}](#{layout.code}-{layout.name.lower()})"
        yield f"| {layout.code} | {link} | {layout.way} | {layout.purpose} | {_needs(layout)} |"
    yield ""


def _needs(layout: Layout) -> str:
    return ", ".join(f"`{name}` {_wanted(value)}" for name, value in layout.needs.items())


def _wanted(value: int | bool | str) -> str:
    return "on" if value is True else "above 0" if isinstance(value, int) else f"is `{value}`"


def _statuses() -> Iterator[str]:
    yield "## Status codes\n"
    yield ", ".join(f"{status:d} `{status.name}`" for status in Status) + ".\n"


def _messages() -> Iterator[str]:
    for layout in LAYOUTS.values():
        yield f"## {layout.code} {layout.name}\n"
        yield " ".join(filter(None, [f"{layout.way.capitalize()}.", layout.purpose, layout.changes])) + "\n"
        data = example(layout, NOW)
        yield from ["```", data.decode(), "```", ""]
        yield "| bytes | field | type | size | unit | meaning |"
        yield "|---|---|---|---|---|---|"
        yield from (_row(one) for one in dissect(data, NOW).fields if not one.depth)
        yield f"\n{TAIL_PRESENCE[layout.tail] or 'Every field is required; nothing follows.'}\n"


def _row(one: Segment) -> str:
    form = FORMATS[one.kind]
    kind = f"`{form.prefix.strip()}` and a {form.type}" if form.prefix else form.type
    cells = [
        f"{one.offset}" if one.length == 1 else f"{one.offset}–{one.end - 1}",
        one.name,
        kind,
        form.size,
        form.unit,
        one.help,
    ]
    return "| " + " | ".join(cell.replace("|", "\\|").replace("*", "\\*") for cell in cells) + " |"
