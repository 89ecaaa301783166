"""Parses the tokens of a filter to its tree.

::

    filter     := [ or ]
    or         := and { "or" and }
    and        := unary { "and" unary }
    unary      := "not" unary | "(" or ")" | comparison | words
    comparison := WORD op value | WORD [ "not" ] "in" "(" value { "," value } ")"
    value      := QUOTED | WORD { WORD }
    words      := ( QUOTED | WORD ) { QUOTED | WORD }
"""

from __future__ import annotations

from telemetry.filters.errors import InvalidFilter
from telemetry.filters.lexer import Token, tokens
from telemetry.filters.tree import Among, And, Comparison, Everything, Node, Not, Or, Words

MAX_TERMS = 100
MAX_DEPTH = 20
"""Maximum nesting of parentheses and ``not``, within the limits of databases."""


def parse(text: str) -> Node:
    """The tree of ``text``; ``Everything`` for an empty text. Raises ``InvalidFilter``."""
    return _Parser(tokens(text)).whole()


class _Parser:
    def __init__(self, found: list[Token]) -> None:
        self._tokens = found
        self._at = 0
        self._terms = 0

    def whole(self) -> Node:
        if self._next.kind == "end":
            return Everything()
        tree = self._or(0)
        left = self._next
        if left.kind == ")":
            raise InvalidFilter(left.at, "this closing parenthesis has no opening one")
        if left.kind in ("op", ","):
            raise InvalidFilter(
                left.at, f"“{left.value}” is not expected here; a condition is a field, an operator and a value"
            )
        if left.kind != "end":
            raise InvalidFilter(left.at, f"put “and” or “or” before “{left.value:.40}”")
        return tree

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _after(self, steps: int) -> Token:
        return self._tokens[min(self._at + steps, len(self._tokens) - 1)]

    def _take(self) -> Token:
        token = self._next
        if token.kind != "end":
            self._at += 1
        return token

    def _or(self, depth: int) -> Node:
        parts = [self._and(depth)]
        while self._next.is_word("or"):
            self._take()
            parts.append(self._and(depth))
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _and(self, depth: int) -> Node:
        parts = [self._unary(depth)]
        while self._next.is_word("and"):
            self._take()
            parts.append(self._unary(depth))
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _unary(self, depth: int) -> Node:
        token = self._next
        if depth > MAX_DEPTH:
            raise InvalidFilter(token.at, f"parentheses and “not” are nested more than {MAX_DEPTH} deep")
        if token.is_word("not"):
            self._take()
            return Not(self._unary(depth + 1))
        if token.kind == "(":
            self._take()
            inner = self._or(depth + 1)
            self._close(token)
            return inner
        return self._term()

    def _close(self, opened: Token) -> None:
        if self._next.kind in ("word", "text"):
            raise InvalidFilter(self._next.at, f"put “and” or “or” before “{self._next.value:.40}”")
        if self._take().kind != ")":
            raise InvalidFilter(opened.at, "this parenthesis is not closed")

    def _term(self) -> Node:
        self._terms += 1
        token = self._next
        if self._terms > MAX_TERMS:
            raise InvalidFilter(token.at, f"a filter has at most {MAX_TERMS} conditions")
        if self._begins_comparison(0):
            return self._comparison()
        if token.kind in ("word", "text") and not token.is_word("and", "or", "not"):
            return Words(self._words(), token.at)
        raise InvalidFilter(token.at, self._missing(token))

    def _missing(self, token: Token) -> str:
        if token.kind == "op":
            return f"a field is missing before “{token.value}”"
        before = self._tokens[self._at - 1] if self._at else None
        return f"a condition is missing after “{before.value:.40}”" if before else "a condition is missing here"

    def _begins_comparison(self, steps: int) -> bool:
        """Whether the word is a field, according to the next token."""
        token, second, third, fourth = (self._after(steps + more) for more in range(4))
        if token.kind != "word" or token.is_word("and", "or", "not"):
            return False
        if second.kind == "op" or (second.is_word("in") and third.kind == "("):
            return True
        return second.is_word("not") and third.is_word("in") and fourth.kind == "("

    def _comparison(self) -> Node:
        field = self._take()
        sign = self._take()
        if sign.kind == "op":
            at = self._next.at
            return Comparison(field.value, sign.value, self._value(sign), field.at, at)
        if sign.is_word("not"):
            self._take()
        opened = self._take()
        among = self._among(field, opened)
        return Not(among) if sign.is_word("not") else among

    def _among(self, field: Token, opened: Token) -> Among:
        values: list[str] = []
        places: list[int] = []
        while True:
            before = self._tokens[self._at - 1]
            places.append(self._next.at)
            values.append(self._value(before))
            self._terms += 1
            if self._terms > MAX_TERMS:
                raise InvalidFilter(places[-1], f"a filter has at most {MAX_TERMS} conditions")
            if self._next.kind != ",":
                break
            self._take()
        self._close(opened)
        return Among(field.value, tuple(values), field.at, tuple(places))

    def _value(self, before: Token) -> str:
        token = self._next
        if token.kind == "text":
            return self._take().value
        if token.kind != "word" or token.is_word("and", "or", "not"):
            raise InvalidFilter(token.at, f"a value is missing after “{before.value}”")
        return self._words(with_texts=False)

    def _words(self, *, with_texts: bool = True) -> str:
        """The following words that belong together."""
        kinds = ("word", "text") if with_texts else ("word",)
        said = [self._take().value]
        while self._next.kind in kinds and not self._next.is_word("and", "or", "not"):
            if self._begins_comparison(0):
                break
            said.append(self._take().value)
        return " ".join(said)
