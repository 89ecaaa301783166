"""JSON payloads of messages, and the payloads of entries. Pure.

An object's fields are the pairs of an entry; four fields have the entry's provider and times, or a payload that is not
made of pairs. Numbers keep their digits in both directions: they are copied as text, never computed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from overlay.core.errors import InvalidSetting, WaxwingError, shown
from overlay.systems.context_broker.clients.payload import format_pairs, parse_pairs
from overlay.systems.context_broker.clients.questions import LONGEST_VALID_MS
from overlay.systems.context_broker.mqtt.values import Value

FIELDS = ("provider", "timestamp", "valid_ms", "valid_end", "text")
MOST_BYTES = 60_000
"""Of a payload: a datagram has 65,507."""
MOST_DIGITS = 15
"""Longer numbers are published as text, since readers with doubles would change them."""
EARLIEST_MS = 100_000_000_000
"""An earlier time, of 1973, is one in seconds."""
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")


class Unfit(WaxwingError):
    """A payload that cannot be carried to the other side."""


class _Literal(str):
    """The digits of a number."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a message says. ``None``: nothing about it."""

    payload: bytes
    provider: str | None = None
    timestamp: int | None = None
    valid_ms: int | None = None
    valid_end: int | None = None


class Payloads:
    """``fields`` renames fields of ``FIELDS``; a number or text alone is stored under ``value_name``."""

    def __init__(self, fields: Mapping[str, str] | None = None, value_name: str = "value") -> None:
        self._fields = {name: (fields or {}).get(name, name) for name in FIELDS}
        self._reserved = frozenset(self._fields.values())
        self._value_name = value_name
        if len(self._reserved) < len(FIELDS):
            raise InvalidSetting("fields", "two fields have the same name")
        if value_name in self._reserved:
            raise InvalidSetting("value_name", f"{shown(value_name)} is the name of a field")

    # ---- to MQTT

    def write(self, value: Value) -> bytes:
        """The message of a value. Raises ``Unfit``."""
        pairs = self.check(value)
        if pairs is None:
            parts = [self._part("text", json.dumps(value.payload.decode(), ensure_ascii=False))]
        else:
            parts = [f"{json.dumps(name, ensure_ascii=False)}:{_json_of(pair)}" for name, pair in pairs.items()]
        parts.append(self._part("provider", json.dumps(value.provider, ensure_ascii=False)))
        parts.append(self._part("timestamp", str(value.timestamp)))
        parts.append(self._part("valid_end", str(value.valid_end)))
        return f"{{{','.join(parts)}}}".encode()

    def check(self, value: Value) -> dict[str, str] | None:
        """The pairs of a value that a message can have. Raises ``Unfit``."""
        pairs = parse_pairs(value.payload.decode())
        if pairs is not None and (clash := self._reserved & pairs.keys()):
            raise Unfit(f"the payload has {shown(min(clash))}, which is a field of messages; rename it in fields")
        return pairs

    def _part(self, field: str, text: str) -> str:
        return f"{json.dumps(self._fields[field], ensure_ascii=False)}:{text}"

    # ---- from MQTT

    def read(self, data: bytes, *, is_text: bool = False) -> Said:
        """What a message says; ``is_text``: its payload is that of the entry. Raises ``Unfit``."""
        if len(data) > MOST_BYTES:
            raise Unfit(f"has more than {MOST_BYTES:,} bytes")
        try:
            text = data.decode()
        except UnicodeDecodeError:
            raise Unfit("is not UTF-8 text") from None
        return Said(data) if is_text else self._read_json(text)

    def _read_json(self, text: str) -> Said:
        document = _parse(text)
        if not isinstance(document, dict):
            document = {self._value_name: document}
        own = {name: document.pop(field) for name, field in self._fields.items() if field in document}
        return Said(
            self._payload(document, own.get("text")),
            _name(own.get("provider")),
            _time(own.get("timestamp"), "timestamp"),
            _duration(own.get("valid_ms")),
            _time(own.get("valid_end"), "valid_end"),
        )

    def _payload(self, pairs: dict[str, Any], text: Any) -> bytes:
        if text is not None:
            if pairs or not isinstance(text, str) or isinstance(text, _Literal):
                raise Unfit("a payload of text has no other values, and is a text")
            return _encoded(text)
        if not pairs:
            raise Unfit("has no values")
        try:
            return _encoded(format_pairs({name: _text_of(name, value) for name, value in pairs.items()}))
        except InvalidSetting as error:
            raise Unfit(error.sentence) from None


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise Unfit("has half a surrogate pair, which is no character") from None


def _json_of(text: str) -> str:
    is_literal = text in ("true", "false") or (len(text) <= MOST_DIGITS and _NUMBER.fullmatch(text))
    return text if is_literal else json.dumps(text, ensure_ascii=False)


def _text_of(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    raise Unfit(f"{shown(name)} must be a number, a text, true or false, not {shown(value)}")


def _parse(text: str) -> Any:
    try:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_Literal,
            parse_float=_Literal,
            parse_constant=_no_constant,
        )
    except RecursionError:
        raise Unfit("is nested too deeply") from None
    except ValueError as error:
        raise Unfit(f"is not JSON: {error}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise Unfit("says a name twice in one object")
    return values


def _no_constant(text: str) -> NoReturn:
    raise Unfit(f"has {text}, which is not JSON")


def _name(value: Any) -> str | None:
    if value is None or (isinstance(value, str) and value and not isinstance(value, _Literal)):
        return value
    raise Unfit(f"provider must be a text, not {shown(value)}")


def _integer(value: Any, field: str) -> int:
    if not isinstance(value, _Literal) or not value.isdigit() or len(value) > 19:
        raise Unfit(f"{field} must be a whole number of milliseconds, not {shown(value)}")
    return int(value)


def _time(value: Any, field: str) -> int | None:
    if value is None:
        return None
    time = _integer(value, field)
    if not EARLIEST_MS <= time <= LONGEST_VALID_MS:
        raise Unfit(f"{field} must be Unix milliseconds, not {shown(value)}")
    return time


def _duration(value: Any) -> int | None:
    if value is None:
        return None
    duration = _integer(value, "valid_ms")
    if not 0 < duration <= LONGEST_VALID_MS:
        raise Unfit(f"valid_ms must be more than 0 and at most {LONGEST_VALID_MS}, not {shown(value)}")
    return duration
