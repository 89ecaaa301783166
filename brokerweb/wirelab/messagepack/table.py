"""What a system declares of its messages in MessagePack. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from brokerweb.wirelab.channel.messages import Described
from brokerweb.wirelab.messagepack import places
from overlay.core.errors import WireError
from overlay.messages.codec import Codec
from overlay.messages.errors import BadMessage
from overlay.messages.kinds import Kind
from overlay.messages.layouts import Layout

OR_NIL = ", or nil"
"""What ``kinds.optional`` adds to the words of a kind."""


@dataclass(frozen=True, slots=True)
class Text:
    """How people write the values of a kind that MessagePack has as arrays or bytes."""

    parse: Callable[[str], Any]
    """As it is in the array of a message; raises ``BadMessage``."""
    format: Callable[[Any], str]
    """The inverse; raises ``WireError``, ``TypeError`` or ``ValueError`` for what is no such value."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Between codecs, in forms of messages with values that differ between them."""

    key: str
    label: str
    help: str
    kinds: Collection[str]
    """Words of the kinds that differ."""


def _as_is(text: str) -> str:
    return ""


@dataclass(frozen=True)
class Table:
    codecs: Mapping[str, Codec]
    """By the names of the choice; the first one is the default. All have the same messages."""
    examples: Mapping[type, Mapping[str, str]]
    """Of each message, the texts that its form begins with, by field."""
    harmless: Collection[type]
    """Messages that change nothing at a server."""
    changes: str
    """What the others change, as a sentence."""
    choice: Choice
    forms: Mapping[str, Codec] = field(default_factory=dict)
    """Whose kinds forms have; by default those of the codec itself."""
    texts: Mapping[str, Text] = field(default_factory=dict)
    """By the words of a kind."""
    values: Mapping[str, str] = field(default_factory=dict)
    """What values are called, by the words of their kinds without asterisks."""
    guess: Callable[[bytes], str] | None = None
    """The name of the likeliest codec of a message that none reads; by default the first."""
    indented: Callable[[str], str] = _as_is
    """The document that a text has inside, for reading; empty if it has none."""
    inside: str = ""
    """What the dissector for Wireshark calls such documents."""

    @property
    def default(self) -> str:
        return next(iter(self.codecs))

    @cached_property
    def layouts(self) -> dict[int, Layout]:
        """By code, of the default."""
        return self.layouts_of(self.codecs[self.default])

    def layouts_of(self, codec: Codec) -> dict[int, Layout]:
        return self._by_codec[codec]

    def form_layouts(self, name: str) -> dict[int, Layout]:
        """Of the form for this choice."""
        return self.layouts_of(self.forms.get(name) or self.codecs[name])

    @cached_property
    def _by_codec(self) -> dict[Codec, dict[int, Layout]]:
        codecs = (*self.codecs.values(), *self.forms.values())
        return {codec: {layout.code: layout for layout in codec.layouts} for codec in codecs}

    @cached_property
    def codes(self) -> dict[type, int]:
        return {layout.message: layout.code for layout in self.layouts.values()}

    @cached_property
    def described(self) -> dict[int, Described]:
        """By code."""
        return {
            layout.code: Described(
                layout.code,
                layout.name.upper(),
                layout.way,
                layout.purpose,
                "" if layout.message in self.harmless else self.changes,
            )
            for layout in self.layouts.values()
        }

    def choice_of(self, message: bytes) -> str:
        """The name of the first codec that reads it, or the likeliest one."""
        for name, codec in self.codecs.items():
            try:
                codec.parse(message)
            except BadMessage:
                continue
            return name
        return self.default if self.guess is None else self.guess(message)

    def codec_of(self, message: bytes) -> Codec:
        return self.codecs[self.choice_of(message)]

    def code_of(self, message: bytes) -> int | None:
        """The code that it begins with; ``None`` if it is none of a message."""
        first = message[0] if message else 0
        at = 1 if 0x90 < first < 0xA0 else {0xDC: 3, 0xDD: 5}.get(first, 0)
        code = places.read(message[at : at + 9]).value if at else None
        return code if type(code) is int and code in self.layouts else None

    def text_of(self, kind: Kind) -> Text | None:
        return self.texts.get(words_of(kind))

    def formatted(self, kind: Kind, value: Any) -> str | None:
        """A value as people write it; ``None`` if it is none that has a text."""
        text = self.text_of(kind)
        if text is None:
            return None
        try:
            return text.format(value)
        except (WireError, TypeError, ValueError):
            return None

    def readable(self, kind: Kind, value: Any) -> Any:
        """A value of a message as JSON, with texts where there are any."""
        if (text := self.formatted(kind, value)) is not None:
            return text
        if isinstance(value, list | tuple) and kind.each is not None:
            return [self.readable(kind.each, one) for one in value]
        if isinstance(value, list | tuple) and len(value) == len(kind.parts):
            return [self.readable(part, one) for (_, part), one in zip(kind.parts, value, strict=True)]
        return value


def words_of(kind: Kind) -> str:
    """Those of the value itself where it may be nil, too."""
    return kind.words.removesuffix(OR_NIL)
