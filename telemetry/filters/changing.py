"""Adds a condition to a filter or removes it, for buttons on pages. Pure."""

from __future__ import annotations

from telemetry.filters.tree import And, Comparison, Everything, Node


def has(tree: Node, one: Comparison) -> bool:
    """Whether ``tree`` requires ``one`` for every run."""
    return one in _parts(tree)


def toggled(tree: Node, one: Comparison) -> Node:
    """``tree`` without ``one`` if it contains it, otherwise with it, replacing another required value of its field."""
    parts = _parts(tree)
    if one in parts:
        return _together([part for part in parts if part != one])
    return _together([part for part in parts if not _is_other(part, one)] + [one])


def _is_other(part: Node, one: Comparison) -> bool:
    """Two required values of one field would select nothing, except for tags, of which a run may have several."""
    if one.field == "tag":
        return False
    return isinstance(part, Comparison) and (part.field.lower(), part.op, one.op) == (one.field, "=", "=")


def demanded(tree: Node, field: str) -> str:
    """The value that ``tree`` requires for a field; empty if there is none."""
    for part in _parts(tree):
        if isinstance(part, Comparison) and (part.field.lower(), part.op) == (field, "="):
            return part.value
    return ""


def both(tree: Node, other: Node) -> Node:
    """The conjunction of both filters."""
    return _together([*_parts(tree), *_parts(other)])


def _parts(tree: Node) -> list[Node]:
    if isinstance(tree, Everything):
        return []
    return list(tree.parts) if isinstance(tree, And) else [tree]


def _together(parts: list[Node]) -> Node:
    if not parts:
        return Everything()
    return parts[0] if len(parts) == 1 else And(tuple(parts))
