"""Waxman's random graphs (Routing of multipoint connections, IEEE JSAC 6(9), 1988), three ways to draw them.

Brokers lie uniformly in the unit square; two at distance ``d`` are joined with the probability
``link_probability * exp(-d / (distance_decay * L))``, L being the largest distance between two of them.

The two parameters have letters that trade places in the literature, so here they are named by what they do:

====================  =========================  =========
here                  Waxman 1988, NetworkX      BRITE
====================  =========================  =========
``link_probability``  beta                       alpha
``distance_decay``    alpha                      beta
====================  =========================  =========

Three ways, because "average connectivity 2" (the thesis) can be read in two, and Waxman's own fixes neither:

- ``independent``: Waxman's own. Each pair on its own; redrawn until connected.
- ``with_links``: Waxman's own, given that it is connected and has exactly so many links. Redrawing until both hold
  would take a number of draws exponential in the brokers (at mean degree 2 and 100 brokers: for ever), so a Markov
  chain with that very distribution is run instead.
- ``incremental``: BRITE's. Brokers arrive one by one, and each links to a number of those that are there already.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import dist, exp
from random import Random

import networkx as nx

from overlay.errors import InvalidSetting
from overlay.topologies.graph import Position

Edge = tuple[int, int]
Drawn = tuple[list[Edge], list[Position]]

DRAWN_PAIRS = 2_000_000
"""How many pairs may be drawn in search of a connected graph: a few seconds."""

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
    return max((dist(a, b) for i, a in enumerate(positions) for b in positions[:i]), default=1.0)


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
