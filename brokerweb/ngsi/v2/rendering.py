"""Entities as the JSON of NGSI-v2. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brokerweb.ngsi.model import Attribute, Entity
from brokerweb.ngsi.problems import wrong
from brokerweb.ngsi.times import write_time
from brokerweb.ngsi.v2.names import BUILTIN

NORMALIZED = "normalized"
FORMATS = (NORMALIZED, "keyValues", "values", "unique")


@dataclass(frozen=True, slots=True)
class Shape:
    """How entities are shown. ``attrs`` and ``metadata`` name what is; ``None``: everything that is no builtin."""

    format: str = NORMALIZED
    attrs: tuple[str, ...] | None = None
    metadata: tuple[str, ...] | None = None

    def entity(self, one: Entity) -> Any:
        """The representation of an entity."""
        shown = self.attributes(one)
        return shown if isinstance(shown, list) else {"id": one.id, "type": one.type, **shown}

    def attributes(self, one: Entity) -> Any:
        """The same without id and type."""
        selected = self._selected(one)
        if self.format == NORMALIZED:
            return {name: self.attribute(value, one) for name, value in selected.items()}
        if self.format == "keyValues":
            return {name: value.value for name, value in selected.items()}
        values = [value.value for value in selected.values()]
        return _unique(values) if self.format == "unique" else values

    def attribute(self, one: Attribute, of: Entity) -> dict[str, Any]:
        metadata = {name: {"type": meta.type, "value": meta.value} for name, meta in one.metadata.items()}
        if self.metadata is not None:
            metadata = _selected_metadata(metadata, self.metadata, of)
        return {"type": one.type, "value": one.value, "metadata": metadata}

    def _selected(self, one: Entity) -> dict[str, Attribute]:
        if self.attrs is None:
            return {name: value for name, value in one.attributes.items() if name not in BUILTIN}
        found: dict[str, Attribute] = {}
        for name in self.attrs:
            if name == "*":
                found.update(one.attributes)
            elif (value := with_builtin(one).get(name)) is not None:
                found[name] = value
        return found


def shape_of(options: Iterable[str], attrs: Sequence[str] | None, metadata: Sequence[str] | None) -> Shape:
    """Raises ``Problem`` for two formats."""
    formats = [one for one in options if one in FORMATS]
    if len(formats) > 1:
        raise wrong(f"options: {' and '.join(sorted(formats))} exclude each other.")
    named = tuple(attrs) if attrs else None
    return Shape(formats[0] if formats else NORMALIZED, named, tuple(metadata) if metadata else None)


def with_builtin(one: Entity) -> Mapping[str, Attribute]:
    """Its attributes, and those that the server sets. The date of creation is not known."""
    return {
        **one.attributes,
        "dateModified": Attribute(write_time(one.modified_ms), "DateTime"),
        "dateExpires": Attribute(write_time(one.expires_ms), "DateTime"),
    }


def _selected_metadata(metadata: Mapping[str, Any], names: Sequence[str], of: Entity) -> dict[str, Any]:
    builtin = {"dateModified": {"type": "DateTime", "value": write_time(of.modified_ms)}}
    found: dict[str, Any] = {}
    for name in names:
        if name == "*":
            found.update(metadata)
        elif (value := metadata.get(name, builtin.get(name))) is not None:
            found[name] = value
    return found


def _unique(values: Iterable[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if not any(type(value) is type(one) and value == one for one in found):
            found.append(value)
    return found
