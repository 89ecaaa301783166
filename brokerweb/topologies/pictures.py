"""A topology for drawing by ``static/js/graph.js`` (``{nodes, links}``), and as an SVG sketch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from overlay.topologies import Graph
from overlay.topologies.difference import Difference

SKETCH_WIDTH, SKETCH_HEIGHT, SKETCH_EDGE = 72, 48, 4
SKETCH_LINKS = 250
"""Maximum number of lines of a sketch; beyond, an even sample looks the same at that size."""


def of_graph(graph: Graph) -> dict[str, Any]:
    return _picture(graph.brokers, ((link.a, link.b) for link in graph.links), graph.positions, graph.names)


def of_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """From the document of a launched or deployed topology (``services.document``)."""
    ends = ((link["a"], link["b"]) for link in document["links"])
    return _picture(document["brokers"], ends, document.get("positions"), document.get("names"))


def of_difference(old: Graph, new: Graph, found: Difference) -> dict[str, Any]:
    """The new version plus items removed since the old one; nodes and links carry their ``change``."""
    picture = of_graph(new)
    gone = {index: new.brokers + at for at, index in enumerate(found.brokers_removed)}
    left = of_graph(old)["nodes"]
    picture["nodes"] += [{**left[index], "index": at, "change": "removed"} for index, at in gone.items()]
    for change, indexes in (("moved", found.brokers_moved), ("added", found.brokers_added)):
        for index in indexes:
            picture["nodes"][index]["change"] = change
    renumbered = {**dict(found.pairs), **gone}
    changed = {link.ends: "changed" for _, link in found.links_changed}
    changed |= {link.ends: "added" for link in found.links_added}
    for drawn, link in zip(picture["links"], new.links, strict=True):
        if link.ends in changed:
            drawn["change"] = changed[link.ends]
    picture["links"] += [
        {"a": renumbered[link.a], "b": renumbered[link.b], "change": "removed"} for link in found.links_removed
    ]
    return picture


def sketch(graph: Graph) -> str:
    """The ``d`` attribute of an SVG path of its links, or of its brokers if there are none; empty without positions."""
    if not graph.positions:
        return ""
    left, top = min(x for x, _ in graph.positions), min(y for _, y in graph.positions)
    width, height = max(x for x, _ in graph.positions) - left, max(y for _, y in graph.positions) - top
    room = (SKETCH_WIDTH - 2 * SKETCH_EDGE, SKETCH_HEIGHT - 2 * SKETCH_EDGE)
    scale = min((space / side for space, side in zip(room, (width, height), strict=True) if side), default=0.0)
    margin = (SKETCH_WIDTH - width * scale) / 2, (SKETCH_HEIGHT - height * scale) / 2
    at = [f"{margin[0] + (x - left) * scale:.0f} {margin[1] + (y - top) * scale:.0f}" for x, y in graph.positions]
    if not graph.links:
        return "".join(f"M{place}m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0" for place in dict.fromkeys(at))
    step = -(-len(graph.links) // SKETCH_LINKS)
    return "".join(f"M{at[link.a]}L{at[link.b]}" for link in graph.links[::step])


def _picture(
    brokers: int,
    links: Iterable[tuple[int, int]],
    positions: Sequence[Sequence[float]] | None,
    names: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Brokers without a name are labelled by index; the script places those without a position."""
    called = names or [str(index) for index in range(brokers)]
    places: Sequence[Sequence[float | None]] = positions or [(None, None)] * brokers
    return {
        "nodes": [
            {"index": index, "name": name, "x": x, "y": y}
            for index, (name, (x, y)) in enumerate(zip(called, places, strict=True))
        ],
        "links": [{"a": a, "b": b} for a, b in links],
    }
