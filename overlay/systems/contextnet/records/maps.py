"""A record as a map of its fields: read, written, described."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, Final

from overlay.core.errors import shown
from overlay.messages.errors import BadMessage, Reason, refuse
from overlay.messages.kinds import Kind
from overlay.messages.layouts import Field

_NEEDED: Final = object()


@dataclass(frozen=True, slots=True)
class Layout:
    """Of a record; one per topic or family of topics."""

    record: type[Any]
    topic: str
    """As in the documentation; empty for what is part of others."""
    way: str
    """Writer and reader."""
    purpose: str
    fields: tuple[Field, ...]
    make: Callable[..., Any] | None = None
    """Makes a record of its fields; by default its class."""

    @property
    def name(self) -> str:
        return self.record.__name__


Fast = tuple[Callable[[Any], Any], Callable[[Any], dict[str, Any] | None]]


class MapCoder:
    """Reads and writes the map of one kind of record. Fields with a default may be missing, unknown ones are
    ignored."""

    def __init__(self, layout: Layout, fast: Fast | None = None) -> None:
        """``fast``: reads and writes what is usual, and gives ``None`` for what is not."""
        self.layout = layout
        defaults = {field.name: field.default for field in fields(layout.record)}
        assert list(defaults) == [field.name for field in layout.fields], "fields in the order of the class"
        self._fast = fast
        self._make = layout.make or layout.record
        self._reads = [
            (field.name, field.kind.read, _NEEDED if defaults[field.name] is MISSING else defaults[field.name])
            for field in layout.fields
        ]
        self._writes = [(field.name, field.kind.write) for field in layout.fields]
        self._unchecked = [(field.name, field.kind.read) for field in layout.fields if not _is_map(field.kind)]
        """What ``write`` must check; other coders have checked their maps."""

    def read(self, found: Any) -> Any:
        """The record. Raises ``BadMessage``."""
        try:
            if self._fast is not None and (record := self._fast[0](found)) is not None:
                return record
            return self._make(*[read(found[name]) for name, read, _ in self._reads])
        except (BadMessage, KeyError, TypeError):
            return self._read_each(found)

    def _read_each(self, found: Any) -> Any:
        """With defaults for what is missing, and the name of the field that is wrong."""
        if not isinstance(found, Mapping):
            refuse(Reason.TYPE, f"{shown(found)} is no map")
        values = []
        for name, read, default in self._reads:
            if name in found:
                values.append(self._named(name, read, found[name]))
            elif default is _NEEDED:
                refuse(Reason.COUNT, f"{self.layout.name} has no {name}")
            else:
                values.append(default)
        return self._make(*values)

    def _named(self, name: str, read: Any, value: Any) -> Any:
        try:
            return read(value)
        except BadMessage as error:
            raise BadMessage(error.reason, f"{self.layout.name}, {name}: {error.sentence}") from None

    def write(self, record: Any) -> dict[str, Any]:
        """Its map, which can be read back. Raises ``BadMessage``."""
        if self._fast is not None and (found := self._fast[1](record)) is not None:
            return found
        found = {name: write(getattr(record, name)) for name, write in self._writes}
        try:
            for name, read in self._unchecked:
                read(found[name])
        except BadMessage:
            self._read_each(found)  # which names the field
            raise
        return found

    def kind(self) -> Kind:
        """Of a field that holds such a map."""
        return Kind(self.layout.name, self.read, self.write)


def _is_map(kind: Kind) -> bool:
    return isinstance(getattr(kind.write, "__self__", None), MapCoder)
