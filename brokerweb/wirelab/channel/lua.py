"""The dissector for Wireshark of a system on the channel: the channel's part, and the system's. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from brokerweb.wirelab.channel.table import FORMAT, MESSAGE
from overlay.channel.wire import DATA
from overlay.core.binary import Layout

ENGINE = Path(__file__).with_name("dissector.lua")
"""What is the same for every system."""
HEAD_FIELDS = 5
"""Of each layout: the fields of the head."""
_PARTS = {"incarnation": "number", "unknown": "number", "nonce": "number", "id": "id", "padding": "padding"}


def script(key: str, title: str, messages: str) -> str:
    """``messages`` defines ``read(tvb, tree)``, with fields in ``f`` whose names begin with ``key``."""
    parts = {
        "MESSAGES": messages,
        "KEY": key,
        "TITLE": title,
        "KINDS": ", ".join(f'[{one.code}] = "{one.short}"' for one in FORMAT.layouts.values()),
        "BODIES": "\n".join(f'  [{one.code}] = "{" ".join(_parts(one))}",' for one in FORMAT.layouts.values()),
        "DATA": str(DATA),
    }
    made = ENGINE.read_text()
    for name, text in parts.items():
        made = made.replace(f"@{name}@", text)
    return made


def _parts(layout: Layout) -> Iterator[str]:
    for field in layout.fields[HEAD_FIELDS:]:
        yield "message" if field.name == MESSAGE else _PARTS.get(field.name, field.name)
