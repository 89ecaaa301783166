"""The logic of a group definer, and two that are built in."""

from __future__ import annotations

from collections.abc import Mapping, Set
from math import floor, isfinite
from typing import Any, Protocol, TypeGuard

_MOST_TEXT = 64


class GroupSelection(Protocol):
    def groups(self, node: bytes, context: Mapping[str, Any], before: Set[str]) -> set[str]:
        """The groups of a node with this context, which is from outside. ``before``: those it had by this definer.

        Pure: equal arguments give equal groups. If it raises an exception, the node keeps its groups.
        """
        ...


class ByRegion:
    """The cell of a grid over two fields: ``3:-1``. Without numbers there, no group."""

    def __init__(self, cell: float, x: str = "x", y: str = "y") -> None:
        """``cell``: its side, in the unit of the fields."""
        if not (isfinite(cell) and cell > 0):
            raise ValueError("the side of a cell is a number above 0")
        self._cell, self._x, self._y = cell, x, y

    def groups(self, node: bytes, context: Mapping[str, Any], before: Set[str]) -> set[str]:
        x, y = context.get(self._x), context.get(self._y)
        if not (_is_number(x) and _is_number(y)):
            return set()
        return {f"{floor(x / self._cell)}:{floor(y / self._cell)}"}


class ByField:
    """The value of a field: a text, a number, true or false. Without it, no group."""

    def __init__(self, field: str) -> None:
        self._field = field

    def groups(self, node: bytes, context: Mapping[str, Any], before: Set[str]) -> set[str]:
        value = context.get(self._field)
        if isinstance(value, bool):
            return {str(value).lower()}
        text = value if isinstance(value, str) else str(value) if _is_number(value) else ""
        return {text} if 0 < len(text.encode()) <= _MOST_TEXT else set()


def _is_number(value: Any) -> TypeGuard[float]:
    return type(value) in (int, float) and isfinite(value)
