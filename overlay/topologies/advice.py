"""Suggested links: those that shorten walks, or shortest paths, most. Greedy; each link is the best one at its step.

Both lengths are exact means over all pairs of brokers, without any sampling, so equal graphs get equal suggestions:

- ``walk``: hops of a uniform random walk from one broker to another. It is ``2 m tr(L+) / (n - 1)``, ``L+`` being the
  pseudo-inverse of the Laplacian (Chandra et al., The electrical resistance of a graph captures its commute and cover
  times, 1989). A link changes ``L+`` by a matrix of rank one (Sherman and Morrison), so all possible links
  are evaluated at once.
- ``path``: hops of the shortest path. Every possible link is evaluated on all distances.

The components of a disconnected topology are joined first: the two largest ones, each at the broker closest to the rest
of its component, which is the best link between the two. This module imports NumPy; broker processes do not load it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from overlay.core.errors import InvalidSetting, shown
from overlay.core.links import Link
from overlay.topologies.graph import Graph

Matrix = NDArray[np.float64]
Weigh = Callable[[Graph], tuple[float, Matrix]]
"""The current mean length, and that with each possible link (``inf`` for impossible links)."""

MOST_LINKS = 10
LARGEST = {"walk": 1_000, "path": 150}
"""Maximum brokers for each goal: some seconds for ten links."""
LEAST_GAIN = 1e-9
DECIMALS = 9
"""Lengths are rounded, because equal ones differ in further digits by their order of summation."""


@dataclass(frozen=True, slots=True)
class Added:
    """A suggested link, and the mean length before and after it, in hops; ``None`` while disconnected."""

    a: int
    b: int
    before: float | None
    after: float | None


def links_to_add(graph: Graph, count: int, goal: str = "walk") -> list[Added]:
    """The next ``count`` links for a checked graph; fewer if no further link shortens the mean.

    Raises ``InvalidSetting``.
    """
    if goal not in LARGEST:
        raise InvalidSetting("goal", f"must be one of {', '.join(LARGEST)}, not {shown(goal, 40)}")
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_LINKS:
        raise InvalidSetting("k", f"must be a whole number from 1 to {MOST_LINKS}, not {shown(count, 40)}")
    if graph.brokers > LARGEST[goal]:
        raise InvalidSetting("goal", f"{goal} is computed for up to {LARGEST[goal]} brokers, not {graph.brokers}")
    added: list[Added] = []
    while len(added) < count and (best := _best(graph, WEIGHERS[goal])) is not None:
        added.append(best)
        graph = replace(graph, links=(*graph.links, Link(best.a, best.b)))
    return added


def mean_walk(graph: Graph) -> float:
    """Mean hops of a uniform walk from one broker to another, over all ordered pairs of a connected graph."""
    return _weigh_walks(graph)[0]


def _best(graph: Graph, weigh: Weigh) -> Added | None:
    parts = _parts(graph)
    if len(parts) > 1:
        return _joining(graph, parts, weigh)
    if graph.brokers < 3:
        return None
    before, lengths = weigh(graph)
    at = int(np.argmin(np.round(lengths, DECIMALS)))
    a, b = divmod(at, graph.brokers)
    after = float(lengths[a, b])
    return Added(a, b, before, after) if after < before - LEAST_GAIN else None


def _joining(graph: Graph, parts: list[list[int]], weigh: Weigh) -> Added:
    first, second = sorted(parts, key=len, reverse=True)[:2]
    a, b = sorted(_centre(graph, part, weigh) for part in (first, second))
    joined = replace(graph, links=(*graph.links, Link(a, b)))
    return Added(a, b, None, weigh(joined)[0] if len(parts) == 2 else None)


def _centre(graph: Graph, part: list[int], weigh: Weigh) -> int:
    """The broker of ``part`` closest to the others: by resistance for walks, by hops for paths."""
    place = {broker: i for i, broker in enumerate(part)}
    links = tuple(Link(place[one.a], place[one.b]) for one in graph.links if one.a in place)
    apart = _resistances(_laplacian_inverse(Graph(len(part), links))) if weigh is _weigh_walks else None
    distances = _distances(Graph(len(part), links)) if apart is None else apart
    return part[int(np.argmin(np.round(distances.sum(axis=1), DECIMALS)))]


def _weigh_walks(graph: Graph) -> tuple[float, Matrix]:
    inverse = _laplacian_inverse(graph)
    squared = inverse @ inverse
    links, others, trace = len(graph.links), max(graph.brokers - 1, 1), float(np.trace(inverse))
    lost = _resistances(squared) / (1.0 + _resistances(inverse))
    lengths = 2 * (links + 1) * (trace - lost) / others
    return 2 * links * trace / others, _only_free(graph, lengths)


def _weigh_paths(graph: Graph) -> tuple[float, Matrix]:
    """A link ``a–b`` shortens a pair's path in at most one direction, so one direction is summed and doubled."""
    brokers = graph.brokers
    pairs = max(brokers * (brokers - 1), 1)
    distances = _distances(graph)
    total = float(distances.sum())
    lengths = _only_free(graph, np.zeros((brokers, brokers)))
    hops = distances.astype(np.int16)
    for a in range(brokers):
        left = hops - hops[:, a, None] - 1  # the possible gain of each pair after crossing from a
        for b in np.flatnonzero(np.isfinite(lengths[a])):
            gained = int(np.maximum(left - hops[b], 0).sum(dtype=np.int64))
            lengths[a, b] = (total - 2 * gained) / pairs
    return total / pairs, lengths


WEIGHERS: dict[str, Weigh] = {"walk": _weigh_walks, "path": _weigh_paths}


def _laplacian_inverse(graph: Graph) -> Matrix:
    """The pseudo-inverse of a connected graph's Laplacian. J / n handles the null space, the vector of ones."""
    size = graph.brokers
    laplacian = np.zeros((size, size))
    for link in graph.links:
        laplacian[link.a, link.b] -= 1
        laplacian[link.b, link.a] -= 1
        laplacian[link.a, link.a] += 1
        laplacian[link.b, link.b] += 1
    mean = np.full((size, size), 1 / size)
    return np.asarray(np.linalg.inv(laplacian + mean) - mean)


def _resistances(matrix: Matrix) -> Matrix:
    """``m_aa + m_bb - 2 m_ab`` for every pair: the effective resistance if ``matrix`` is the pseudo-inverse."""
    diagonal = np.diagonal(matrix)
    return np.asarray(diagonal[:, None] + diagonal[None, :] - 2 * matrix)


def _only_free(graph: Graph, lengths: Matrix) -> Matrix:
    """``inf`` for a broker with itself, for linked pairs, and for the second copy of each pair."""
    lengths[np.tril_indices(graph.brokers)] = np.inf
    for link in graph.links:
        lengths[link.ends] = np.inf
    return lengths


def _distances(graph: Graph) -> Matrix:
    """Hops between all pairs of a connected graph."""
    neighbours = graph.neighbours()
    distances = np.zeros((graph.brokers, graph.brokers))
    for start in range(graph.brokers):
        seen, front, distance = {start}, [start], 0
        while front:
            distance += 1
            front = list({other for broker in front for other in neighbours[broker] if other not in seen})
            seen.update(front)
            distances[start, front] = distance
    return distances


def _parts(graph: Graph) -> list[list[int]]:
    """The brokers of each component, the one with the lowest broker first."""
    neighbours, unseen, parts = graph.neighbours(), set(range(graph.brokers)), []
    for start in range(graph.brokers):
        if start in unseen:
            part, front = {start}, [start]
            while front:
                fresh = set(neighbours[front.pop()]) - part
                part |= fresh
                front += fresh
            unseen -= part
            parts.append(sorted(part))
    return parts
