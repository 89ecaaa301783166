"""A message from a form, with all errors at once, and the form of a message. Pure.

A field is JSON, as in the array of the message, or a text as it is. In it, a time may be relative (``"now+60s"``), and
what has a text in the table may be one (``"temperature > 25"``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from brokerweb.wirelab.lab import Blank, WrongFields
from brokerweb.wirelab.messagepack.table import Table, words_of
from brokerweb.wirelab.moments import from_now
from overlay.core.errors import InvalidSetting, WireError
from overlay.core.untrusted import Unreadable, read_json
from overlay.messages.errors import BadMessage
from overlay.messages.kinds import TIME, Kind
from overlay.messages.layouts import Field, Layout

EXTRA = "extra"
"""The key of raw bytes behind the message."""
MESSAGE = "message"
"""The key of an error of the whole message."""
MOST_CHARACTERS = 200_000


def _layout_of(table: Table, code: int, choice: str) -> Layout:
    """Of the form. Raises ``InvalidSetting`` for an unknown code."""
    layout = table.form_layouts(choice if choice in table.codecs else table.default).get(code)
    if layout is None:
        raise InvalidSetting("code", f"no message has the kind {code}; see the list of all messages")
    return layout


def blanks(table: Table, code: int, given: Mapping[str, str]) -> list[Blank]:
    """The form of a message with given or default texts."""
    choice = table.choice
    chosen = given.get(choice.key, table.default)
    layout = _layout_of(table, code, chosen)
    examples = table.examples[layout.message]
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
    if any(_differs(table, field.kind) for field in _layout_of(table, code, table.default).fields):
        made.append(Blank(choice.key, choice.label, chosen, choice.help, choices=tuple(table.codecs)))
    help = "Hexadecimal digits, appended to the message unchanged, to make it invalid."
    return [*made, Blank(EXTRA, "Trailing bytes", given.get(EXTRA, ""), help)]


def _differs(table: Table, kind: Kind) -> bool:
    """Whether codecs have it differently."""
    inner = [kind.each] if kind.each else [part for _, part in kind.parts]
    return words_of(kind) in table.choice.kinds or any(_differs(table, one) for one in inner)


def told(kind: Kind) -> str:
    """The type of a field as a sentence, with the names of elements."""
    words = kind.words.replace("*", "").replace("^", " to the power of ")
    listed = kind.each or kind
    if listed.parts and "[" not in words:
        words += f": {'each ' if kind.each else ''}[{', '.join(name for name, _ in listed.parts)}]"
    return f"{words[0].upper()}{words[1:]}."


def compose(table: Table, code: int, given: Mapping[str, str], now_ms: int) -> bytes:
    """The message. Missing values have their defaults; unknown names are refused.

    Raises ``InvalidSetting``, and ``WrongFields`` with all fields that are wrong.
    """
    choice = given.get(table.choice.key, table.default)
    layout = _layout_of(table, code, choice)
    texts = {blank.key: blank.text for blank in blanks(table, code, given)}
    errors = {name[:60]: f"{layout.name.upper()} has no such field" for name in given if name not in texts}
    values: dict[str, Any] = {}
    for field in layout.fields:
        if field.name:
            try:
                values[field.name] = _value(table, field, texts[field.name], now_ms)
            except WireError as error:
                errors[field.name] = getattr(error, "sentence", str(error))
    if choice not in table.codecs:
        errors[table.choice.key] = f"must be one of {', '.join(table.codecs)}, not {choice!r:.40}"
    try:
        extra = bytes.fromhex("".join(texts[EXTRA].split()))
    except ValueError:
        errors[EXTRA] = f"must be hexadecimal digits, two for each byte, not {texts[EXTRA]!r:.40}"
    if errors:
        raise WrongFields(errors)
    try:
        return table.codecs[choice].encode((layout.make or layout.message)(*values.values())) + extra
    except BadMessage as error:
        raise WrongFields({MESSAGE: error.sentence}) from None


def _value(table: Table, field: Field, text: str, now_ms: int) -> Any:
    """What was typed. Raises ``WireError``."""
    if len(text) > MOST_CHARACTERS:
        raise WireError(f"has {len(text):,} characters; at most {MOST_CHARACTERS:,} are read")
    kind, typed = field.kind, text.strip()
    try:
        return kind.read(text if typed else None)
    except BadMessage:
        pass
    try:
        value = read_json(typed) if typed and not _is_text(table, kind, typed) else text
    except Unreadable as error:
        if kind.parts or kind.each:
            raise WireError(f"is no JSON: {error}") from None
        value = text
    return kind.read(_converted(table, kind, value, now_ms))


def _is_text(table: Table, kind: Kind, typed: str) -> bool:
    """Whether it is read as a text, not as JSON."""
    return table.text_of(kind) is not None and typed[0] not in '["'


def _converted(table: Table, kind: Kind, value: Any, now_ms: int) -> Any:
    """With times and texts as they are in messages."""
    if isinstance(value, str):
        if kind is TIME:
            moment = from_now(value, now_ms)
            return value if moment is None else moment
        text = table.text_of(kind)
        return value if text is None else text.parse(value)
    if isinstance(value, list) and kind.each is not None:
        return [_converted(table, kind.each, one, now_ms) for one in value]
    if isinstance(value, list) and len(value) == len(kind.parts):
        return [_converted(table, part, one, now_ms) for (_, part), one in zip(kind.parts, value, strict=True)]
    return value


def given_of(table: Table, message: bytes) -> dict[str, str]:
    """The form that composes it. Raises ``BadMessage``."""
    choice = table.choice_of(message)
    read = table.codecs[choice].parse(message)
    layout = _layout_of(table, table.codes[type(read)], choice)
    given = {
        field.name: _text(table, field.kind, field.kind.write(getattr(read, field.name)))
        for field in layout.fields
        if field.name
    }
    if choice != table.default:
        given[table.choice.key] = choice
    return given


def _text(table: Table, kind: Kind, value: Any) -> str:
    """A text as it is, where that is read as this text; all else as JSON."""
    if value is None:
        return ""
    if isinstance(value, str) and (value.strip() or not value) and _reads_as(kind, value):
        return value
    readable = table.readable(kind, value)
    if isinstance(readable, str) and not isinstance(value, str) and _is_text(table, kind, readable):
        return readable
    return json.dumps(readable, ensure_ascii=False)


def _reads_as(kind: Kind, text: str) -> bool:
    try:
        return bool(kind.read(text if text else None) == text) if text else kind.read("") == ""
    except BadMessage:
        return False
