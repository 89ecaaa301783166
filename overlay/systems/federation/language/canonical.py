"""One form for expressions that differ only in order, repetition and the spelling of numbers.

Equal forms have equal meaning. The reverse is not promised: ``x > 3 or x > 5`` is not simplified.
"""

from __future__ import annotations

from collections.abc import Iterable

from overlay.systems.federation.language.tree import And, Constant, Expression, Not, Or, Predicate, is_in_range, written


def canonical(expression: Expression) -> Expression:
    """Parts and the constants of ``in`` are sorted and without repetitions; ``and`` in ``and``, ``or`` in ``or``, and
    ``not`` in ``not`` are resolved; a whole number is an integer."""
    match expression:
        case And(parts):
            return _joined(And, map(canonical, parts))
        case Or(parts):
            return _joined(Or, map(canonical, parts))
        case Not(part):
            inner = canonical(part)
            return inner.part if isinstance(inner, Not) else Not(inner)
        case Predicate():
            return _predicate(expression)


def identity(expression: Expression) -> str:
    """Equal if and only if the canonical forms are. In Python, 1 and True are equal, too; here they are not."""
    return repr(written(canonical(expression)))


def _joined(kind: type[And] | type[Or], parts: Iterable[Expression]) -> Expression:
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, kind) else (part,))]
    distinct = {repr(written(part)): part for part in flat}
    ordered = tuple(distinct[key] for key in sorted(distinct))
    return ordered[0] if len(ordered) == 1 else kind(ordered)


def _predicate(predicate: Predicate) -> Predicate:
    constants = tuple(map(_constant, predicate.constants))
    if predicate.operator != "in":
        return Predicate(predicate.name, predicate.operator, constants)
    distinct = {repr(one): one for one in constants}
    ordered = tuple(distinct[key] for key in sorted(distinct))
    return Predicate(predicate.name, "=" if len(ordered) == 1 else "in", ordered)


def _constant(constant: Constant) -> Constant:
    if isinstance(constant, float) and constant.is_integer() and is_in_range(int(constant)):
        return int(constant)
    return constant
