"""Values of attributes and of context: bool, int, float and str.

An int and a float compare as numbers, a bool compares with a bool only, strings compare by code point. Nothing else is
converted. Python calls ``True`` equal to 1, so what is compared or used as a key has its kind with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isfinite
from typing import Any, NoReturn

from overlay.core.errors import WireError, shown

Value = bool | int | float | str
Values = Mapping[str, Value]
"""Attributes of a notification, or variables of a context, by name."""

BOOL, NUMBER, TEXT = "bool", "number", "text"
KINDS: Mapping[type, str] = {bool: BOOL, int: NUMBER, float: NUMBER, str: TEXT}

MAX_TEXT_BYTES = 1024
"""Of a string, in UTF-8."""
MAX_ATTRIBUTES = 64
"""Of a notification. A context has as many at most."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,63}")
_SIENA_NAME = re.compile(r"@?[A-Za-z_][A-Za-z0-9_.]{0,63}")
_INTEGERS = range(-(1 << 63), 1 << 63)


class InvalidContent(WireError):
    """A value, name, constraint or filter that is refused, with the reason as a sentence."""

    def __init__(self, sentence: str, *, is_limit: bool = False) -> None:
        super().__init__(f"Invalid content: {sentence}.")
        self.sentence = sentence
        self.is_limit = is_limit
        """Whether it is well formed, but exceeds a limit."""


def checked_name(name: Any, *, is_siena: bool = False) -> str:
    """``is_siena``: attributes that are variables of context begin with ``@``. Raises ``InvalidContent``."""
    pattern = _SIENA_NAME if is_siena else _NAME
    if type(name) is not str or pattern.fullmatch(name) is None:
        refuse(f"{shown(name)} is no name: a letter or _, then up to 63 letters, digits, _ and dots")
    return name


def checked_value(value: Any) -> Value:
    """Raises ``InvalidContent``."""
    kind = type(value)
    if kind is str:
        _check_text(value)
    elif kind is int:
        if value not in _INTEGERS:
            refuse("an integer has more than 64 bits")
    elif kind is float:
        if not isfinite(value):
            refuse(f"{value} is no finite number")
    elif kind is not bool:
        refuse(f"{shown(value)} is no value; true, false, numbers and text are")
    return value  # type: ignore[no-any-return]


def checked_values(values: Any, *, fewest: int = 0, is_siena: bool = False) -> dict[str, Value]:
    """Of a notification (``fewest`` is 1) or of a context, in the order of their names. Raises ``InvalidContent``."""
    if type(values) is not dict:
        refuse(f"{shown(values)} is no map of names and values")
    most = 2 * MAX_ATTRIBUTES if is_siena else MAX_ATTRIBUTES
    if not fewest <= len(values) <= most:
        refuse(f"there are {len(values)} names instead of {fewest} to {most}", is_limit=len(values) > most)
    return {
        name: checked_value(values[name]) for name in sorted(checked_name(one, is_siena=is_siena) for one in values)
    }


def as_number(value: Value) -> float | None:
    """As context is compared: a float64, whichever of the two types it has."""
    kind = type(value)
    return float(value) if kind is float or kind is int else None


def refuse(sentence: str, *, is_limit: bool = False) -> NoReturn:
    raise InvalidContent(sentence, is_limit=is_limit)


def _check_text(text: str) -> None:
    if len(text) <= MAX_TEXT_BYTES // 4:
        if not text.isascii():
            _encoded(text)
    elif len(_encoded(text)) > MAX_TEXT_BYTES:
        refuse(f"a text has more than {MAX_TEXT_BYTES:,} bytes", is_limit=True)


def _encoded(text: str) -> bytes:
    """JSON can express half a surrogate pair, which UTF-8 cannot."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        refuse("a text has half a surrogate pair, which is no character")


def is_same(one: Values, other: Values) -> bool:
    """Whether both have the same names with the same values. Python calls ``True`` equal to 1; a context does not."""
    return one == other and all(type(one[name]) is type(other[name]) for name in one)
