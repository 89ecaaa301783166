"""A datagram from a form, with all errors at once, and the form of a datagram. Pure.

A number is decimal, or hexadecimal after ``0x``; bytes are hexadecimal digits; gateways are ``host:port``, by commas. A
proof or a tag that is left empty is computed with the key of the form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from brokerweb.systems.contextnet.wirelab.dissecting import dissect
from brokerweb.systems.contextnet.wirelab.table import (
    BY_CODE,
    ECHO,
    SIZES,
    TAG_BYTES,
    Field,
    Frame,
    Shape,
    first_byte,
)
from brokerweb.wirelab.lab import Blank, WrongFields
from overlay.core.addresses import Address, parse_address
from overlay.core.errors import InvalidSetting, WireError
from overlay.systems.contextnet.transport import layouts, secrets
from overlay.systems.contextnet.transport.layouts import COOKIE_BYTES, HELLO_BYTES, MOST_ADDRESSES, PROOF_BYTES, Type
from overlay.systems.contextnet.transport.packets import Flags

KEY, EXTRA = "key", "extra"
LABELS: Final = {Type.HELLO: b"hello", Type.ACCEPT: b"accept", Type.REFUSE: b"refuse"}
"""What a proof begins with."""
_NUMBER = re.compile(r"[0-9]{1,20}|0[xX][0-9a-fA-F]{1,16}", re.ASCII)


def frame_of(code: int) -> Frame:
    """Raises ``InvalidSetting`` for an unknown code."""
    frame = BY_CODE.get(code)
    if frame is None:
        raise InvalidSetting("code", f"no datagram has the type {code}; see the list of all")
    return frame


def blanks(code: int, given: Mapping[str, str]) -> list[Blank]:
    """The form of a datagram with given or default values."""
    frame = frame_of(code)
    made = [
        Blank(
            key=field.name,
            label=field.name,
            text=given.get(field.name, field.example),
            help=f"{field.meaning} {_allowed(field)}",
            lines=3 if field.shape is Shape.REST else 1,
            choices=tuple(map(str, field.words)) if field.is_closed else (),
            unit=field.unit,
        )
        for field in _asked(frame)
    ]
    if any(field.shape is Shape.PROOF for field in frame.fields):
        whose = "Key of the connection and direction" if frame.is_protected else "Secret of the node"
        text = given.get(KEY, secrets.NO_SECRET.hex())
        made.append(Blank(KEY, "Key", text, f"{whose}: 64 hexadecimal digits. Zeros where auth is none."))
    extra = "Hexadecimal digits, appended unchanged, to make the datagram invalid."
    return [*made, Blank(EXTRA, "Trailing bytes", given.get(EXTRA, ""), extra)]


def compose(code: int, given: Mapping[str, str]) -> bytes:
    """The datagram. Missing values have their defaults; unknown names are refused.

    Raises ``InvalidSetting``, and ``WrongFields`` with all fields that are wrong.
    """
    frame = frame_of(code)
    texts = {blank.key: blank.text for blank in blanks(code, given)}
    errors = {name[:60]: f"{frame.name} has no such field" for name in given if name not in texts}
    values: dict[str, Any] = {}
    for field in _asked(frame):
        try:
            values[field.name] = _value(field, texts[field.name])
        except WireError as error:
            errors[field.name] = str(error)
    for name in (KEY, EXTRA):
        try:
            values[name] = _digits(texts.get(name, ""))
        except WireError as error:
            errors[name] = str(error)
    if not errors and KEY in texts and len(values[KEY]) != secrets.SECRET_BYTES:
        errors[KEY] = f"has {len(values[KEY])} bytes; {secrets.SECRET_BYTES} are needed"
    if errors:
        raise WrongFields(errors)
    return _written(frame, values) + bytes(values[EXTRA])


def given_of(data: bytes) -> dict[str, str] | None:
    """The form that composes ``data``; ``None`` if it is no valid datagram."""
    found = dissect(data)
    if found.problems or found.layout is None:
        return None
    frame = BY_CODE[found.layout.code]
    text = {one.name: one.text for one in found.segments}
    given = {field.name: text[field.name] for field in _asked(frame) if field.name in text}
    if any(field.shape is Shape.ADDRESSES for field in frame.fields):
        given["gateways"] = ", ".join(one.text for one in found.segments if one.kind == "address")
    if "part" in given:
        given["part"] = f"0x{given['part']}"
    return given


def _asked(frame: Frame) -> list[Field]:
    return [field for field in frame.fields if field.shape is not Shape.PADDING]


def _allowed(field: Field) -> str:
    if field.shape is Shape.PROOF:
        return f"{2 * field.size} hexadecimal digits; empty: computed with the key."
    if field.shape is Shape.BYTES:
        return f"{2 * field.size} hexadecimal digits."
    if field.shape is Shape.COOKIE:
        return f"{2 * COOKIE_BYTES} hexadecimal digits, or empty."
    if field.shape is Shape.ADDRESSES:
        return f"As 10.0.0.1:7000, by commas; at most {MOST_ADDRESSES}."
    if field.shape is Shape.REST:
        return "Text, or bytes as hexadecimal digits after 0x."
    if field.words:
        said = "; ".join(f"{value} {word}" for value, word in field.words.items())
        return f"{said}."
    only = " Present with flag 8." if field.only_with == ECHO else ""
    return f"0 to {2 ** (8 * SIZES[field.shape]) - 1:,}.{only}"


# ---- bytes


def _written(frame: Frame, values: Mapping[str, Any]) -> bytes:
    data = bytes([first_byte(frame)])
    for field in frame.fields:
        if field.only_with == ECHO and not values["flags"] & Flags.ECHO:
            continue
        if field.shape in SIZES:
            data += values[field.name].to_bytes(SIZES[field.shape], "big")
        elif field.shape is Shape.COOKIE:
            data += bytes([len(values[field.name])]) + values[field.name]
        elif field.shape is Shape.ADDRESSES:
            data += layouts.pack_addresses(values[field.name])
        elif field.shape is Shape.PADDING:
            data = data.ljust(HELLO_BYTES - PROOF_BYTES, b"\0")
        elif field.shape is Shape.PROOF:
            data += values[field.name] or _proof(frame, values[KEY], data)
        else:
            data += values[field.name]
    return data


def _proof(frame: Frame, key: bytes, data: bytes) -> bytes:
    if frame.is_protected:
        return secrets.mac(key, data, TAG_BYTES)
    return secrets.proof(key, LABELS[Type(frame.code)], data)


# ---- values


def _value(field: Field, text: str) -> Any:
    """Raises ``WireError``."""
    if field.shape in SIZES:
        return _number(field, text.strip())
    if field.shape is Shape.ADDRESSES:
        return _addresses(text)
    if field.shape is Shape.REST:
        return _digits(text[2:]) if text.startswith("0x") else _utf8(text)
    data = _digits(text)
    sizes = {Shape.COOKIE: (0, COOKIE_BYTES), Shape.PROOF: (0, field.size)}.get(field.shape, (field.size,))
    if len(data) not in sizes:
        raise WireError(f"has {len(data)} bytes; {' or '.join(map(str, sizes))} are needed")
    return data


def _number(field: Field, typed: str) -> int:
    high = 2 ** (8 * SIZES[field.shape]) - 1
    value = int(typed, 16 if typed[:2] in ("0x", "0X") else 10) if _NUMBER.fullmatch(typed) else -1
    if not 0 <= value <= high:
        raise WireError(f"must be a whole number from 0 to {high:,}, not {typed!r:.40}")
    return value


def _addresses(text: str) -> tuple[Address, ...]:
    found = []
    for one in filter(None, map(str.strip, text.split(","))):
        try:
            address = parse_address(one)
            layouts.pack_address(address)
        except ValueError:
            raise WireError(f"must be addresses as 10.0.0.1:7000, not {one!r:.40}") from None
        found.append(address)
    if len(found) > MOST_ADDRESSES:
        raise WireError(f"has {len(found)} addresses; at most {MOST_ADDRESSES} are permitted")
    return tuple(found)


def _digits(text: str) -> bytes:
    try:
        return bytes.fromhex("".join(text.split()))
    except ValueError:
        raise WireError(f"must be hexadecimal digits, two for each byte, not {text!r:.40}") from None


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise WireError("contains an unpaired surrogate") from None
