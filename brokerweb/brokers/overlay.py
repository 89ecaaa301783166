"""The drawing of all servers: the topology, and the servers that are not on it. Counterpart:
``static/js/run-overlay.js``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from brokerweb.brokers.names import ServerNames
from brokerweb.topologies import pictures

SHAPES = ("ellipse", "round-rectangle", "diamond", "hexagon", "triangle")
"""Of the nodes of each role in turn."""
APART = 0.25
"""The distance between the topology and the row below it, as a share of the drawing."""


def picture(topology: Mapping[str, Any], servers: ServerNames) -> dict[str, Any]:
    """The topology of a run or network as launched, with a row of its other servers below. Each node has its title and,
    if there are several roles, the shape of its role."""
    drawn = pictures.of_document(topology)
    if servers.removed:
        drawn["nodes"] = [node for node in drawn["nodes"] if node["index"] not in servers.removed]
    nodes = drawn["nodes"]
    others = range(topology["brokers"], len(servers))
    places = _row(nodes, len(others))
    nodes += [{"index": at, "name": str(at), "x": x, "y": y} for at, (x, y) in zip(others, places, strict=True)]
    if servers.has_roles:
        shapes = dict(zip(servers.roles, SHAPES * len(servers.roles), strict=False))
        for node in nodes[: len(servers)]:
            index, full = node["index"], servers.full(node["index"])
            name = full if node["name"] == str(index) else node["name"]
            node |= {"name": name, "title": full, "shape": shapes[servers.role(index)]}
    return drawn


def _row(nodes: Sequence[Mapping[str, Any]], count: int) -> Iterator[tuple[float | None, float | None]]:
    """Places below ``nodes``; none if these have none."""
    placed = [(node["x"], node["y"]) for node in nodes if node["x"] is not None]
    if len(placed) < len(nodes) or not placed:
        yield from [(None, None)] * count
        return
    xs, ys = zip(*placed, strict=True)
    side = max(max(xs) - min(xs), max(ys) - min(ys)) or 1.0
    left, width = (min(xs) + max(xs) - side) / 2, side / count if count else 0
    for at in range(count):
        yield left + width * (at + 0.5), max(ys) + APART * side
