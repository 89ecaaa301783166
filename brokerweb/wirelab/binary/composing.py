"""A binary datagram from a form, with all errors at once, and the form of a datagram. Pure.

A number is decimal or hexadecimal (``0x2a``); a moment may be relative (``now-5min``). Bytes are hexadecimal digits.
The last field of a message is text, which the system compresses as the message says, or after ``0x`` its bytes as they
are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from brokerweb.wirelab.binary.dissecting import shown
from brokerweb.wirelab.lab import Blank, WrongFields
from brokerweb.wirelab.moments import from_now
from overlay.core.binary import SIZES, Field, Format, Kind, Layout, canonical, read_untrusted
from overlay.core.errors import InvalidSetting, WireError

EXTRA = "extra"
"""Raw bytes appended to the message."""
MESSAGE = "message"
"""The key of an error of the whole message."""
RAW = "0x"
MOST_CHARACTERS = 200_000
_MOMENTS = {"ns since 1970": 10**6, "ms since 1970": 1}
"""Units of moments, and how many are in a millisecond."""
_NUMBER = re.compile(r"[0-9]{1,20}|0[xX][0-9a-fA-F]{1,16}", re.ASCII)

Pack = Callable[[Field, bytes, Mapping[str, Any]], bytes]
"""Compress the last field as the other values of its message say."""


def layout_of(format: Format, code: int) -> Layout:
    """Raises ``InvalidSetting`` for an unknown code."""
    layout = format.layouts.get(code)
    if layout is None:
        raise InvalidSetting("code", f"no message has the kind {code}; see the list of all messages")
    return layout


def blanks(layout: Layout, given: Mapping[str, str]) -> list[Blank]:
    """The form of a message with given or default values."""
    made = [
        Blank(
            key=field.name,
            label=field.name,
            text=given.get(field.name, field.example),
            help=f"{field.meaning} {_allowed(field)}",
            lines=_lines(field),
            choices=tuple(map(str, field.choices)),
            unit=field.unit,
        )
        for field in layout.fields
    ]
    extra = "Hexadecimal digits, appended to the message unchanged, to make it invalid."
    return [*made, Blank(EXTRA, "Trailing bytes", given.get(EXTRA, ""), extra)]


def _lines(field: Field) -> int:
    return 4 if field.kind is Kind.REST else 2 if field.kind is Kind.JSON16 or field.size > 16 else 1


def allowed(field: Field) -> str:
    """The values of a field in words: a range, or each choice."""
    if field.choices:
        return _listed(field)
    if field.kind in SIZES:
        return f"0 to {2 ** (8 * SIZES[field.kind]) - 1:,}"
    return {
        Kind.FIXED: f"{field.size} bytes",
        Kind.TEXT8: "1 to 255 bytes of UTF-8",
        Kind.JSON16: f"a JSON object of 2 to {field.most:,} bytes",
        Kind.REST: "any bytes",
    }[field.kind]


def _listed(field: Field) -> str:
    words = field.words or ("",) * len(field.choices)
    return "; ".join(f"{value} {word}".rstrip() for value, word in zip(field.choices, words, strict=True))


def _allowed(field: Field) -> str:
    """As a sentence for a form."""
    said = allowed(field)
    if field.kind is Kind.FIXED:
        said += f", {2 * field.size} hexadecimal digits"
    if field.kind is Kind.REST:
        said = "text, or bytes as hexadecimal digits after 0x"
    if field.unit in _MOMENTS:
        said += "; or relative: now, now-5min"
    only = f" Present only if {field.only_with[0]} is {field.only_with[1]}." if field.only_with else ""
    return f"{said[0].upper()}{said[1:]}.{only}"


def compose(format: Format, code: int, given: Mapping[str, str], now_ms: int, pack: Pack) -> bytes:
    """The datagram. Missing values have their defaults; unknown names are refused.

    Raises ``InvalidSetting``, and ``WrongFields`` with all fields that are wrong.
    """
    layout = layout_of(format, code)
    form = blanks(layout, given)
    texts = {blank.key: blank.text for blank in form}
    errors = {name[:60]: f"{layout.name} has no such field" for name in given if name not in texts}
    values: dict[str, Any] = {}
    for field in layout.fields:
        if _is_absent(field, values):
            values[field.name] = layout.message._field_defaults[field.name]
            continue
        try:
            values[field.name] = _value(field, texts[field.name], now_ms, values, pack)
        except WireError as error:
            errors[field.name] = str(error)
    try:
        extra = _digits(texts[EXTRA])
    except WireError as error:
        errors[EXTRA] = str(error)
    if errors:
        raise WrongFields(errors)
    try:
        data = format.encode(layout.message(**values)) + extra
    except WireError as error:
        raise WrongFields({MESSAGE: str(error).removeprefix(f"{layout.short}: ")}) from None
    return data


def _is_absent(field: Field, values: Mapping[str, Any]) -> bool:
    if field.only_with is None or field.only_with[0] not in values:
        return False
    return bool(values[field.only_with[0]] != field.only_with[1])


def _value(field: Field, text: str, now_ms: int, values: Mapping[str, Any], pack: Pack) -> Any:
    """The value that was typed. Raises ``WireError``."""
    if len(text) > MOST_CHARACTERS:
        raise WireError(f"has {len(text):,} characters; at most {MOST_CHARACTERS:,} are read")
    if field.kind in SIZES:
        return _number(field, text, now_ms)
    if field.kind is Kind.FIXED:
        return _fixed(field, text)
    if field.kind is Kind.TEXT8:
        return _text(text)
    if field.kind is Kind.JSON16:
        return _object(text)
    if text.startswith(RAW):
        return _digits(text.removeprefix(RAW))
    return pack(field, _utf8(text), values)


def _number(field: Field, text: str, now_ms: int) -> int:
    moment = from_now(text, now_ms) if field.unit in _MOMENTS else None
    if moment is not None:
        return moment * _MOMENTS[field.unit]
    typed = text.strip()
    high = 2 ** (8 * SIZES[field.kind]) - 1
    value = int(typed, 16 if typed[:2] in ("0x", "0X") else 10) if _NUMBER.fullmatch(typed) else -1
    if not 0 <= value <= high:
        raise WireError(f"must be a whole number from 0 to {high:,}, not {text!r:.40}")
    if field.choices and value not in field.choices:
        raise WireError(f"must not be {value}; permitted are {_listed(field)}")
    return value


def _fixed(field: Field, text: str) -> bytes:
    data = _digits(text)
    if len(data) != field.size:
        raise WireError(f"has {len(data)} bytes; {field.size} are needed")
    return data


def _digits(text: str) -> bytes:
    try:
        return bytes.fromhex("".join(text.split()))
    except ValueError:
        raise WireError(f"must be hexadecimal digits, two for each byte, not {text!r:.40}") from None


def _text(text: str) -> str:
    size = len(_utf8(text))
    if not 1 <= size <= 255:
        raise WireError(f"has {size} bytes; 1 to 255 are permitted")
    return text


def _object(text: str) -> dict[str, Any]:
    value = read_untrusted(_utf8(text))
    if not isinstance(value, dict):
        raise WireError(f"must be a JSON object, not {text!r:.40}")
    if (size := len(canonical(value))) > 65_535:
        raise WireError(f"has {size:,} bytes; at most 65,535 are permitted")
    return value


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise WireError("contains an unpaired surrogate") from None


def given_of(format: Format, data: bytes, unpack: Callable[[Any], str], pack: Pack) -> dict[str, str]:
    """The form that composes ``data``; ``unpack`` is the text of the last field. Raises ``WireError``."""
    message = format.parse(data)
    layout = format.layouts[data[len(format.magic)]]
    values: dict[str, Any] = message._asdict()
    given = {field.name: shown(field, values[field.name]) for field in layout.fields if not _is_absent(field, values)}
    last = layout.fields[-1]
    if last.kind is Kind.REST:
        text = unpack(message)
        is_same = text.isprintable() and not text.startswith(RAW) and pack(last, text.encode(), values) == message[-1]
        given[last.name] = text if is_same else f"{RAW}{message[-1].hex()}"
    return given
