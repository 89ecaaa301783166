"""Which entities of a network a query is about. Pure. Both standards and both kinds of subscription use it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from brokerweb.ngsi.model import Attribute, Entity
from brokerweb.ngsi.patterns import Pattern
from brokerweb.ngsi.queries.tree import EVERYTHING, Condition, meets

View = Callable[[Entity], Mapping[str, Attribute]]
"""The attributes of an entity that a condition sees."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Entities by id and type: one of these, or those that match; ``None``: any."""

    ids: frozenset[str] | None = None
    types: frozenset[str] | None = None
    id_pattern: Pattern | None = None
    type_pattern: Pattern | None = None

    def includes(self, type: str, id: str) -> bool:
        return (
            (self.ids is None or id in self.ids)
            and (self.types is None or type in self.types)
            and (self.id_pattern is None or self.id_pattern.search(id) is not None)
            and (self.type_pattern is None or self.type_pattern.search(type) is not None)
        )


@dataclass(frozen=True, slots=True)
class Selection:
    """``subjects``: entities that any of them includes; none: all."""

    subjects: tuple[Subject, ...] = ()
    condition: Condition = EVERYTHING
    some_of: frozenset[str] = frozenset()
    """Names of attributes, of which an entity has at least one; empty: no matter."""

    def includes(self, type: str, id: str) -> bool:
        return not self.subjects or any(one.includes(type, id) for one in self.subjects)

    def selects(self, entity: Entity, view: View) -> bool:
        """Of one that is included."""
        if self.some_of and self.some_of.isdisjoint(entity.attributes):
            return False
        return self.condition is EVERYTHING or meets(view(entity), self.condition)
