"""What a subscription is about, and which changes it is told of. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brokerweb.ngsi.entries import Entry, entity_of
from brokerweb.ngsi.model import Entity
from brokerweb.ngsi.scopes import EVERYWHERE, Scopes
from brokerweb.ngsi.selection import Selection, View


@dataclass(frozen=True, slots=True)
class Rule:
    """One subscription, read. ``watched``: attributes whose change matters; empty: any."""

    url: str
    selection: Selection
    view: View
    """The attributes that the condition sees."""
    notification: Callable[[Sequence[Entity], int], tuple[Mapping[str, str], Any]]
    """Headers and JSON for entities, and a time in Unix milliseconds."""
    watched: frozenset[str] = frozenset()
    throttling_s: float = 0.0
    scopes: Scopes = EVERYWHERE

    def concerns(self, type: str, id: str, before: Sequence[Entry], after: Sequence[Entry]) -> bool:
        """Whether it is told of a change of the entity with these entries."""
        if not self.selection.includes(type, id):
            return False
        new, old = self.entity(after), self.entity(before)
        if new is None or not self.selection.selects(new, self.view):
            return False
        known = old.attributes if old is not None else {}
        if old is None and not new.attributes:
            return not self.watched
        changed = {name for name, one in new.attributes.items() if known.get(name) != one}
        return bool(changed) and (not self.watched or not self.watched.isdisjoint(changed))

    def entity(self, entries: Sequence[Entry]) -> Entity | None:
        return entity_of(entry for entry in entries if entry.scope in self.scopes)
