"""Entries of a network as an entity, and the entries that a change of the entity stores. Pure.

An entry is one provider's pairs about one type, id and scope; a server returns the latest of its providers. The entity
has the attributes of all its scopes; of two with one name, the later. An attribute is changed in the scope where it
is, and added in the scope of the request.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from brokerweb.ngsi.model import Attribute, Entity
from brokerweb.ngsi.pairs import attributes_of

SCOPE = "ngsi"
"""Where attributes are added by requests without a scope."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Times are Unix milliseconds."""

    type: str
    id: str
    scope: str
    pairs: Mapping[str, str] | None
    text: str
    stored_ms: int
    end_ms: int
    provider: str = ""

    @property
    def attributes(self) -> dict[str, Attribute]:
        return attributes_of(self.pairs, self.text, self.scope)


@dataclass(frozen=True, slots=True)
class Put:
    """The attributes that a scope then has. ``until_ms``: the end of validity; ``None``: the longest."""

    scope: str
    attributes: Mapping[str, Attribute]
    until_ms: int | None


@dataclass(frozen=True, slots=True)
class Withdraw:
    """A scope that then has no attributes."""

    scope: str


Step = Put | Withdraw


def entity_of(entries: Iterable[Entry]) -> Entity | None:
    """Of the entries of one type and id; ``None`` without any."""
    latest = latest_of(entries)
    if not latest:
        return None
    attributes: dict[str, Attribute] = {}
    for entry in latest:
        attributes.update(entry.attributes)
    last = latest[-1]
    return Entity(last.id, last.type, attributes, last.stored_ms, max(entry.end_ms for entry in latest))


def latest_of(entries: Iterable[Entry]) -> list[Entry]:
    """The latest entry of each scope, the latest of all at the end."""
    found: dict[str, Entry] = {}
    for entry in sorted(entries, key=lambda one: (one.stored_ms, one.provider)):
        found[entry.scope] = entry
    return sorted(found.values(), key=lambda one: (one.stored_ms, one.scope))


def steps(
    entries: Sequence[Entry],
    *,
    changed: Mapping[str, Attribute],
    removed: Collection[str] = (),
    scope: str = SCOPE,
    until_ms: int | None = None,
) -> list[Step]:
    """What to store so that attributes are ``changed`` or added, and others ``removed``.

    ``entries`` are those of one entity; none: it is created. Validity ends at ``until_ms``, else with that of the entry
    that is changed.
    """
    latest = {entry.scope: entry for entry in latest_of(entries)}
    homes = {name: entry.scope for entry in latest.values() for name in entry.attributes}
    places: dict[str, dict[str, Attribute]] = {}
    for name, one in changed.items():
        places.setdefault(homes.get(name, scope), {})[name] = one
    concerned = {place for place, entry in latest.items() if any(name in entry.attributes for name in removed)}
    if until_ms is not None and not places and not concerned:
        concerned = set(latest)
    if not latest and not places:
        places[scope] = {}
    result: list[Step] = []
    for place in sorted(concerned | places.keys()):
        # What a later scope hides would come to light if it were stored again.
        gone = {*removed, *(name for name, home in homes.items() if home != place)}
        result.append(_step(place, latest.get(place), places.get(place, {}), gone, until_ms))
    return _kept_alive(result, latest, scope, until_ms)


def _step(
    place: str,
    entry: Entry | None,
    changed: Mapping[str, Attribute],
    removed: Collection[str],
    until_ms: int | None,
) -> Step:
    before = entry.attributes if entry is not None else {}
    after = {name: one for name, one in before.items() if name not in removed or name in changed} | dict(changed)
    if before and not after:
        return Withdraw(place)
    return Put(place, after, until_ms if until_ms is not None or entry is None else entry.end_ms)


def _kept_alive(result: list[Step], latest: Mapping[str, Entry], scope: str, until_ms: int | None) -> list[Step]:
    """An entity without attributes still exists."""
    gone = {step.scope for step in result if isinstance(step, Withdraw)}
    if gone and gone == latest.keys() and not any(isinstance(step, Put) for step in result):
        end_ms = max(entry.end_ms for entry in latest.values()) if until_ms is None else until_ms
        result = [Put(scope, {}, end_ms), *(step for step in result if step.scope != scope)]
    return result


def replaced(
    entries: Sequence[Entry], attributes: Mapping[str, Attribute], scope: str, until_ms: int | None
) -> list[Step]:
    """What to store so that the entity has these attributes and no others, all in one scope."""
    ends = [entry.end_ms for entry in entries]
    end_ms = until_ms if until_ms is not None or not ends else max(ends)
    others = sorted({entry.scope for entry in entries} - {scope})
    return [Put(scope, attributes, end_ms), *map(Withdraw, others)]
