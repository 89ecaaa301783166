"""Waxman's random graphs (Routing of multipoint connections, IEEE JSAC 6(9), 1988), drawn in four ways.

Brokers are distributed uniformly in the unit square. Two brokers at distance ``d`` are linked with probability
``link_probability * exp(-d / (distance_decay * L))``, where L is the largest distance between two of them.

The literature swaps the letters of the two parameters, so they have descriptive names here:

====================  =========================  =========
here                  Waxman 1988, NetworkX      BRITE
====================  =========================  =========
``link_probability``  beta                       alpha
``distance_decay``    alpha                      beta
====================  =========================  =========

There are several ways because "average connectivity 2" in the thesis has two interpretations, and Waxman's own method
fixes neither the number of links nor the connectivity:

- ``independent``: Waxman's method. Each pair is drawn independently; repeated until the graph is connected.
- ``with_links``: Waxman's distribution, conditioned on a connected graph with exactly this number of links. Redrawing
  until both are true would take a number of draws exponential in the brokers (at mean degree 2 and 100 brokers: for
  ever), so a Markov chain with this distribution is run instead.
- ``grown``: the same for graphs too large for a Markov chain. Links are drawn one by one with Waxman's
  probability, and each remaining component is then joined by one further link, drawn in the same way.
- ``incremental``: BRITE's method. Brokers are added one by one, and each links to a number of earlier ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import dist, exp
from random import Random

from overlay.core.errors import InvalidSetting
from overlay.topologies.graph import Position

Edge = tuple[int, int]
Drawn = tuple[list[Edge], list[Position]]

DRAWN_PAIRS = 2_000_000
"""Maximum pairs drawn in search of a connected graph: a few seconds."""

_MIDDLE = (0.5, 0.5)

SWAPS_PER_LINK = 20
"""Length of the chain. About a third of the swaps are accepted, so hardly any link of the arbitrary start is left."""


def independent(brokers: int, link_probability: float, decay: float, random: Random) -> Drawn:
    """Waxman's graph, redrawn with new positions until connected. Raises ``InvalidSetting`` after too many attempts."""
    import networkx as nx

    attempts = max(5, min(1000, DRAWN_PAIRS // (brokers * brokers)))
    for _ in range(attempts):
        graph = nx.waxman_graph(brokers, beta=link_probability, alpha=decay, seed=random)
        if nx.is_connected(graph):
            return list(graph.edges), [graph.nodes[i]["pos"] for i in range(brokers)]
    raise InvalidSetting(
        "link_probability",
        f"none of {attempts} graphs drawn was connected; raise link_probability or distance_decay, or set mean_degree",
    )


def grown(brokers: int, count: int, decay: float, random: Random) -> Drawn:
    """``count`` links that connect all brokers, at least ``brokers - 1``; 200,000 for 100,000 brokers take seconds.

    A pair drawn uniformly becomes a link with ``exp(-d / (decay * L))``; pairs drawn twice are negligible. This is
    Waxman's distribution for a given number of links. ``link_probability`` is only a scale, small enough for so few
    links among so many pairs. Such a graph is never connected (at mean degree 4 one broker in
    fifty has no link), so a link is reserved for each component to be joined.
    """
    positions = _scatter(brokers, random)
    scale = decay * _largest_distance(positions)
    parts = _Parts(brokers)
    links: dict[Edge, None] = {}

    def is_drawn(a: int, b: int) -> bool:
        """Draws whether a pair becomes a link, and adds it."""
        link = (a, b) if a < b else (b, a)
        if a == b or link in links or random.random() >= exp(-dist(positions[a], positions[b]) / scale):
            return False
        links[link] = None
        parts.join(a, b)
        return True

    while len(links) + parts.count - 1 < count:
        is_drawn(int(random.random() * brokers), int(random.random() * brokers))
    for part in sorted(parts.members(), key=len)[:-1]:
        inside = set(part)
        while True:
            b = int(random.random() * brokers)
            if b not in inside and is_drawn(part[int(random.random() * len(part))], b):
                break
    return list(links), positions


class _Parts:
    """Union-find over the connected brokers, with path halving."""

    def __init__(self, brokers: int) -> None:
        self._parents = list(range(brokers))
        self.count = brokers

    def join(self, a: int, b: int) -> None:
        a, b = self._root(a), self._root(b)
        if a != b:
            self._parents[max(a, b)] = min(a, b)
            self.count -= 1

    def members(self) -> list[list[int]]:
        """The brokers of each component."""
        parts: dict[int, list[int]] = {}
        for broker in range(len(self._parents)):
            parts.setdefault(self._root(broker), []).append(broker)
        return list(parts.values())

    def _root(self, broker: int) -> int:
        parents = self._parents
        while parents[broker] != broker:
            parents[broker] = broker = parents[parents[broker]]
        return broker


def incremental(brokers: int, links_per_broker: int, decay: float, random: Random) -> Drawn:
    """BRITE's method: each broker links to ``links_per_broker`` earlier ones (the first few to all earlier ones)."""
    positions = _scatter(brokers, random)
    scale = decay * _largest_distance(positions)
    edges: list[Edge] = []
    for new in range(1, brokers):
        weights = [exp(-dist(positions[new], position) / scale) for position in positions[:new]]
        for _ in range(min(new, links_per_broker)):
            [old] = random.choices(range(new), weights)
            weights[old] = 0.0
            edges.append((old, new))
    return edges, positions


def with_links(brokers: int, count: int, link_probability: float, decay: float, random: Random) -> Drawn:
    """``count`` links that connect all brokers; at least ``brokers - 1`` and at most every pair."""
    positions = _scatter(brokers, random)
    return swap_links(positions, count, link_probability, decay, random), positions


def swap_links(
    positions: Sequence[Position], count: int, link_probability: float, decay: float, random: Random
) -> list[Edge]:
    """The Markov chain: remove a link and add one, between the two sides if the graph fell apart, otherwise anywhere.

    The proposal is symmetric, and every state is connected. Accepting it with the ratio of the two graphs'
    probabilities (Metropolis) gives the chain Waxman's distribution.
    """
    brokers = len(positions)
    scale = decay * _largest_distance(positions)

    def odds(edge: Edge) -> float:
        probability = link_probability * exp(-dist(positions[edge[0]], positions[edge[1]]) / scale)
        return probability / max(1 - probability, 1e-12)

    edges = _any_connected(brokers, count, random)
    neighbours: list[set[int]] = [set() for _ in range(brokers)]
    for edge in edges:
        _join(neighbours, edge)
    for _ in range(SWAPS_PER_LINK * count):
        i = random.randrange(count)
        old = edges[i]
        _part(neighbours, old)
        new = _between(brokers, _smaller_side(neighbours, old), random)
        is_free = new[0] != new[1] and new[1] not in neighbours[new[0]]
        if is_free and random.random() * odds(old) < odds(new):
            edges[i] = new
        _join(neighbours, edges[i])
    return edges


def _scatter(brokers: int, random: Random) -> list[Position]:
    return [(random.random(), random.random()) for _ in range(brokers)]


def _largest_distance(positions: Sequence[Position]) -> float:
    """The largest distance between two brokers, considering only brokers far enough from the centre."""
    if len(positions) < 2:
        return 1.0
    radii = [dist(position, _MIDDLE) for position in positions]
    widest = max(radii)
    corner = positions[radii.index(widest)]
    least = max(dist(corner, position) for position in positions) - widest - 1e-9
    outer = [position for position, radius in zip(positions, radii, strict=True) if radius >= least]
    return max(dist(a, b) for i, a in enumerate(outer) for b in outer[:i])


def _any_connected(brokers: int, count: int, random: Random) -> list[Edge]:
    """The start of the chain: a random tree, then random pairs."""
    edges = {(random.randrange(new), new): None for new in range(1, brokers)}
    while len(edges) < count:
        a, b = sorted(random.sample(range(brokers), 2))
        edges[a, b] = None
    return list(edges)


def _join(neighbours: list[set[int]], edge: Edge) -> None:
    neighbours[edge[0]].add(edge[1])
    neighbours[edge[1]].add(edge[0])


def _part(neighbours: list[set[int]], edge: Edge) -> None:
    neighbours[edge[0]].remove(edge[1])
    neighbours[edge[1]].remove(edge[0])


def _smaller_side(neighbours: list[set[int]], edge: Edge) -> set[int]:
    """One of the two components at the ends of ``edge``; empty if they are still connected.

    Both sides are searched alternately, so the time is that of the smaller one.
    """
    mine, other = {edge[0]}, {edge[1]}
    front, other_front = [edge[0]], [edge[1]]
    while front:
        fresh: set[int] = set()
        for broker in front:
            if not neighbours[broker].isdisjoint(other):
                return set()
            fresh |= neighbours[broker]
        fresh -= mine
        mine |= fresh
        mine, other, front, other_front = other, mine, other_front, list(fresh)
    return mine


def _between(brokers: int, side: set[int], random: Random) -> Edge:
    """A uniform pair of brokers: one from ``side`` and one not, or any two if ``side`` is empty."""
    if not side:
        return random.randrange(brokers), random.randrange(brokers)
    inside = random.choice(sorted(side))
    while (outside := random.randrange(brokers)) in side:
        pass
    return inside, outside
