"""The Simple Query Language of NGSI-v2: ``temperature>20;color==red,'light,green';!closed``. Pure.

Source: section "Simple Query Language" of the NGSI-v2 specification.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokerweb.ngsi.patterns import pattern_of
from brokerweb.ngsi.problems import wrong
from brokerweb.ngsi.queries.literals import literal
from brokerweb.ngsi.queries.tree import (
    LONGEST,
    MOST_CONDITIONS,
    Absent,
    All,
    Compare,
    Condition,
    Exists,
    Literal,
    Matches,
    Path,
    Range,
)
from overlay.core.errors import shown

QUOTE = "'"
OPERATORS = ("==", "!=", ">=", "<=", "~=", ">", "<", ":")
"""Longer ones first; ``:`` is ``==``."""


def parse(text: str) -> Condition:
    """Raises ``Problem``."""
    if len(text) > LONGEST:
        raise wrong(f"q: a query has at most {LONGEST:,} characters, not {len(text):,}.")
    statements = split(text, ";")
    if len(statements) > MOST_CONDITIONS:
        raise wrong(f"q: a query has at most {MOST_CONDITIONS} statements, not {len(statements)}.")
    return All(tuple(map(_statement, statements)))


def _statement(text: str) -> Condition:
    found = _operator(text)
    if found is None:
        return Absent(_path(text[1:])) if text.startswith("!") else Exists(_path(text))
    begin, operator = found
    path, right = _path(text[:begin]), text[begin + len(operator) :]
    if not right:
        raise wrong(f"q: {shown(text)} has nothing to compare with.")
    if operator == "~=":
        return Matches(path, pattern_of("q", _plain(right)))
    operator = "==" if operator == ":" else operator
    if operator not in ("==", "!="):
        return Compare(path, operator, (Literal(_value(right)),))
    return Compare(path, operator, tuple(map(_operand, split(right, ","))))


def _operand(text: str) -> Literal | Range:
    ends = split(text, "..")
    if len(ends) == 1:
        return Literal(_value(text))
    if len(ends) != 2:
        raise wrong(f"q: {shown(text)} is no range; write 10..20.")
    return Range(_value(ends[0]), _value(ends[1]))


def _value(text: str) -> object:
    if not text:
        raise wrong("q: a value is missing.")
    return text[1:-1] if _is_quoted(text) else literal(_plain(text))


def _plain(text: str) -> str:
    return text[1:-1] if _is_quoted(text) else text


def _is_quoted(text: str) -> bool:
    return len(text) > 1 and text[0] == text[-1] == QUOTE


def _path(text: str) -> Path:
    names = [_plain(one) for one in split(text, ".")]
    if not all(names):
        raise wrong(f"q: {shown(text)} is no path to an attribute.")
    return Path(names[0], inside=tuple(names[1:]))


def _operator(text: str) -> tuple[int, str] | None:
    """The first operator outside quotes, and where it begins."""
    for at in _outside(text):
        for one in OPERATORS:
            if text.startswith(one, at):
                return at, one
    return None


def split(text: str, separator: str) -> list[str]:
    """At separators outside quotes. Raises ``Problem`` for a quote that is not closed."""
    parts, begin = [], 0
    for at in _outside(text):
        if at >= begin and text.startswith(separator, at):
            parts.append(text[begin:at])
            begin = at + len(separator)
    return [*parts, text[begin:]]


def _outside(text: str) -> Iterator[int]:
    """Positions outside quotes."""
    is_inside = False
    for at, character in enumerate(text):
        if character == QUOTE:
            is_inside = not is_inside
        elif not is_inside:
            yield at
    if is_inside:
        raise wrong(f"q: {shown(text)} has a quote that is not closed.")
