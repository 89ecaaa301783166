"""The house as a drawing: ``python -m tests.rooms [TREE]`` lists each package's rooms and the rooms that each imports.

A room is a folder or module directly inside ``overlay``, ``telemetry`` or ``brokerweb``; an arrow is one room that
imports another, however often. ``docs/architecture.md`` holds the counts of before and after the move of November 2026.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGES = ("overlay", "telemetry", "brokerweb")
Rooms = dict[str, set[str]]
"""By room, the rooms of the same package that it imports."""


def rooms_of(tree: Path, package: str) -> Rooms:
    root = tree / package
    found: Rooms = {}
    for path in sorted(root.rglob("*.py")):
        inside = path.relative_to(root).with_suffix("").parts
        if inside == ("__init__",) or "migrations" in inside:
            continue
        imported = {name.split(".")[1] for name in _imports(path) if name.startswith(f"{package}.")}
        found.setdefault(inside[0], set()).update(imported - {inside[0]})
    return {room: {other for other in others if other in found} for room, others in found.items()}


def _imports(path: Path) -> Iterator[str]:
    """Absolute module names; of ``from a import b`` both ``a`` and ``a.b``, as ``b`` may be a module."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def main(arguments: list[str]) -> int:
    tree = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    for package in PACKAGES:
        rooms = rooms_of(tree, package)
        print(f"{package}: {len(rooms)} rooms, {sum(map(len, rooms.values()))} arrows")
        for room in sorted(rooms, key=lambda one: (-len(rooms[one]), one)):
            print(f"  {room:<22} {' '.join(sorted(rooms[room]))}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
