"""Functions as people write them.

::

    scope  = and { "or" and } ;  and = not { "and" not } ;  not = "not" not | "exists" var | cmp | "(" scope ")"
    cmp    = sum op sum [ op sum ] ;            op = "<" "<=" ">" ">=" "=" "!="      (a <= b <= c chains)
    sum    = term { ("+"|"-") term } ;          term = unary { ("*"|"/") unary } ;   unary = "-" unary | atom
    atom   = number | string | "true" | "false" | var | func "(" sum {"," sum} ")" | "(" sum ")"
    var    = ("pub"|"this") "." name ;          func = "abs" | "min" | "max" | "dist"

What stands in parentheses is read as a whole, whether it is a scope or a sum; ``tree`` then checks kinds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn

from overlay.core.settings import InvalidText
from overlay.systems.silbops.content.values import KINDS
from overlay.systems.silbops.scope.tree import (
    ARITHMETIC,
    COMPARISONS,
    MAX_DEPTH,
    NO_TEST,
    PUBLISHER,
    SUBSCRIBER,
    TRUTHS,
    InvalidScope,
    Node,
    Tree,
    constant,
    join,
    read,
)

MAX_TEXT_BYTES = 512
"""In UTF-8."""
MAX_NESTING = 3 * MAX_DEPTH
"""Of parentheses and signs in a text, which are no levels of the tree."""
_TOKEN = re.compile(
    r"""\s*(?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"""
    r"""|(?P<variable>(?:pub|this)\.[A-Za-z_][A-Za-z0-9_.]*)|(?P<word>[A-Za-z_]+)"""
    r"""|(?P<mark>!=|<=|>=|[=<>(),+\-*/])|(?P<end>\Z))"""
)
_SIDES = {"pub": PUBLISHER, "this": SUBSCRIBER}
_FUNCTIONS = tuple(name for name in ARITHMETIC if name.isalpha())
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
"""What someone may have meant as a variable or a function."""
_INSTEAD = {"'": "texts stand in double quotes", "&": "write and", "|": "write or", "!": "write not"}
"""Of marks of other languages."""


_WORDS = ("and", "or", "not", "exists")


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


def parse(text: str) -> Tree:
    """Raises ``InvalidText`` with the position of the error."""
    if len(text.encode(errors="replace")) > MAX_TEXT_BYTES:
        raise InvalidText(0, f"the text has more than {MAX_TEXT_BYTES} bytes")
    parser = _Parser(text)
    node = parser.either(0)
    parser.expect_end()
    if not isinstance(node, tuple):
        raise InvalidText(0, f"{json.dumps(node, ensure_ascii=False)} is a {KINDS[type(node)]}, which {NO_TEST}")
    try:
        return read(node)
    except InvalidScope as error:  # kinds, and limits of the function as a whole
        raise InvalidText(0, error.sentence) from None


def formatted(node: Node) -> str:
    """A text that ``parse`` reads as the same tree."""
    if not isinstance(node, tuple):
        return json.dumps(node, ensure_ascii=False)
    head, *operands = node
    if head in TRUTHS:
        return str(head)
    if head in (PUBLISHER, SUBSCRIBER):
        return f"{'pub' if head == PUBLISHER else 'this'}.{operands[0]}"
    if head in ("not", "exists"):
        return f"{head} {_inside(operands[0], 3)}"
    if head in _FUNCTIONS:
        return f"{head}({', '.join(map(formatted, operands))})"
    if len(operands) == 1:
        return f"-{_inside(operands[0], 7)}"
    level = _LEVELS[head]
    first, *others = operands
    return f" {head} ".join([_inside(first, level), *(_inside(operand, level + 1) for operand in others)])


_LEVELS = {"or": 1, "and": 2, **dict.fromkeys(COMPARISONS, 4), "+": 5, "-": 5, "*": 6, "/": 6}
"""How strongly an operator binds."""


def _inside(node: Node, level: int) -> str:
    """In parentheses if it binds less strongly than ``level``."""
    text = formatted(node)
    if isinstance(node, tuple):
        is_sign = node[0] == "-" and len(node) == 2
        own = 7 if is_sign else _LEVELS.get(node[0], 3 if node[0] in ("not", "exists") else 8)
        return text if own >= level else f"({text})"
    is_negative = isinstance(node, int | float) and node < 0
    return f"({text})" if is_negative and level > 5 else text


class _Parser:
    """Recursive descent; the next token is always read."""

    def __init__(self, text: str) -> None:
        self._text, self._position = text, 0
        self._next = self._read()

    def either(self, depth: int) -> Node:
        return self._joined("or", self._both, depth)

    def _both(self, depth: int) -> Node:
        return self._joined("and", self._single, depth)

    def _joined(self, word: str, inner: Callable[[int], Node], depth: int) -> Node:
        first = inner(depth)
        if not self._is_next(word):
            return first
        parts = [self._test(first, word)]
        while self._is_next(word):
            self._advance()
            parts.append(self._test(inner(depth), word))
        return join(word, parts)

    def _single(self, depth: int) -> Node:
        self._check(depth)
        if self._is_next("not"):
            self._advance()
            return ("not", self._single(depth + 1))
        if self._is_next("exists"):
            self._advance()
            if self._next.kind != "variable":
                self._fail("exists is followed by a variable, such as pub.x")
            return ("exists", self._variable())
        return self._comparison(depth)

    def _comparison(self, depth: int) -> Node:
        left = self._sum(depth)
        if not self._is_next(*COMPARISONS):
            return left
        op, middle = self._operator(), self._sum(depth)
        first: Tree = (op, left, middle)
        if not self._is_next(*COMPARISONS):
            return first
        op, right = self._operator(), self._sum(depth)
        if self._is_next(*COMPARISONS):
            self._fail("a chain has two comparisons at most; join more with and")
        return join("and", [first, (op, middle, right)])

    def _operator(self) -> str:
        op = self._advance().text
        if op == "=" and self._is_next("="):
            quotes = ", and texts stand in double quotes" if "'" in self._text else ""
            self._fail(f"write = instead of =={quotes}")
        return op

    def _sum(self, depth: int) -> Node:
        return self._left_to_right(("+", "-"), self._term, depth)

    def _term(self, depth: int) -> Node:
        return self._left_to_right(("*", "/"), self._unary, depth)

    def _left_to_right(self, ops: Sequence[str], inner: Callable[[int], Node], depth: int) -> Node:
        found = inner(depth)
        while self._is_next(*ops):
            found = (self._advance().text, found, inner(depth))
        return found

    def _unary(self, depth: int) -> Node:
        self._check(depth)
        if self._is_next("-"):
            self._advance()
            return ("-", self._unary(depth + 1))
        return self._atom(depth)

    def _atom(self, depth: int) -> Node:
        if self._next.kind in ("number", "string"):
            return self._constant(self._next.text)
        if self._next.kind == "variable":
            return self._variable()
        if self._is_next(*TRUTHS):
            return (self._advance().text,)
        if self._is_next(*_FUNCTIONS):
            return self._call(depth)
        if self._next.kind == "word" and self._next.text not in _WORDS:
            self._fail_unknown()
        if not self._is_next("("):
            self._fail("a variable such as pub.x or this.x, a number, a text in quotes, or ( is expected here")
        self._advance()
        inner = self.either(depth + 1)
        self._expect(")")
        return inner

    def _call(self, depth: int) -> Node:
        name, operands = self._advance().text, []
        self._expect("(")
        while True:
            operands.append(self._sum(depth + 1))
            if not self._is_next(","):
                break
            self._advance()
        self._expect(")")
        return (name, *operands)

    def _constant(self, text: str) -> Node:
        at = self._advance().at
        try:
            value = json.loads(text, strict=False)
            return constant(value)
        except ValueError:
            raise InvalidText(at, f"{text} is no number or text as JSON has them") from None
        except InvalidScope as error:
            raise InvalidText(at, error.sentence) from None

    def _variable(self) -> Tree:
        side, _, name = self._advance().text.partition(".")
        return (_SIDES[side], name)

    def _test(self, node: Node, word: str) -> Tree:
        if not isinstance(node, tuple):
            self._fail(f"{word} joins comparisons, not {json.dumps(node)}")
        return node

    def _advance(self) -> _Token:
        """The token that was next."""
        token, self._next = self._next, self._read()
        return token

    def _read(self) -> _Token:
        match = _TOKEN.match(self._text, self._position)
        if match is None or match.lastgroup is None:
            at = len(self._text) - len(self._text[self._position :].lstrip())
            rest = self._text[at]
            instead = f"; {_INSTEAD[rest]}" if rest in _INSTEAD else ""
            raise InvalidText(
                at, "a text has no end" if rest == '"' else f"{rest!r} is not part of the language{instead}"
            )
        self._position = match.end()
        return _Token(match.lastgroup, match[match.lastgroup], match.start(match.lastgroup))

    def _is_next(self, *texts: str) -> bool:
        return self._next.kind in ("mark", "word") and self._next.text in texts

    def _expect(self, text: str) -> None:
        if not self._is_next(text):
            self._fail(f"{text} is expected here")
        self._advance()

    def expect_end(self) -> None:
        if self._next.kind != "end":
            self._fail("and, or, an operator or the end is expected here")

    def _check(self, depth: int) -> None:
        if depth > MAX_NESTING:
            self._fail(f"it is nested more than {MAX_NESTING} deep")

    def _fail_unknown(self) -> NoReturn:
        """Of a word where a value is expected."""
        from difflib import get_close_matches  # only for errors

        match = _NAME.match(self._text, self._next.at)
        assert match is not None, "a word is a name"
        name = match[0]
        if self._text[match.end() :].lstrip().startswith("("):
            near = get_close_matches(name.lower(), _FUNCTIONS, n=1)
            wanted = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(_FUNCTIONS)}"
            self._fail(f"{name} is no function{wanted}")
        own = name.rpartition(".")[2]
        near = [name.lower()] if name.lower() in TRUTHS else [f"{side}.{own}" for side in _SIDES if own]
        wanted = f"; did you mean {' or '.join(near)}?" if near else ""
        self._fail(
            f"{name} is unknown: variables are pub.NAME of the publisher and this.NAME of the subscriber{wanted}"
        )

    def _fail(self, sentence: str) -> NoReturn:
        raise InvalidText(self._next.at, sentence)
