"""Expressions in ContextML: ``and``, ``or``, ``not`` and ``pred``.

A predicate with one constant has it as its text; one with several, or with none, has a ``par`` for each.
"""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element

from overlay.core.errors import shown
from overlay.systems.federation.contextml.scalars import read_scalar, write_scalar
from overlay.systems.federation.contextml.xml import attributes, children, refuse, written
from overlay.systems.federation.language.tree import CONNECTIVES, OPERATORS, And, Expression, Not, Or, Predicate

_WORDS = {"=": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_OPERATORS = {_WORDS.get(operator, operator): operator for operator in OPERATORS}
_TAGS = (*CONNECTIVES, "pred")


def read_constraint(element: Element) -> list[Any]:
    """The expression in ``constraint`` as nested lists, unchecked."""
    attributes(element)
    parts = children(element, *_TAGS)
    if len(parts) != 1:
        refuse(f"constraint has {len(parts)} elements instead of one")
    return _node(parts[0])


def _node(element: Element) -> list[Any]:
    if element.tag == "pred":
        return _predicate(element)
    attributes(element)
    return [element.tag, *map(_node, children(element, *_TAGS))]


def _predicate(element: Element) -> list[Any]:
    found = attributes(element, ("n", "op"), ("t",))
    operator = _OPERATORS.get(found["op"])
    if operator is None:
        refuse(f"{shown(found['op'])} is none of the operators {', '.join(_OPERATORS)}")
    if OPERATORS[operator] == (1, 1):
        return [found["n"], operator, read_scalar(element, "n", "op")]
    if "t" in found:
        refuse(f"pred with {found['op']} has a type; its elements par have one each")
    return [found["n"], operator, *map(read_scalar, children(element, "par"))]


def write_constraint(expression: Expression) -> str:
    return written("constraint", _written(expression))


def _written(expression: Expression) -> str:
    match expression:
        case And(parts):
            return written("and", "".join(map(_written, parts)))
        case Or(parts):
            return written("or", "".join(map(_written, parts)))
        case Not(part):
            return written("not", _written(part))
        case Predicate(name, operator, constants):
            names = {"n": name, "op": _WORDS.get(operator, operator)}
            if OPERATORS[operator] == (1, 1):
                return write_scalar("pred", constants[0], **names)
            return written("pred", "".join(write_scalar("par", one) for one in constants), **names)
