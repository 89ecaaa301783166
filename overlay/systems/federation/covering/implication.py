"""Whether one expression is true wherever another is, decided term by term for conjunctions, else by equality."""

from __future__ import annotations

from dataclasses import dataclass

from overlay.systems.federation.covering.ranges import is_within
from overlay.systems.federation.language.canonical import canonical, identity
from overlay.systems.federation.language.conjunctions import fixed_entity, terms
from overlay.systems.federation.language.tree import RESERVED, Expression, Predicate


@dataclass(frozen=True, slots=True)
class Conjunction:
    """The terms of an expression, prepared for many comparisons."""

    predicates: tuple[Predicate, ...]
    others: frozenset[str]
    """``identity`` of each term that is no predicate."""
    entity: str | None
    """The id that it fixes."""

    @classmethod
    def of(cls, expression: Expression) -> Conjunction:
        parts = terms(canonical(expression))
        predicates = tuple(part for part in parts if isinstance(part, Predicate))
        others = frozenset(identity(part) for part in parts if not isinstance(part, Predicate))
        fixed = fixed_entity(parts)
        return cls(predicates, others, fixed[0] if fixed else None)

    def implies(self, other: Conjunction) -> bool:
        """Whether each notification that satisfies this one satisfies ``other``. False if that is not seen."""
        return self.others >= other.others and all(
            any(implies(narrow, wide) for narrow in self.predicates) for wide in other.predicates
        )


def implies(narrow: Predicate, wide: Predicate) -> bool:
    """The same for two predicates."""
    if narrow.name == wide.name:
        return is_within(narrow, wide)
    # A value inside a structure proves that the structure is there.
    is_inside = narrow.name.startswith(f"{wide.name}.") and narrow.name not in RESERVED
    return wide.operator == "exists" and (wide.name in RESERVED or is_inside)
