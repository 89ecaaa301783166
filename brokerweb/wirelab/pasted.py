"""Parses pasted text into the bytes of a datagram. Pure.

Four formats: the message itself as text, hexadecimal digits with any separators, dumps of ``hexdump -C``, ``xxd``,
``tcpdump -X`` and Wireshark, and Base64. Raises ``InvalidSetting`` for the field ``text``.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error
from collections.abc import Sequence

from overlay.core.errors import InvalidSetting, shown

FIELD = "text"
MOST_BYTES = 65_536
MOST_CHARACTERS = 400_000
"""A dump takes up to six characters for a byte."""
TEXT, HEX, DUMP, BASE64 = FORMS = ("text", "hex", "hex dump", "base64")

_MESSAGE = re.compile(r"\s*\d{1,19}\|")
_OFFSET = re.compile(r"\s*(?:0x)?([0-9a-fA-F]{4,8})(:?)(?=\s)")
_BETWEEN = re.compile(r"0[xX]|\\x|[\s:,;.\-_{}\[\]\"']+")
_BASE64 = re.compile(r"[A-Za-z0-9+/_=\-\s]+")
_GROUP = re.compile(r"(?:[0-9a-fA-F]{2})+")
_LINE_BYTES = 16


def read(text: str, form: str = "", forms: Sequence[str] = FORMS) -> tuple[bytes, str]:
    """The bytes and the detected format, one of ``forms``; an empty ``form`` detects it."""
    if len(text) > MOST_CHARACTERS:
        raise InvalidSetting(FIELD, f"has {len(text):,} characters; at most {MOST_CHARACTERS:,} are read")
    if not text.strip():
        raise InvalidSetting(FIELD, f"is empty; paste a datagram as {', '.join(forms[:-1])} or {forms[-1]}")
    form = form or _form_of(text, forms)
    if form not in forms:
        raise InvalidSetting("form", f"must be one of {', '.join(forms)}, not {shown(form, 40)}")
    return checked(_READERS[form](text)), form


def checked(data: bytes) -> bytes:
    """``data`` where it is something and not too much."""
    if not data:
        raise InvalidSetting(FIELD, "holds no byte")
    if len(data) > MOST_BYTES:
        raise InvalidSetting(FIELD, f"comes to {len(data):,} bytes; a datagram holds at most 65,507")
    return data


def _form_of(text: str, forms: Sequence[str]) -> str:
    if TEXT in forms and _MESSAGE.match(text):
        return TEXT
    if _is_dump(text):
        return DUMP
    bare = _BETWEEN.sub("", text)
    hexadecimal = sum(letter in "0123456789abcdefABCDEF" for letter in bare)
    if hexadecimal == len(bare):
        return HEX
    if _BASE64.fullmatch(text) and hexadecimal < 0.9 * len(bare):
        return BASE64
    return HEX if hexadecimal >= 0.9 * len(bare) or TEXT not in forms else TEXT


def _as_text(text: str) -> bytes:
    try:
        return text.strip("\r\n").encode()
    except UnicodeEncodeError as error:
        raise InvalidSetting(FIELD, f"contains an unpaired surrogate at character {error.start + 1}") from None


def _hexadecimal(text: str) -> bytes:
    digits, last = [], 0
    at = 0
    while at < len(text):
        between = _BETWEEN.match(text, at)
        if between:
            at = between.end()
            continue
        if text[at] not in "0123456789abcdefABCDEF":
            raise InvalidSetting(FIELD, f"{text[at]!r} at character {at + 1} is not a hexadecimal digit")
        digits.append(text[at])
        last = at = at + 1
    if len(digits) % 2:
        raise InvalidSetting(
            FIELD,
            f"has {len(digits)} hexadecimal digits, an odd number; the last one, {digits[-1]!r} at character {last}, "
            "is half a byte",
        )
    return bytes.fromhex("".join(digits))


def _base64(text: str) -> bytes:
    packed = "".join(text.split()).replace("-", "+").replace("_", "/")
    try:
        return b64decode(packed + "=" * (-len(packed) % 4), validate=True)
    except (Error, ValueError):
        raise InvalidSetting(FIELD, "is not Base64: it has invalid characters or ends within a byte") from None


# ---- dumps


def _is_dump(text: str) -> bool:
    """Whether its first line begins with the offset 0, and has bytes behind it."""
    first = next(line for line in text.splitlines() if line.strip())
    match = _OFFSET.match(first)
    return match is not None and int(match[1], 16) == 0 and bool(_bytes_of(first[match.end() :], None))


def _dump(text: str) -> bytes:
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    offsets: list[int] = []
    for number, line in lines:
        match = _OFFSET.match(f"{line} ")
        if match is None:
            raise InvalidSetting(FIELD, f"line {number} does not begin with an offset; in a dump, every line does")
        offsets.append(int(match[1], 16))
    data = bytearray()
    for (number, line), offset, following in zip(lines, offsets, [*offsets[1:], None], strict=True):
        if offset != len(data):
            raise InvalidSetting(
                FIELD, f"line {number} has offset {offset}, but {len(data)} bytes come before it; a line is missing"
            )
        if following is not None and following <= offset:
            raise InvalidSetting(FIELD, f"line {number} has offset {offset}, but the next line {following}")
        match = _OFFSET.match(f"{line} ")
        assert match is not None
        wanted = None if following is None else following - offset
        data += _bytes_of(line[match.end() :], wanted)
        if wanted is not None and len(data) != following:
            raise InvalidSetting(FIELD, f"line {number} has fewer bytes than the offset of the next line implies")
    return bytes(data)


def _bytes_of(rest: str, wanted: int | None) -> bytes:
    """The bytes of a line behind its offset; what they are as characters stands behind them, and is left."""
    rest = re.split(r"\s\|", rest, maxsplit=1)[0]
    if wanted is None:  # the last line's length is unknown: a wide gap ends its bytes
        rest = re.split(r"(?<=\S)\s{3,}", rest, maxsplit=1)[0]
    most = _LINE_BYTES if wanted is None else wanted
    data = bytearray()
    for token in rest.split():
        if not _GROUP.fullmatch(token) or len(data) + len(token) // 2 > most:
            break
        data += bytes.fromhex(token)
    return bytes(data)


_READERS = {TEXT: _as_text, HEX: _hexadecimal, DUMP: _dump, BASE64: _base64}
