"""Positions of brokers in drawings: in the unit square, y downwards, computed once and stored with the topology."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import cos, pi, sin
from typing import Any

from overlay.topologies.graph import Position


def circle(brokers: int) -> list[Position]:
    """Evenly on a circle, clockwise from the top."""
    turns = [2 * pi * i / brokers for i in range(brokers)]
    return [(0.5 + 0.5 * sin(turn), 0.5 - 0.5 * cos(turn)) for turn in turns]


def hub(brokers: int) -> list[Position]:
    """Broker 0 in the middle, the others around it."""
    return [(0.5, 0.5), *(circle(brokers - 1) if brokers > 1 else [])]


def rows(brokers: int, columns: int) -> list[Position]:
    """Row by row from the top left, ``columns`` in each."""
    widest = max(columns - 1, (brokers - 1) // columns, 1)
    return [(i % columns / widest, i // columns / widest) for i in range(brokers)]


def spring(brokers: int, edges: Iterable[tuple[int, int]], seed: int) -> list[Position]:
    """A spring layout, which attracts neighbours and repels others: Fruchterman-Reingold or ForceAtlas2."""
    import networkx as nx

    graph = nx.empty_graph(brokers)
    graph.add_edges_from(edges)
    places: Mapping[int, Any]
    if brokers < 500:
        places = nx.spring_layout(graph, seed=seed % 2**32)
    else:  # for larger graphs NetworkX's spring layout needs SciPy
        places = nx.forceatlas2_layout(graph, seed=seed % 2**32, max_iter=50)
    return fit([(float(places[i][0]), float(places[i][1])) for i in range(brokers)])


def fit(positions: list[Position]) -> list[Position]:
    """``positions`` moved and scaled, equally in both directions, to fill the unit square."""
    left, top = min(x for x, _ in positions), min(y for _, y in positions)
    width, height = max(x for x, _ in positions) - left, max(y for _, y in positions) - top
    scale = max(width, height) or 1.0
    return [
        (round((x - left) / scale + (1 - width / scale) / 2, 6), round((y - top) / scale + (1 - height / scale) / 2, 6))
        for x, y in positions
    ]
