"""A message from a form, with all errors at once, and the form of a message. Pure.

A field is JSON, as in the array of the message, or a text as it is. In it, a time may be relative (``"now+60s"``), and
an expression may be a text of the language (``"temperature > 25"``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from brokerweb.systems.federation.wirelab.dissecting import LAYOUTS, codec_of
from brokerweb.systems.federation.wirelab.examples import EXAMPLES
from brokerweb.wirelab.lab import Blank, WrongFields
from brokerweb.wirelab.moments import from_now
from overlay.core.errors import InvalidSetting, WireError
from overlay.core.settings import InvalidText
from overlay.core.untrusted import Unreadable, read_json
from overlay.messages.errors import BadMessage, Reason
from overlay.messages.kinds import TIME, Kind
from overlay.messages.layouts import Field, Layout
from overlay.systems.federation.contextml.encoding import CONTEXTML
from overlay.systems.federation.language.text import parse as parse_expression
from overlay.systems.federation.language.tree import written
from overlay.systems.federation.wire.codec import CODEC
from overlay.systems.federation.wire.composites import ADVERTISEMENT, EXPRESSION, SUBSCRIPTION
from overlay.systems.federation.wire.notes import NOTIFICATION

ENCODING, EXTRA = "encoding", "extra"
"""Of the values, and raw bytes behind the message."""
MESSAGE = "message"
"""The key of an error of the whole message."""
MSGPACK = "msgpack"
CODECS = {MSGPACK: CODEC, "contextml": CONTEXTML}
MOST_CHARACTERS = 200_000
_VALUES = (SUBSCRIPTION, NOTIFICATION, ADVERTISEMENT)


def layout_of(code: int) -> Layout:
    """Raises ``InvalidSetting`` for an unknown code."""
    layout = LAYOUTS.get(code)
    if layout is None:
        raise InvalidSetting("code", f"no message has the kind {code}; see the list of all messages")
    return layout


def blanks(code: int, given: Mapping[str, str]) -> list[Blank]:
    """The form of a message with given or default texts."""
    layout = layout_of(code)
    examples = EXAMPLES[layout.message]
    made = [
        Blank(
            key=field.name,
            label=field.name,
            text=given.get(field.name, examples[field.name]),
            help=f"{field.meaning} {told(field.kind)}",
            lines=3 if field.kind.parts or field.kind.each else 1,
        )
        for field in layout.fields
        if field.name
    ]
    if any(_has_values(field.kind) for field in layout.fields):
        help = "Of subscriptions, notifications and advertisements: binary, or as XML."
        made.append(Blank(ENCODING, "Encoding", given.get(ENCODING, MSGPACK), help, choices=tuple(CODECS)))
    help = "Hexadecimal digits, appended to the message unchanged, to make it invalid."
    return [*made, Blank(EXTRA, "Trailing bytes", given.get(EXTRA, ""), help)]


def _has_values(kind: Kind) -> bool:
    inner = [kind.each] if kind.each else [part for _, part in kind.parts]
    return kind in _VALUES or any(map(_has_values, inner))


def told(kind: Kind) -> str:
    """The type of a field as a sentence, with the names of elements."""
    words = kind.words.replace("*", "").replace("^", " to the power of ")
    listed = kind.each or kind
    if listed.parts and "[" not in words:
        words += f": {'each ' if kind.each else ''}[{', '.join(name for name, _ in listed.parts)}]"
    return f"{words[0].upper()}{words[1:]}."


def compose(code: int, given: Mapping[str, str], now_ms: int) -> bytes:
    """The message. Missing values have their defaults; unknown names are refused.

    Raises ``InvalidSetting``, and ``WrongFields`` with all fields that are wrong.
    """
    layout = layout_of(code)
    texts = {blank.key: blank.text for blank in blanks(code, given)}
    errors = {name[:60]: f"{layout.name.upper()} has no such field" for name in given if name not in texts}
    values: dict[str, Any] = {}
    for field in layout.fields:
        if field.name:
            try:
                values[field.name] = _value(field, texts[field.name], now_ms)
            except WireError as error:
                errors[field.name] = getattr(error, "sentence", str(error))
    encoding = texts.get(ENCODING, MSGPACK)
    if encoding not in CODECS:
        errors[ENCODING] = f"must be one of {', '.join(CODECS)}, not {encoding!r:.40}"
    try:
        extra = bytes.fromhex("".join(texts[EXTRA].split()))
    except ValueError:
        errors[EXTRA] = f"must be hexadecimal digits, two for each byte, not {texts[EXTRA]!r:.40}"
    if errors:
        raise WrongFields(errors)
    try:
        return CODECS[encoding].encode(layout.message(**values)) + extra
    except BadMessage as error:
        raise WrongFields({MESSAGE: error.sentence}) from None


def _value(field: Field, text: str, now_ms: int) -> Any:
    """What was typed. Raises ``WireError``."""
    if len(text) > MOST_CHARACTERS:
        raise WireError(f"has {len(text):,} characters; at most {MOST_CHARACTERS:,} are read")
    kind, typed = field.kind, text.strip()
    try:
        return kind.read(text if typed else None)
    except BadMessage:
        pass
    try:
        value = read_json(typed) if typed else ""
    except Unreadable as error:
        if kind.parts or kind.each:
            raise WireError(f"is no JSON: {error}") from None
        value = text
    return kind.read(_converted(kind, value, now_ms))


def _converted(kind: Kind, value: Any, now_ms: int) -> Any:
    """With times and expressions as they are in messages."""
    if isinstance(value, str):
        if kind is TIME:
            moment = from_now(value, now_ms)
            return value if moment is None else moment
        return _expression(value) if kind is EXPRESSION else value
    if isinstance(value, list) and kind.each is not None:
        return [_converted(kind.each, one, now_ms) for one in value]
    if isinstance(value, list) and len(value) == len(kind.parts):
        return [_converted(part, one, now_ms) for (_, part), one in zip(kind.parts, value, strict=True)]
    return value


def _expression(text: str) -> list[Any]:
    try:
        return written(parse_expression(text))
    except InvalidText as error:
        raise BadMessage(Reason.EXPRESSION, f"{error.sentence}, at character {error.at + 1}") from None


def given_of(message: bytes) -> dict[str, str]:
    """The form that composes it. Raises ``BadMessage``."""
    codec = codec_of(message)
    read = codec.parse(message)
    layout = LAYOUTS[message_code(read)]
    given = {
        field.name: _text(field.kind, field.kind.write(getattr(read, field.name)))
        for field in layout.fields
        if field.name
    }
    if codec is CONTEXTML:
        given[ENCODING] = "contextml"
    return given


def message_code(message: Any) -> int:
    """Of a message that was read."""
    return _CODES[type(message)]


def _text(kind: Kind, value: Any) -> str:
    """A text as it is, where that is read as this text; all else as JSON."""
    if value is None:
        return ""
    if isinstance(value, str) and (value.strip() or not value) and _reads_as(kind, value):
        return value
    return json.dumps(value, ensure_ascii=False)


def _reads_as(kind: Kind, text: str) -> bool:
    try:
        return bool(kind.read(text if text else None) == text) if text else kind.read("") == ""
    except BadMessage:
        return False


_CODES = {layout.message: layout.code for layout in LAYOUTS.values()}
