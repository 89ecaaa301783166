"""Waxman's random graphs (Routing of multipoint connections, IEEE JSAC 6(9), 1988), four ways to draw them.

Brokers lie uniformly in the unit square; two at distance ``d`` are joined with the probability
``link_probability * exp(-d / (distance_decay * L))``, L being the largest distance between two of them.

The two parameters have letters that trade places in the literature, so here they are named by what they do:

====================  =========================  =========
here                  Waxman 1988, NetworkX      BRITE
====================  =========================  =========
``link_probability``  beta                       alpha
``distance_decay``    alpha                      beta
====================  =========================  =========

More than one, because "average connectivity 2" (the thesis) can be read in two, and Waxman's own fixes neither:

- ``independent``: Waxman's own. Each pair on its own; redrawn until connected.
- ``with_links``: Waxman's own, given that it is connected and has exactly so many links. Redrawing until both hold
  would take a number of draws exponential in the brokers (at mean degree 2 and 100 brokers: for ever), so a Markov
  chain with that very distribution is run instead.
- ``grown``: the same beyond what a chain can do in reasonable time. Links are drawn one by one from Waxman's
  probability, and each part that is left apart is then joined by one link more, drawn likewise.
- ``incremental``: BRITE's. Brokers arrive one by one, and each links to a number of those that are there already.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import dist, exp
from random import Random

import networkx as nx

from overlay.core.errors import InvalidSetting
from overlay.topologies.graph import Position

Edge = tuple[int, int]
Drawn = tuple[list[Edge], list[Position]]

DRAWN_PAIRS = 2_000_000
"""How many pairs may be drawn in search of a connected graph: a few seconds."""

_MIDDLE = (0.5, 0.5)

SWAPS_PER_LINK = 20
"""Length of the chain. A swap in three or so is taken, so that hardly a link is left of the arbitrary start."""


def independent(brokers: int, link_probability: float, decay: float, random: Random) -> Drawn:
    """Waxman's own graph, redrawn, places and all, until connected. Raises ``InvalidSetting`` after too many."""
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

    A pair drawn uniformly becomes a link with ``exp(-d / (decay * L))``, and pairs drawn twice are too few to matter:
    Waxman's own given the number of links, with the small ``link_probability`` that it takes to have so few among so
    many pairs, and which is then no more than a scale. It would never be connected (at mean degree 4 one broker in
    fifty has no link), so as many links are left for joining parts as there are parts.
    """
    positions = _scatter(brokers, random)
    scale = decay * _largest_distance(positions)
    parts = _Parts(brokers)
    links: dict[Edge, None] = {}

    def is_drawn(a: int, b: int) -> bool:
        """Whether chance makes a link of a pair, which it then is."""
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
    """Which brokers are connected so far (union and find, with halved paths)."""

    def __init__(self, brokers: int) -> None:
        self._parents = list(range(brokers))
        self.count = brokers

    def join(self, a: int, b: int) -> None:
        a, b = self._root(a), self._root(b)
        if a != b:
            self._parents[max(a, b)] = min(a, b)
            self.count -= 1

    def members(self) -> list[list[int]]:
        """The brokers of each part."""
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
    """BRITE's: each broker links to ``links_per_broker`` earlier ones (the first few to as many as there are)."""
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
    """The chain: take a link out and put one in, between the two sides if they fell apart, else anywhere.

    That proposal is as likely as its reverse, and every step is connected; taking it with the ratio of the two graphs'
    probabilities (Metropolis) makes the chain's distribution Waxman's.
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
    """Between any two, looking only at those so far from the middle that they can be one of the two farthest apart."""
    if len(positions) < 2:
        return 1.0
    radii = [dist(position, _MIDDLE) for position in positions]
    widest = max(radii)
    corner = positions[radii.index(widest)]
    least = max(dist(corner, position) for position in positions) - widest - 1e-9
    outer = [position for position, radius in zip(positions, radii, strict=True) if radius >= least]
    return max(dist(a, b) for i, a in enumerate(outer) for b in outer[:i])


def _any_connected(brokers: int, count: int, random: Random) -> list[Edge]:
    """The chain's start: a random tree and then any pairs."""
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
    """One of the two parts that the ends of ``edge`` lie in; empty when they still reach each other.

    Both parts are searched in turn, so that the time is that of the one that is exhausted first.
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
    """A uniform pair of brokers: one from ``side`` and one not, or any two where ``side`` is empty."""
    if not side:
        return random.randrange(brokers), random.randrange(brokers)
    inside = random.choice(sorted(side))
    while (outside := random.randrange(brokers)) in side:
        pass
    return inside, outside
