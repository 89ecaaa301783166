"""Expressions as people write them, in forms, commands and documentation.

::

    temperature > 25 and (entity.id = r17 or not occupied = true)
    floor in (1, 2, 3) and position.x between 0 and 10.5 and label prefix "north wing"
    humidity exists

    either    = both ("or" both)…                       true and false are expressions, too
    both      = single ("and" single)…
    single    = "not" single | "(" either ")" | name operator constants
    constants = constant | "(" constant ("," constant)… ")" after in | constant "and" constant after between

Names and constants are words, or strings in double quotes with the escapes of JSON. A word that is a number is a
number, and ``true`` and ``false`` are booleans; all other words are text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import NamedTuple, NoReturn

from overlay.core.settings import InvalidText
from overlay.systems.federation.language.tree import (
    MAX_DEPTH,
    OPERATORS,
    And,
    Constant,
    Expression,
    InvalidExpression,
    Not,
    Or,
    Predicate,
    predicate,
    read,
    written,
)

MAX_TEXT = 65_536
"""Characters."""
MAX_PARENTHESES = 4 * MAX_DEPTH
"""Nesting of what stands in the text, where parentheses are no level of the expression."""
MAX_DIGITS = 400
"""Characters of a number. The largest double has 309 digits."""
_TOKEN = re.compile(
    r"""\s*(?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<mark>!=|<=|>=|[=<>(),])|(?P<word>[^\s"=<>(),!]+)|(?P<end>\Z))"""
)
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_BOOLEANS = {"true": True, "false": False}
_KEYWORDS = {"and", "or", "not", *_BOOLEANS, *OPERATORS}


class _Token(NamedTuple):
    kind: str
    text: str
    at: int

    def is_one_of(self, *texts: str) -> bool:
        """Of marks and words; a string is never a keyword."""
        return self.kind != "string" and self.text in texts


def parse(text: str) -> Expression:
    """Raises ``InvalidText`` with the position of the error."""
    if len(text) > MAX_TEXT:
        raise InvalidText(MAX_TEXT, f"the text has more than {MAX_TEXT:,} characters")
    parser = _Parser(text)
    expression = parser.either(0)
    parser.expect_end()
    try:
        return read(written(expression))
    except InvalidExpression as error:  # a limit of the expression as a whole
        raise InvalidText(0, error.sentence) from None


def formatted(expression: Expression) -> str:
    """A text that ``parse`` reads as an expression with the same canonical form."""
    match expression:
        case And(parts):
            return " and ".join(_inside(part, Or) for part in parts) or "true"
        case Or(parts):
            return " or ".join(map(formatted, parts)) or "false"
        case Not(part):
            return f"not {_inside(part, And, Or)}"
        case Predicate():
            return _formatted_predicate(expression)


def _inside(part: Expression, *looser: type) -> str:
    while isinstance(part, And | Or) and len(part.parts) == 1:
        part = part.parts[0]
    text = formatted(part)
    return f"({text})" if isinstance(part, And | Or) and part.parts and isinstance(part, looser) else text


def _formatted_predicate(one: Predicate) -> str:
    head = f"{_word(one.name)} {one.operator}"
    constants = [_formatted_constant(constant) for constant in one.constants]
    if one.operator == "in":
        return f"{head} ({', '.join(constants)})"
    return f"{head} {' and '.join(constants)}".rstrip()


def _formatted_constant(constant: Constant) -> str:
    return _word(constant) if isinstance(constant, str) else json.dumps(constant)


def _word(text: str) -> str:
    """Without quotes where it is read back as this text."""
    match = _TOKEN.fullmatch(text)
    is_plain = match is not None and match["word"] == text and text not in _KEYWORDS and not _NUMBER.fullmatch(text)
    return text if is_plain else json.dumps(text, ensure_ascii=False)


class _Parser:
    """Recursive descent; the next token is always read."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._next = self._read()

    def _advance(self) -> _Token:
        """The token that was next."""
        token, self._next = self._next, self._read()
        return token

    def _read(self) -> _Token:
        match = _TOKEN.match(self._text, self._position)
        if match is None or match.lastgroup is None:
            at = self._position + len(self._text[self._position :]) - len(self._text[self._position :].lstrip())
            rest = self._text[at : at + 1]
            raise InvalidText(at, "a string has no end" if rest == '"' else f"{rest!r} is not part of the language")
        self._position = match.end()
        return _Token(match.lastgroup, match[match.lastgroup], match.start(match.lastgroup))

    def _is_next(self, *texts: str) -> bool:
        return self._next.is_one_of(*texts)

    def _expect(self, text: str, where: str) -> None:
        if not self._is_next(text):
            self._fail(f"{text} is expected {where}")
        self._advance()

    def expect_end(self) -> None:
        if self._next.kind != "end":
            self._fail("and, or, or the end is expected here")

    def _fail(self, sentence: str) -> NoReturn:
        raise InvalidText(self._next.at, sentence)

    def either(self, depth: int) -> Expression:
        parts = self._parts("or", self._both, depth)
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _both(self, depth: int) -> Expression:
        parts = self._parts("and", self._single, depth)
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _parts(self, word: str, inner: Callable[[int], Expression], depth: int) -> list[Expression]:
        parts = [inner(depth)]
        while self._is_next(word):
            self._advance()
            parts.append(inner(depth))
        return parts

    def _single(self, depth: int) -> Expression:
        if depth > MAX_PARENTHESES:
            self._fail(f"it is nested more than {MAX_PARENTHESES} deep")
        if self._is_next("not"):
            self._advance()
            return Not(self._single(depth + 1))
        if self._is_next("("):
            self._advance()
            inner = self.either(depth + 1)
            self._expect(")", "here, in balanced parentheses")
            return inner
        if self._is_next("true", "false"):
            return And(()) if self._advance().text == "true" else Or(())
        return self._predicate()

    def _predicate(self) -> Expression:
        if self._next.kind not in ("word", "string") or self._is_next(*_KEYWORDS):
            self._fail("a name, not, or ( is expected here")
        at = self._next.at
        name = self._string_or_word()
        if not self._is_next(*OPERATORS):
            self._fail(f"an operator is expected after {name}: {' '.join(OPERATORS)}")
        operator = self._advance().text
        constants = self._constants(operator)
        try:
            return predicate(name, [operator, *constants])
        except InvalidExpression as error:
            raise InvalidText(at, error.sentence) from None

    def _constants(self, operator: str) -> list[Constant]:
        if operator == "exists":
            return []
        if operator == "between":
            low = self._constant()
            self._expect("and", "between the two ends")
            return [low, self._constant()]
        if operator != "in":
            return [self._constant()]
        self._expect("(", "after in")
        found = [self._constant()]
        while self._is_next(","):
            self._advance()
            found.append(self._constant())
        self._expect(")", "after the last constant")
        return found

    def _constant(self) -> Constant:
        if self._next.kind not in ("word", "string"):
            self._fail("a constant is expected here")
        if self._next.kind == "word":
            if self._is_next(*_BOOLEANS):
                return _BOOLEANS[self._advance().text]
            if self._is_next(*_KEYWORDS):
                self._fail(f'a constant is expected here; the text {self._next.text} is written "{self._next.text}"')
            if _NUMBER.fullmatch(self._next.text):
                return self._number()
        return self._string_or_word()

    def _number(self) -> int | float:
        if len(self._next.text) > MAX_DIGITS:
            self._fail(f"a number has more than {MAX_DIGITS} characters")
        text = self._advance().text
        return float(text) if any(mark in text for mark in ".eE") else int(text)

    def _string_or_word(self) -> str:
        if self._next.kind == "word":
            return self._advance().text
        try:
            found: str = json.loads(self._next.text, strict=False)
        except ValueError:
            self._fail("a string has an escape that JSON does not know")
        self._advance()
        return found
