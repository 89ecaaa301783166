"""Use cases of the wire lab, called by pages and REST."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.utils import timezone

from brokerweb.wirelab import exchanges, sending
from brokerweb.wirelab.hexview import TINTS, Row, rows
from brokerweb.wirelab.lab import Dissection, Lab, Message, Segment, Verdict
from overlay.core.node import SECOND

LONGEST_LINK = 2_000
"""Bytes of a datagram that an address carries."""
LONGEST_FORM = 6_000
"""Characters of a form that an address carries."""
CODE, FIELD_CODE = "code", "field-code"
"""In a form, the code of the message, and its field of this name if it has one."""
TEXT_SHOWN = 160
"""Characters of a field."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A datagram, its fields and a server's verdict."""

    lab: Lab
    dissection: Dissection
    verdict: Verdict

    @property
    def data(self) -> bytes:
        return self.dissection.data

    @property
    def layout(self) -> Message | None:
        return self.dissection.layout

    @property
    def name(self) -> str:
        return self.layout.name if self.layout else "No known message"

    @property
    def rows(self) -> list[Row]:
        return rows(self.dissection)

    @property
    def link(self) -> str:
        return link_of(self.data)

    @property
    def hex(self) -> str:
        return self.data.hex()

    @property
    def text(self) -> str:
        """As UTF-8, replacement characters where it is none."""
        return self.data.decode(errors="replace")

    @property
    def visible(self) -> str:
        """One line that says what is in it."""
        return visible(self.lab.summary(self.data))

    @property
    def form(self) -> str:
        return form_of(self.lab, self.data)

    @property
    def answers(self) -> list[str]:
        """What the server of the verdict sends back, a line each."""
        return [self.lab.summary(answer) for answer in self.verdict.answers]


def link_of(data: bytes) -> str:
    """The query of an address that shows it; empty of one that is too long for that."""
    return f"?d={data.hex()}" if len(data) <= LONGEST_LINK else ""


def form_of(lab: Lab, data: bytes) -> str:
    """The query of the form that composes it; empty if there is none, or it is too long."""
    given = lab.given(data)
    if given is None:
        return ""
    query = urlencode({CODE: lab.form_code(data), **{in_form(name): text for name, text in given.items()}})
    return f"?{query}" if len(query) <= LONGEST_FORM else ""


def in_form(key: str) -> str:
    """The name of a message's field in a form."""
    return FIELD_CODE if key == CODE else key


def in_message(name: str) -> str:
    """The field of a message with this name in a form."""
    return CODE if name == FIELD_CODE else name


def in_line(lab: Lab, data: bytes) -> dict[str, str]:
    """A datagram in a list, without a verdict."""
    return {
        "name": lab.name_of(data),
        "summary": visible(lab.summary(data)),
        "link": link_of(data),
        "form": form_of(lab, data),
    }


def visible(text: str) -> str:
    """With what does not print, or turns the writing round, spelled out."""
    return "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in text)


def now_ms() -> int:
    return int(timezone.now().timestamp() * 1000)


def decoded(lab: Lab, data: bytes) -> Decoded:
    """What is in ``data``, as of now."""
    now = now_ms()
    dissection = lab.decode(data, now)
    return Decoded(lab, dissection, lab.judge(dissection, now))


def examples(lab: Lab) -> list[dict[str, Any]]:
    """Every message as it is meant to be, with how to look at it."""
    now = now_ms()
    return [{"layout": layout, "link": f"?d={lab.compose(layout.code, {}, now).hex()}"} for layout in lab.messages]


def send(lab: Lab, kind: str, id: str, broker: int, data: bytes, person: int) -> dict[str, Any]:
    """Sends, and decodes what came back. Raises as ``sending.send`` does."""
    sent = sending.send(lab, kind, id, broker, data, person)
    answers = [{"after_us": one.after_us, "decoded": decoded(lab, one.data)} for one in sent.answers]
    return {"sent": sent, "answers": answers, "sentence": _sentence(lab, sent)}


def _sentence(lab: Lab, sent: sending.Sent) -> str:
    if sent.is_nobody_there:
        return f"No process uses this port; the {lab.server} may have ended since the last report."
    if not sent.answers:
        return f"No answer within {exchanges.WAIT / SECOND:g} s."
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
        "kind": str(segment.kind),
        "offset": segment.offset,
        "length": segment.length,
        "hex": data[segment.offset : segment.end].hex(),
        "text": text,
        "words": segment.words,
        "problem": segment.problem,
        "help": segment.help,
        "depth": segment.depth,
    }
