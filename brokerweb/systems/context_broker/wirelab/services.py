"""Use cases of the wire lab, called by pages and REST."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from brokerweb.systems.context_broker.wirelab import composing, sending
from brokerweb.systems.context_broker.wirelab.dissecting import Dissection, Segment, dissect
from brokerweb.systems.context_broker.wirelab.hexview import TINTS, Row, rows
from brokerweb.systems.context_broker.wirelab.verdicts import Verdict, judge
from overlay.systems.context_broker.wire.kinds import Layout
from overlay.systems.context_broker.wire.table import LAYOUTS

LONGEST_LINK = 2_000
"""Bytes of a datagram that an address carries."""
TEXT_SHOWN = 160
"""Characters of a field."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A datagram, its fields and a broker's verdict."""

    dissection: Dissection
    verdict: Verdict

    @property
    def data(self) -> bytes:
        return self.dissection.data

    @property
    def layout(self) -> Layout | None:
        return self.dissection.layout

    @property
    def name(self) -> str:
        return self.layout.name if self.layout else "No known message"

    @property
    def rows(self) -> list[Row]:
        return rows(self.dissection)

    @property
    def link(self) -> str:
        """The query of an address that shows it; empty of one that is too long for that."""
        return f"?d={self.data.hex()}" if len(self.data) <= LONGEST_LINK else ""

    @property
    def hex(self) -> str:
        return self.data.hex()

    @property
    def text(self) -> str:
        """As UTF-8, replacement characters where it is none."""
        return self.data.decode(errors="replace")

    @property
    def visible(self) -> str:
        return visible(self.text)

    @property
    def answers(self) -> list[str]:
        """What the broker of the verdict sends back, as text."""
        return [answer.decode(errors="replace") for answer in self.verdict.answers]


def visible(text: str) -> str:
    """With what does not print, or turns the writing round, spelled out."""
    return "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in text)


def now_ms() -> int:
    return int(timezone.now().timestamp() * 1000)


def decoded(data: bytes) -> Decoded:
    """What is in ``data``, as of now."""
    now = now_ms()
    dissection = dissect(data, now)
    return Decoded(dissection, judge(dissection, now))


def examples() -> list[dict[str, Any]]:
    """Every message as it is meant to be, with how to look at it."""
    now = now_ms()
    return [
        {"layout": layout, "text": data.decode(), "link": f"?d={data.hex()}"}
        for layout in LAYOUTS.values()
        for data in (composing.example(layout, now),)
    ]


def send(kind: str, id: str, broker: int, data: bytes, person: int) -> dict[str, Any]:
    """Sends, and decodes what came back. Raises as ``sending.send`` does."""
    sent = sending.send(kind, id, broker, data, person)
    answers = [{"after_us": one.after_us, "decoded": decoded(one.data)} for one in sent.answers]
    return {"sent": sent, "answers": answers, "sentence": _sentence(sent)}


def _sentence(sent: sending.Sent) -> str:
    if sent.is_nobody_there:
        return "No process uses this port; the broker may have ended since the last report."
    if not sent.answers:
        return f"No answer within {sending.WAIT_NS / 10**9:g} s."
    if sent.is_cut:
        return f"The first {sending.MOST_ANSWERS} answers; there were more."
    return f"{len(sent.answers)} answer{'' if len(sent.answers) == 1 else 's'}."


def field_row(number: int, segment: Segment, data: bytes) -> dict[str, Any]:
    """A field as a table and REST show it."""
    text = visible(segment.text[:TEXT_SHOWN]) + ("…" if len(segment.text) > TEXT_SHOWN else "")
    return {
        "number": number,
        "tint": number % TINTS,
        "name": segment.name,
        "kind": segment.kind.value,
        "offset": segment.offset,
        "length": segment.length,
        "hex": data[segment.offset : segment.end].hex(),
        "text": text,
        "words": segment.words,
        "problem": segment.problem,
        "help": segment.help,
        "depth": segment.depth,
    }
