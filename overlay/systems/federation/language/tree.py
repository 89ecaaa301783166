"""The nodes of an expression, and reading them from lists.

::

    ["and", ["temperature", ">", 25], ["entity.id", "=", "r17"]]

The lists are those of messages (seed 001, details, section 1) and of JSON. ``["and"]`` is true, ``["or"]`` false.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, NoReturn

from overlay.core.errors import WireError, shown

MAX_DEPTH = 8
"""Nesting; a predicate alone is one level."""
MAX_PREDICATES = 64
"""In an expression. An ``and`` or ``or`` of nothing counts as one."""
MAX_CONSTANTS = 64
"""Of a predicate."""
MAX_CHARACTERS = 256
"""Of a constant that is text."""
MAX_NAME_BYTES = 64
"""Of a name, with its dots, in UTF-8."""

RESERVED = ("scope", "entity.type", "entity.id", "timestamp")
"""Names that are no parameters. They always have exactly one value."""
OPERATORS: Mapping[str, tuple[int, int]] = {
    "=": (1, 1),
    "!=": (1, 1),
    "<": (1, 1),
    "<=": (1, 1),
    ">": (1, 1),
    ">=": (1, 1),
    "in": (1, MAX_CONSTANTS),
    "between": (2, 2),
    "exists": (0, 0),
    "prefix": (1, 1),
    "contains": (1, 1),
}
"""By operator, the smallest and largest number of constants."""
CONNECTIVES = ("and", "or", "not")

Constant = str | int | float | bool


class InvalidExpression(WireError):
    """An expression that is refused, with the reason as a sentence."""

    def __init__(self, sentence: str, *, is_limit: bool = False) -> None:
        super().__init__(f"Invalid expression: {sentence}.")
        self.sentence = sentence
        self.is_limit = is_limit
        """Whether it is well formed, but exceeds a limit."""


@dataclass(frozen=True, slots=True)
class Predicate:
    name: str
    """One of ``RESERVED``, or a parameter; dots lead into structures."""
    operator: str
    constants: tuple[Constant, ...] = ()

    @property
    def path(self) -> list[str]:
        """The parameter, and the members of structures that lead to the value."""
        return self.name.split(".")


@dataclass(frozen=True, slots=True)
class And:
    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Or:
    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Not:
    part: Expression


Expression = Predicate | And | Or | Not
EVERYTHING = And(())
"""True of every notification."""


def read(value: Any) -> Expression:
    """The expression in nested lists or tuples. Raises ``InvalidExpression``."""
    return _Reader().node(value, 1)


def written(expression: Expression) -> list[Any]:
    """As nested lists. The inverse of ``read``."""
    match expression:
        case And(parts):
            return ["and", *map(written, parts)]
        case Or(parts):
            return ["or", *map(written, parts)]
        case Not(part):
            return ["not", written(part)]
        case Predicate(name, operator, constants):
            return [name, operator, *constants]


class _Reader:
    """Counts predicates while reading one expression."""

    __slots__ = ("_leaves",)

    def __init__(self) -> None:
        self._leaves = 0

    def node(self, value: Any, depth: int) -> Expression:
        if not isinstance(value, list | tuple) or not value or type(value[0]) is not str:
            _refuse(f"{shown(value)} is no list that begins with and, or, not or a name")
        if depth > MAX_DEPTH:
            _refuse(f"it is nested more than {MAX_DEPTH} deep", is_limit=True)
        head, *rest = value
        if head not in CONNECTIVES:
            self._count()
            return predicate(head, rest)
        if head == "not":
            if len(rest) != 1:
                _refuse(f"not takes one expression, not {len(rest)}")
            return Not(self.node(rest[0], depth + 1))
        if not rest:
            self._count()
        parts = tuple(self.node(part, depth + 1) for part in rest)
        return And(parts) if head == "and" else Or(parts)

    def _count(self) -> None:
        self._leaves += 1
        if self._leaves > MAX_PREDICATES:
            _refuse(f"it has more than {MAX_PREDICATES} predicates", is_limit=True)


def predicate(name: str, rest: list[Any]) -> Predicate:
    """``rest`` is the operator and the constants. Raises ``InvalidExpression``."""
    _check_name(name)
    if not rest or type(rest[0]) is not str or rest[0] not in OPERATORS:
        operator = shown(rest[0]) if rest else "nothing"
        _refuse(f"after the name {shown(name)}, {operator} is none of the operators {' '.join(OPERATORS)}")
    operator, *constants = rest
    fewest, most = OPERATORS[operator]
    if len(constants) > MAX_CONSTANTS:
        _refuse(f"{operator} has more than {MAX_CONSTANTS} constants", is_limit=True)
    if not fewest <= len(constants) <= most:
        wanted = str(fewest) if fewest == most else f"{fewest} to {most}"
        _refuse(f"{operator} takes {wanted} constants, not {len(constants)}")
    for constant in constants:
        _check_constant(constant)
    return Predicate(name, operator, tuple(constants))


def is_in_range(number: int) -> bool:
    """Whether MessagePack can carry it: 64 bits, with or without a sign."""
    return -(1 << 63) <= number < 1 << 64


def _check_name(name: str) -> None:
    if not name or len(name.encode(errors="replace")) > MAX_NAME_BYTES:
        _refuse(f"the name {shown(name)} must have 1 to {MAX_NAME_BYTES} bytes")
    if name in CONNECTIVES:
        _refuse(f"{name} is no name")
    if not all(name.split(".")):
        _refuse(f"the name {shown(name)} has an empty part between its dots")
    _check_text(name)


def _check_constant(constant: Any) -> None:
    kind = type(constant)
    if kind is str:
        if len(constant) > MAX_CHARACTERS:
            _refuse(f"a constant has more than {MAX_CHARACTERS} characters", is_limit=True)
        _check_text(constant)
    elif kind is int:
        if not is_in_range(constant):
            _refuse("an integer has more than 64 bits")
    elif kind is float:
        if not isfinite(constant):
            _refuse(f"{constant} is no finite number")
    elif kind is not bool:
        _refuse(f"{shown(constant)} is no constant; text, numbers, true and false are")


def _check_text(text: str) -> None:
    """JSON can express half a surrogate pair, which UTF-8 cannot."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            _refuse("a text has half a surrogate pair, which is no character")


def _refuse(sentence: str, *, is_limit: bool = False) -> NoReturn:
    raise InvalidExpression(sentence, is_limit=is_limit)
