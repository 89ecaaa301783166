"""The nodes of a function, as nested tuples.

::

    ("and", ("<=", ("-", ("s", "x"), 20), ("p", "x")), ("exists", ("p", "speed")))

``("p", name)`` is a variable of the publisher, ``("s", name)`` of the subscriber. Numbers and texts stand for
themselves; true and false, which Python calls equal to 1 and 0, are ``("true",)`` and ``("false",)``. In messages the
tuples are arrays. Equal functions have equal tuples: ``and`` in ``and`` is one node, a chain of comparisons is an
``and`` of two, and a number without a fraction is an integer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NoReturn

from overlay.core.errors import WireError, shown
from overlay.systems.silbops.content.values import (
    BOOL,
    KINDS,
    NUMBER,
    TEXT,
    InvalidContent,
    checked_name,
    checked_value,
)

Node = tuple[Any, ...] | int | float | str
Tree = tuple[Any, ...]
"""A node that is true or false: a whole function."""

MAX_NODES = 64
MAX_DEPTH = 12
"""Nesting; a constant or variable alone is one level."""

PUBLISHER, SUBSCRIBER = "p", "s"
TRUTHS: Mapping[str, bool] = {"true": True, "false": False}
CONNECTIVES = ("and", "or")
COMPARISONS = ("<", "<=", ">", ">=", "=", "!=")
ORDERS = COMPARISONS[:4]
ARITHMETIC: Mapping[str, tuple[int, int]] = {
    "+": (2, 2),
    "-": (1, 2),
    "*": (2, 2),
    "/": (2, 2),
    "abs": (1, 1),
    "min": (1, MAX_NODES),
    "max": (1, MAX_NODES),
    "dist": (4, 4),
}
"""The smallest and largest number of operands."""
_EXACT: Final = 1 << 53
"""Up to here, each integer is a float64."""
_UNKNOWN = "unknown"
NO_TEST = "is neither true nor false; comparisons, exists, and, or and not are"
"""Of what is no function: the end of a sentence."""


class InvalidScope(WireError):
    """A function that is refused, with the reason as a sentence."""

    def __init__(self, sentence: str, *, is_limit: bool = False) -> None:
        super().__init__(f"Invalid scope function: {sentence}.")
        self.sentence = sentence
        self.is_limit = is_limit
        """Whether it is well formed, but exceeds a limit."""


def read(value: Any) -> Tree:
    """The function in nested lists or tuples, in its one form. Raises ``InvalidScope``."""
    return _Reader().test(value, 1)


def variables(tree: Node, side: str) -> tuple[str, ...]:
    """Names without which it is false, of ``side``, sorted: those under ``exists`` are not among them."""
    return tuple(sorted({name for one, name in _variables(tree) if one == side}))


def names(tree: Node, side: str) -> frozenset[str]:
    """All variables of ``side`` that it reads, also under ``exists``."""
    return frozenset(name for one, name in _variables(tree, is_all=True) if one == side)


def constant(value: Any) -> Node:
    """In its one form. Raises ``InvalidScope``."""
    if type(value) is bool:
        return ("true",) if value else ("false",)
    if type(value) is int and abs(value) > _EXACT:
        value = float(value)
    elif type(value) is float and value.is_integer() and abs(value) <= _EXACT:
        value = int(value)
    try:
        return checked_value(value)
    except InvalidContent as error:
        refuse(error.sentence, is_limit=error.is_limit)


def join(connective: str, parts: Sequence[Tree]) -> Tree:
    """``and`` or ``or`` of them: parts that are the same are taken apart, one alone stands for itself."""
    flat = [one for part in parts for one in (part[1:] if part[0] == connective else (part,))]
    return (connective, *flat) if len(flat) > 1 else flat[0]


def refuse(sentence: str, *, is_limit: bool = False) -> NoReturn:
    raise InvalidScope(sentence, is_limit=is_limit)


def _variables(node: Node, *, is_all: bool = False) -> Iterator[tuple[str, str]]:
    if isinstance(node, tuple):
        head, *operands = node
        if head in (PUBLISHER, SUBSCRIBER):
            yield head, operands[0]
        elif head != "exists" or is_all:
            for operand in operands:
                yield from _variables(operand, is_all=is_all)


class _Reader:
    """Counts the nodes of one function while reading it."""

    __slots__ = ("_nodes",)

    def __init__(self) -> None:
        self._nodes = 0

    def test(self, value: Any, depth: int) -> Tree:
        """A node that is true or false."""
        head, operands = self._head(value, depth)
        if head in CONNECTIVES:
            if len(operands) < 2:
                refuse(f"{head} takes two or more operands")
            return join(head, [self.test(operand, depth + 1) for operand in operands])
        if head == "not":
            return ("not", self.test(_only(head, operands), depth + 1))
        if head == "exists":
            node, _ = self.operand(_only(head, operands), depth + 1)
            if not isinstance(node, tuple) or node[0] not in (PUBLISHER, SUBSCRIBER):
                refuse("exists takes a variable")
            return ("exists", node)
        if head in COMPARISONS:
            return self._comparison(head, operands, depth)
        if head in TRUTHS:
            refuse(f"{head} alone compares nothing")
        if head in (PUBLISHER, SUBSCRIBER):
            refuse(f"a variable alone {NO_TEST}")
        if head in ARITHMETIC:
            refuse(f"{head} gives a number, which {NO_TEST}")
        refuse(f"{shown(head)} {NO_TEST}")

    def _comparison(self, head: str, operands: Sequence[Any], depth: int) -> Tree:
        if len(operands) != 2:
            refuse(f"{head} compares two operands, not {len(operands)}")
        (left, kind), (right, other) = (self.operand(operand, depth + 1) for operand in operands)
        if _UNKNOWN not in (kind, other) and kind is not other:
            refuse(f"{head} compares a {kind} with a {other}")
        if head in ORDERS and BOOL in (kind, other):
            refuse(f"{head} does not compare true and false")
        return (head, left, right)

    def operand(self, value: Any, depth: int) -> tuple[Node, str]:
        """A node that has a value, and the kind of the value, as far as it is known."""
        if not isinstance(value, list | tuple):
            self._count(depth)
            node = constant(value)
            return node, KINDS[type(value)]
        head, operands = self._head(value, depth)
        if head in TRUTHS and not operands:
            return (head,), BOOL
        if head in (PUBLISHER, SUBSCRIBER):
            try:
                return (head, checked_name(_only(head, operands))), _UNKNOWN
            except InvalidContent as error:
                refuse(error.sentence)
        fewest, most = ARITHMETIC.get(head, (0, -1))
        if most < 0:
            refuse(f"{shown(head)} has no value; variables, + - * / abs min max and dist have")
        if not fewest <= len(operands) <= most:
            refuse(f"{head} does not take {len(operands)} operands")
        found = [self.operand(operand, depth + 1) for operand in operands]
        for _, kind in found:
            if kind in (BOOL, TEXT):
                refuse(f"{head} takes numbers, not a {kind}")
        nodes = [node for node, _ in found]
        if head == "-" and len(nodes) == 1 and isinstance(nodes[0], int | float):
            return constant(-nodes[0]), NUMBER
        return (head, *nodes), NUMBER

    def _head(self, value: Any, depth: int) -> tuple[str, Sequence[Any]]:
        self._count(depth)
        if not isinstance(value, list | tuple) or not value or type(value[0]) is not str:
            refuse(f"{shown(value)} is no list of a comparison, exists, and, or or not, and its operands")
        return value[0], value[1:]

    def _count(self, depth: int) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            refuse(f"it has more than {MAX_NODES} nodes", is_limit=True)
        if depth > MAX_DEPTH:
            refuse(f"it is nested more than {MAX_DEPTH} deep", is_limit=True)


def _only(head: str, operands: Sequence[Any]) -> Any:
    if len(operands) != 1:
        refuse(f"{head} takes one operand, not {len(operands)}")
    return operands[0]
