"""One line that says what is in a datagram. Pure."""

from __future__ import annotations

from brokerweb.systems.contextnet.wirelab.dissecting import dissect
from brokerweb.systems.contextnet.wirelab.table import BY_CODE

SHOWN = {
    "HELLO": ("node", "epoch", "resume_cid", "wants"),
    "RETRY": ("cookie",),
    "ACCEPT": ("cid", "resumed", "window", "idle_s"),
    "REFUSE": ("code", "retry_after_s", "epoch"),
    "RESET": ("cid",),
}
OF_PACKETS = ("number", "ack", "flags", "sequence", "kind", "value", "data", "reason")
IN_WORDS = ("kind", "code", "reason", "flags")
KEPT = 6
"""Characters of a long value, at its beginning and at its end."""


def summary(data: bytes) -> str:
    """``DATA: number 3, ack 0, sequence 2, kind message``; of what cannot be read the digits."""
    found = dissect(data)
    if found.problems or found.layout is None:
        return data[:80].hex(" ")
    values = {one.name: one.words if one.name in IN_WORDS else one.text for one in found.segments}
    names = SHOWN.get(found.layout.name, OF_PACKETS)
    said = [f"{name} {_short(values[name])}" for name in names if name in values and values[name] != "none"]
    return f"{BY_CODE[found.layout.code].name}: {', '.join(said)}"


def _short(text: str) -> str:
    """Ids of workloads differ at their end, cookies at their beginning, too."""
    return f"{text[:KEPT]}…{text[-KEPT:]}" if len(text) > 2 * KEPT + 4 else text
