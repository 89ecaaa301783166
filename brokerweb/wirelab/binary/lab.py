"""The wire lab of a system with a table of binary messages. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from brokerweb.wirelab.binary import composing, dissecting
from brokerweb.wirelab.lab import Blank, Dissection, Lab, Message
from brokerweb.wirelab.moments import date_of, distance
from brokerweb.wirelab.pasted import BASE64, DUMP, HEX
from overlay.core.binary import Field, Format, Kind
from overlay.core.errors import WireError

MOST_SUMMARY = 24
"""Characters of a long value in a summary."""


class BinaryLab(Lab):
    """Subclasses override what only the system knows."""

    format: Format
    forms = (HEX, DUMP, BASE64)
    text_help = (
        "As hexadecimal digits, as a dump of <code>hexdump -C</code>, <code>xxd</code>, <code>tcpdump -X</code> or "
        "Wireshark, or as Base64."
    )
    compose_help = (
        "Numbers are decimal, or hexadecimal after <code>0x</code>. To send an invalid message, add trailing bytes, or "
        "edit the digits of a message and decode them."
    )

    # ---- what a system may know

    def pack(self, field: Field, data: bytes, values: Mapping[str, Any]) -> bytes:
        """Compress the last field as the other values of its message say."""
        return data

    def inside(self, message: Any) -> str:
        """The text of what the last field holds; empty if it is none."""
        return message[-1].decode(errors="replace") if isinstance(message[-1], bytes) else ""

    def explain(self, field: Field, value: Any) -> str:
        """What a value means, if the table does not say."""
        return ""

    # ---- a lab

    @property
    def messages(self) -> Collection[Message]:
        return self.format.layouts.values()

    def decode(self, data: bytes, now_ms: int) -> Dissection:
        return dissecting.dissect(self.format, data, now_ms, self.words, self.inside)

    def blanks(self, code: int, given: Mapping[str, str]) -> list[Blank]:
        return composing.blanks(composing.layout_of(self.format, code), given)

    def compose(self, code: int, given: Mapping[str, str], now_ms: int) -> bytes:
        return composing.compose(self.format, code, given, now_ms, self.pack)

    def code_of(self, data: bytes) -> int | None:
        layout = self.format.layout_of(data)
        return layout.code if layout else None

    def given(self, data: bytes) -> Mapping[str, str] | None:
        try:
            return composing.given_of(self.format, data, self.inside, self.pack)
        except WireError:
            return None

    def summary(self, data: bytes) -> str:
        """``REGISTERED: req 1, code 0 ok, epoch 1``; of what cannot be read the digits."""
        given, layout = self.given(data), self.format.layout_of(data)
        if given is None or layout is None:
            return data[:80].hex(" ")
        said = [
            f"{field.name} {self._short(field, given[field.name])}" for field in layout.fields if field.name in given
        ]
        return f"{layout.name}: {', '.join(said)}"

    def words(self, field: Field, value: Any, now_ms: int) -> str:
        if field.words:
            return field.words[field.choices.index(value)]
        if field.unit == "ns since 1970":
            return f"{date_of(value // 10**6)}, {distance(value // 10**6, now_ms)}"
        explained = self.explain(field, value)
        return explained or (f"{value} {field.unit}" if field.unit else "")

    def _short(self, field: Field, text: str) -> str:
        if field.words:
            return f"{text} {field.words[field.choices.index(int(text))]}"
        is_long = len(text) > MOST_SUMMARY and field.kind is not Kind.REST
        return f"{text[:MOST_SUMMARY]}…" if is_long else text
