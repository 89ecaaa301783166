"""An expression as the terms of one ``and``, which is what matching and covering look at."""

from __future__ import annotations

from overlay.systems.federation.language.tree import And, Expression, Predicate

ENTITY_ID = "entity.id"


def terms(expression: Expression) -> list[Expression]:
    """All of them are true exactly where ``expression`` is. None of them is an ``and``."""
    if not isinstance(expression, And):
        return [expression]
    return [term for part in expression.parts for term in terms(part)]


def fixed_entity(parts: list[Expression]) -> tuple[str, list[Expression]] | None:
    """The id that an entity must have to satisfy all of ``parts``, and the others; None if they fix none."""
    for i, part in enumerate(parts):
        if isinstance(part, Predicate) and part.name == ENTITY_ID and part.operator in ("=", "in"):
            constants = set(part.constants)
            if len(constants) == 1 and isinstance(part.constants[0], str):
                return part.constants[0], parts[:i] + parts[i + 1 :]
    return None
