"""The reference of messages in the documentation is that of the code."""

from pathlib import Path

from overlay.systems.federation.language.tree import OPERATORS
from overlay.systems.federation.wire.codec import CODEC

PAGE = Path(__file__).resolve().parents[2] / "docs" / "federation.md"


def row(layout):
    fields = ", ".join(f"`{one.name}` {one.kind.words}" if one.name else one.kind.words for one in layout.fields)
    return f"| {layout.code} | {layout.name.upper()} | {layout.way} | {layout.purpose} | {fields} |"


def test_every_message_and_operator_is_described():
    text = PAGE.read_text()
    assert [row(layout) for layout in CODEC.layouts if row(layout) not in text] == []
    assert [operator for operator in OPERATORS if f"`{operator}`" not in text] == []
