"""``orderBy`` (section "Ordering Results"). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from brokerweb.ngsi.model import Entity
from brokerweb.ngsi.v2.rendering import with_builtin

MISSING, OTHER = (0, 0), 4


def ordered(entities: Iterable[Entity], names: Sequence[str]) -> list[Entity]:
    """By the first name, then by the next; ``!`` before a name reverses it. Missing attributes come first."""
    found = list(entities)
    for name in reversed(names):
        found.sort(key=partial(_key, name=name.removeprefix("!")), reverse=name.startswith("!"))
    return found


def _key(entity: Entity, name: str) -> tuple[int, Any]:
    if name in ("id", "type"):
        return 2, getattr(entity, name)
    one = with_builtin(entity).get(name)
    if one is None:
        return MISSING
    if isinstance(one.value, bool):
        return 3, one.value
    if isinstance(one.value, int | float):
        return 1, one.value
    return (2, one.value) if isinstance(one.value, str) else (OTHER, 0)
