"""The query language of NGSI-LD: ``(speed>50|brandName!="Mercedes");address[city]=="Berlin"``. Pure.

Source: ETSI GS CIM 009, clause 4.9. ``;`` binds tighter than ``|``.
"""

from __future__ import annotations

import re

from brokerweb.ngsi.patterns import pattern_of
from brokerweb.ngsi.problems import Problem, wrong
from brokerweb.ngsi.queries.literals import literal
from brokerweb.ngsi.queries.tree import (
    LONGEST,
    MOST_CONDITIONS,
    All,
    Compare,
    Condition,
    Exists,
    Literal,
    Matches,
    Path,
    Range,
    Some,
)
from overlay.core.errors import shown

MOST_DEEP = 20
_TOKEN = re.compile(
    r"""(?P<operator>==|!=|>=|<=|!~=|~=|>|<)|(?P<mark>[();|,\[\]]|\.\.)|(?P<text>"(?:[^"\\]|\\.)*+")|"""
    r"""(?P<word>(?:(?!\.\.|!=|!~=)[^()\[\];|,=<>~"\s])+)""",
)


class Tokens:
    """What is left of a query."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: list[tuple[str, str]] = []
        at = 0
        while at < len(text):
            one = _TOKEN.match(text, at)
            if one is None:
                raise wrong(f"q: character {at + 1} of {shown(text)} is not expected there.")
            self._found.append((str(one.lastgroup), one[0]))
            at = one.end()
        self._next = 0
        self.conditions = 0

    def peek(self) -> tuple[str, str]:
        return self._found[self._next] if self._next < len(self._found) else ("end", "")

    def take(self) -> tuple[str, str]:
        token = self.peek()
        self._next += 1
        return token

    def takes(self, mark: str) -> bool:
        """Whether it is next, and now taken."""
        if self.peek() != ("mark", mark):
            return False
        self._next += 1
        return True

    def problem(self, expected: str) -> Problem:
        found = self.peek()[1]
        return wrong(f"q: {shown(self._text)} must have {expected} {f'at {shown(found)}' if found else 'at its end'}.")


def parse(text: str) -> Condition:
    """Raises ``Problem``."""
    if len(text) > LONGEST:
        raise wrong(f"q: a query has at most {LONGEST:,} characters, not {len(text):,}.")
    tokens = Tokens(text)
    condition = _some(tokens, 0)
    if tokens.peek()[0] != "end":
        raise tokens.problem("; or |")
    return condition


def _some(tokens: Tokens, depth: int) -> Condition:
    parts = [_all(tokens, depth)]
    while tokens.takes("|"):
        parts.append(_all(tokens, depth))
    return parts[0] if len(parts) == 1 else Some(tuple(parts))


def _all(tokens: Tokens, depth: int) -> Condition:
    parts = [_one(tokens, depth)]
    while tokens.takes(";"):
        parts.append(_one(tokens, depth))
    return parts[0] if len(parts) == 1 else All(tuple(parts))


def _one(tokens: Tokens, depth: int) -> Condition:
    if tokens.takes("("):
        if depth >= MOST_DEEP:
            raise wrong(f"q: parentheses are nested more than {MOST_DEEP} deep.")
        condition = _some(tokens, depth + 1)
        if not tokens.takes(")"):
            raise tokens.problem(")")
        return condition
    tokens.conditions += 1
    if tokens.conditions > MOST_CONDITIONS:
        raise wrong(f"q: a query has at most {MOST_CONDITIONS} conditions.")
    return _condition(tokens, _path(tokens))


def _condition(tokens: Tokens, path: Path) -> Condition:
    if tokens.peek()[0] != "operator":
        return Exists(path)
    operator = tokens.take()[1]
    if operator in ("~=", "!~="):
        return Matches(path, pattern_of("q", str(_value(tokens))), operator == "~=")
    values = [_operand(tokens)]
    while operator in ("==", "!=") and tokens.takes(","):
        values.append(_operand(tokens))
    if operator not in ("==", "!=") and isinstance(values[0], Range):
        raise wrong(f"q: a range needs == or !=, not {operator}.")
    return Compare(path, operator, tuple(values))


def _operand(tokens: Tokens) -> Literal | Range:
    low = _value(tokens)
    return Range(low, _value(tokens)) if tokens.takes("..") else Literal(low)


def _value(tokens: Tokens) -> object:
    kind, text = tokens.peek()
    if kind == "text":
        tokens.take()
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    if kind == "word":
        tokens.take()
        return literal(text)
    raise tokens.problem("a value")


def _path(tokens: Tokens) -> Path:
    kind, text = tokens.peek()
    if kind != "word":
        raise tokens.problem("an attribute")
    tokens.take()
    names = [text] if ":" in text else text.split(".")  # a name in full is a URI, which may have dots
    if not all(names) or len(names) > 2:
        raise wrong(f"q: {shown(text)} must be an attribute, or an attribute and a property of it.")
    inside: list[str] = []
    if tokens.takes("["):
        kind, within = tokens.take()
        if kind != "word" or not tokens.takes("]"):
            raise tokens.problem("a path in brackets")
        inside = within.split(".")
    return Path(names[0], names[1] if len(names) == 2 else "", tuple(inside))
