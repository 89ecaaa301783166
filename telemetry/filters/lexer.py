"""Splits the text of a filter into tokens with their positions."""

from __future__ import annotations

import re
from typing import NamedTuple

from telemetry.filters.errors import InvalidFilter
from telemetry.filters.tree import WORD

MAX_LENGTH = 2_000
"""Maximum characters of a filter; URLs cannot be much longer."""

_WRITTEN = {"==": "=", "≤": "<=", "≥": ">=", "≠": "!="}
"""Alternative operators."""

_NO_CHARACTER = re.compile("[\0\ud800-\udfff]")
"""Characters that databases do not accept in a text."""

_TOKEN = re.compile(
    rf"""(?P<space>\s+)
    |(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<op>==|!=|<=|>=|[=<>~≤≥≠])
    |(?P<sign>[(),])
    |(?P<word>{WORD})""",
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    kind: str
    """``word``, ``text`` (in quotation marks), ``op``, one of ``( ) ,``, or ``end``."""
    value: str
    at: int

    def is_word(self, *words: str) -> bool:
        """Whether it is one of these keywords, ignoring case."""
        return self.kind == "word" and self.value.lower() in words


def tokens(text: str) -> list[Token]:
    """All tokens, the last of kind ``end``. Raises ``InvalidFilter``."""
    if len(text) > MAX_LENGTH:
        raise InvalidFilter(MAX_LENGTH, f"a filter has at most {MAX_LENGTH:,} characters; this one has {len(text):,}")
    if unknown := _NO_CHARACTER.search(text):
        raise InvalidFilter(unknown.start(), "this is not a valid character")
    found, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:  # everything else is a word
            raise InvalidFilter(at, "this quotation is not closed")
        kind, value = str(match.lastgroup), match.group()
        if kind == "text":
            found.append(Token(kind, re.sub(r"\\(.)", r"\1", value[1:-1], flags=re.DOTALL), at))
        elif kind == "op":
            found.append(Token(kind, _WRITTEN.get(value, value), at))
        elif kind != "space":
            found.append(Token(value if kind == "sign" else kind, value, at))
        at = match.end()
    return [*found, Token("end", "", len(text))]
