"""Rows of the tables of one system, from dataclasses of their columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from operator import attrgetter
from typing import Any

from overlay.journal.facts import Row


class Rows:
    def __init__(self, tables: Mapping[str, type]) -> None:
        """``tables`` as in ``Telemetry.tables``."""
        self._names = {kind: name for name, kind in tables.items()}
        self._values = {kind: _values(*(field.name for field in fields(kind))) for kind in self._names}

    def row(self, at_us: int, value: Any, process: str = "") -> Row:
        """``value``: of a class of the tables. ``process`` is filled in for clients."""
        kind = type(value)
        return Row(process, at_us, self._names[kind], self._values[kind](value))


def _values(*names: str) -> Any:
    of = attrgetter(*names)
    return (lambda value: [of(value)]) if len(names) == 1 else lambda value: list(of(value))
