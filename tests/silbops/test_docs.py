"""The reference of messages in the documentation is that of the code."""

from pathlib import Path

from overlay.systems.silbops.content.constraints import OPERATORS
from overlay.systems.silbops.wire.codec import SILBOPS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "silbops.md"


def row(layout):
    fields = ", ".join(f"`{one.name}` {one.kind.words}" for one in layout.fields)
    return f"| {layout.code} | {layout.name.upper()} | {layout.way} | {layout.purpose} | {fields} |"


def test_every_message_and_operator_is_described():
    text = PAGE.read_text()
    assert [row(layout) for layout in SILBOPS.layouts if row(layout) not in text] == []
    assert [operator for operator in OPERATORS if operator not in text] == []
