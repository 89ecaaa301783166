"""Further measures for the editor: cycles, bridges and clustering."""

from __future__ import annotations

from typing import Any

from overlay.topologies.graph import Graph

NAMED = 12
"""Maximum brokers of a cycle, and bridges, that are named; the rest is counted."""


def structure(graph: Graph, components: int) -> dict[str, Any]:
    """Measures of a checked graph with this number of ``components``.

    ``cycles``: links beyond those of a tree (or forest), each of which closes a cycle; 0 is acyclic.
    ``cycle``: the brokers of one of them in order, at most ``NAMED``; empty without cycles.
    ``bridges``: links whose removal disconnects the network; ``bridge_ends``: the first of them.
    ``clustering``: the share of pairs of a broker's neighbours that are linked, averaged over brokers, 0..1.
    """
    import networkx as nx

    whole: nx.Graph[int] = nx.empty_graph(graph.brokers)
    whole.add_edges_from(link.ends for link in graph.links)
    cycles = len(graph.links) - graph.brokers + components
    thin: Any = nx.bridges(whole)  # its type stubs are wrong: it yields pairs of nodes
    bridges = sorted(tuple(sorted(ends)) for ends in thin)
    return {
        "cycles": cycles,
        "cycle": [a for a, _ in nx.find_cycle(whole)][:NAMED] if cycles else [],
        "bridges": len(bridges),
        "bridge_ends": [list(ends) for ends in bridges[:NAMED]],
        "clustering": round(_clustering(graph), 4),
    }


def _clustering(graph: Graph) -> float:
    """Sets of neighbours are integers, with a bit per broker, so an intersection is one AND."""
    neighbours = graph.neighbours()
    sets = [sum(1 << other for other in others) for others in neighbours]
    total = 0.0
    for mine, others in zip(sets, neighbours, strict=True):
        if len(others) > 1:
            linked = sum((mine & sets[other]).bit_count() for other in others)  # each pair twice
            total += linked / (len(others) * (len(others) - 1))
    return total / graph.brokers
