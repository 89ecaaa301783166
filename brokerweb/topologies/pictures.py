"""A topology as the script that draws it (``static/js/graph.js``) wants it: ``{nodes, links}``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from overlay.topologies import Graph


def of_graph(graph: Graph) -> dict[str, Any]:
    return _picture(graph.brokers, ((link.a, link.b) for link in graph.links), graph.positions, graph.names)


def of_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """Of a topology as it was launched or deployed (``services.document``)."""
    ends = ((link["a"], link["b"]) for link in document["links"])
    return _picture(document["brokers"], ends, document.get("positions"))


def _picture(
    brokers: int,
    links: Iterable[tuple[int, int]],
    positions: Sequence[Sequence[float]] | None,
    names: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Brokers without a name are called by their number; those without a place are placed by the script."""
    called = names or [str(index) for index in range(brokers)]
    places: Sequence[Sequence[float | None]] = positions or [(None, None)] * brokers
    return {
        "nodes": [
            {"index": index, "name": name, "x": x, "y": y}
            for index, (name, (x, y)) in enumerate(zip(called, places, strict=True))
        ],
        "links": [{"a": a, "b": b} for a, b in links],
    }
