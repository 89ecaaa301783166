"""The messages of a table, for a lab of the channel. Pure."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from brokerweb.wirelab.channel.messages import Described, Messages
from brokerweb.wirelab.lab import Blank, Dissection
from brokerweb.wirelab.messagepack import composing, dissecting
from brokerweb.wirelab.messagepack.table import Table
from overlay.messages.errors import BadMessage
from overlay.messages.kinds import Kind


class PackedMessages(Messages):
    def __init__(self, table: Table) -> None:
        self.table = table

    @property
    def all(self) -> Collection[Described]:
        return self.table.described.values()

    def code_of(self, message: bytes) -> int | None:
        return self.table.code_of(message)

    def dissect(self, message: bytes, now_ms: int) -> Dissection:
        return dissecting.dissect(self.table, message, now_ms)

    def summary(self, message: bytes) -> str:
        """``LOOKUP: req 5, scope climate``; of what cannot be read the digits."""
        table, name = self.table, self.table.choice_of(message)
        try:
            found = table.codecs[name].parse(message)
        except BadMessage:
            return message[:80].hex(" ")
        layout = table.form_layouts(name)[table.codes[type(found)]]
        said = [
            f"{field.name} {self._short(field.kind, field.kind.write(getattr(found, field.name)))}"
            for field in layout.fields
            if field.name
        ]
        return f"{layout.name.upper()}: {', '.join(said)}"

    def blanks(self, code: int, given: Mapping[str, str]) -> list[Blank]:
        return composing.blanks(self.table, code, given)

    def compose(self, code: int, given: Mapping[str, str], now_ms: int) -> bytes:
        return composing.compose(self.table, code, given, now_ms)

    def given(self, message: bytes) -> Mapping[str, str] | None:
        try:
            return composing.given_of(self.table, message)
        except BadMessage:
            return None

    def _short(self, kind: Kind, value: Any) -> str:
        readable = self.table.readable(kind, value)
        return readable if isinstance(readable, str) else json.dumps(readable, ensure_ascii=False)
