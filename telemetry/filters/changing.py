"""A filter changed by a press instead of by typing: one condition put to it, or taken away. Pure."""

from __future__ import annotations

from telemetry.filters.tree import And, Comparison, Everything, Node


def has(tree: Node, one: Comparison) -> bool:
    """Whether ``tree`` demands ``one`` of every run."""
    return one in _parts(tree)


def toggled(tree: Node, one: Comparison) -> Node:
    """``tree`` without ``one`` if it has it, else with it, in place of another value that was demanded of its field."""
    parts = _parts(tree)
    if one in parts:
        return _together([part for part in parts if part != one])
    return _together([part for part in parts if not _is_other(part, one)] + [one])


def _is_other(part: Node, one: Comparison) -> bool:
    """Two values of one field together would choose nothing; of tags a run may have several."""
    if one.field == "tag":
        return False
    return isinstance(part, Comparison) and (part.field.lower(), part.op, one.op) == (one.field, "=", "=")


def demanded(tree: Node, field: str) -> str:
    """The value that ``tree`` demands of a field of every run; empty where it demands none."""
    for part in _parts(tree):
        if isinstance(part, Comparison) and (part.field.lower(), part.op) == (field, "="):
            return part.value
    return ""


def both(tree: Node, other: Node) -> Node:
    """What both choose."""
    return _together([*_parts(tree), *_parts(other)])


def _parts(tree: Node) -> list[Node]:
    if isinstance(tree, Everything):
        return []
    return list(tree.parts) if isinstance(tree, And) else [tree]


def _together(parts: list[Node]) -> Node:
    if not parts:
        return Everything()
    return parts[0] if len(parts) == 1 else And(tuple(parts))
