"""The messages of the federation, for a lab of the channel. Pure."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from brokerweb.systems.federation.wirelab import composing, dissecting
from brokerweb.systems.federation.wirelab.dissecting import LAYOUTS, codec_of
from brokerweb.wirelab.channel.messages import Described, Messages
from brokerweb.wirelab.lab import Blank, Dissection
from overlay.messages.errors import BadMessage
from overlay.messages.kinds import Kind
from overlay.systems.federation.language.text import formatted
from overlay.systems.federation.language.tree import read
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.composites import EXPRESSION

_ASKING = (
    m.KeepAlive,
    m.Lookup,
    m.Found,
    m.Query,
    m.Answer,
    m.Tables,
    m.Find,
    m.Discover,
    m.Here,
    m.Ack,
    m.Nack,
    m.Link,
)
"""These change no table of a server."""
_CHANGES = "It changes what the servers of the network know."
DESCRIBED = {
    layout.code: Described(
        layout.code,
        layout.name.upper(),
        layout.way,
        layout.purpose,
        "" if layout.message in _ASKING else _CHANGES,
    )
    for layout in LAYOUTS.values()
}


class FederationMessages(Messages):
    @property
    def all(self) -> Collection[Described]:
        return DESCRIBED.values()

    def code_of(self, message: bytes) -> int | None:
        return dissecting.code_of(message)

    def dissect(self, message: bytes, now_ms: int) -> Dissection:
        return dissecting.dissect(message, now_ms, DESCRIBED)

    def summary(self, message: bytes) -> str:
        """``LOOKUP: req 5, scope climate``; of what cannot be read the digits."""
        try:
            found = codec_of(message).parse(message)
        except BadMessage:
            return message[:80].hex(" ")
        layout = LAYOUTS[composing.message_code(found)]
        said = [
            f"{field.name} {_short(field.kind, field.kind.write(getattr(found, field.name)))}"
            for field in layout.fields
            if field.name
        ]
        return f"{layout.name.upper()}: {', '.join(said)}"

    def blanks(self, code: int, given: Mapping[str, str]) -> list[Blank]:
        return composing.blanks(code, given)

    def compose(self, code: int, given: Mapping[str, str], now_ms: int) -> bytes:
        return composing.compose(code, given, now_ms)

    def given(self, message: bytes) -> Mapping[str, str] | None:
        try:
            return composing.given_of(message)
        except BadMessage:
            return None


def _short(kind: Kind, value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(_readable(kind, value), ensure_ascii=False)


def _readable(kind: Kind, value: Any) -> Any:
    """With expressions as texts."""
    if kind is EXPRESSION:
        return formatted(read(value))
    if isinstance(value, list | tuple) and kind.each is not None:
        return [_readable(kind.each, one) for one in value]
    if isinstance(value, list | tuple) and len(value) == len(kind.parts):
        return [_readable(part, one) for (_, part), one in zip(kind.parts, value, strict=True)]
    return value
