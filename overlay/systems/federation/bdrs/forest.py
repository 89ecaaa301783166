"""The tree of a network: the minimum spanning forest of the links between its brokers (seed 001, section 7).

Kruskal's algorithm by delay, then by the smaller and the larger id, so that everyone who knows the links knows the
tree. Ids compare as bytes of UTF-8, which is the order of Python's texts. Pure.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from overlay.systems.federation.config import ServerConfig
from overlay.systems.federation.names import broker_name
from overlay.systems.federation.settings import SUPPRESS
from overlay.systems.federation.wire.values import BrokerAdvertisement

Edge = tuple[str, str]
"""Two brokers, the smaller id first."""
Node = TypeVar("Node", str, int)
"""A broker by its id, or by its index."""


class Link(NamedTuple):
    """Links sort as the algorithm takes them."""

    delay_us: int
    one: str
    """The smaller id."""
    other: str

    @property
    def edge(self) -> Edge:
        return self.one, self.other


def link(delay_us: int, a: str, b: str) -> Link:
    return Link(delay_us, a, b) if a < b else Link(delay_us, b, a)


def links_of(brokers: Mapping[str, BrokerAdvertisement]) -> list[Link]:
    """The links between ``brokers`` (by id) that no end says is down, with the smaller delay of both ends."""
    delays: dict[Edge, int] = {}
    down: set[Edge] = set()
    for broker in brokers.values():
        for candidate in broker.candidates:
            if candidate.broker not in brokers or candidate.broker == broker.id:
                continue
            found = link(candidate.delay_us, broker.id, candidate.broker)
            if not candidate.is_up:
                down.add(found.edge)
            elif found.delay_us < delays.get(found.edge, 1 << 64):
                delays[found.edge] = found.delay_us
    return [Link(delay, *edge) for edge, delay in delays.items() if edge not in down]


def spanning_forest(links: Iterable[tuple[Any, Node, Node]]) -> tuple[tuple[Node, Node], ...]:
    """Its edges, sorted. ``links`` are weights and ends, the smaller end first."""
    roots: dict[Node, Node] = {}

    def root(broker: Node) -> Node:
        above = roots.setdefault(broker, broker)
        while above != broker:
            roots[broker] = roots[above]
            broker, above = above, roots[above]
        return broker

    found: list[tuple[Node, Node]] = []
    for _, one, other in sorted(links):
        a, b = root(one), root(other)
        if a != b:
            roots[a] = b
            found.append((one, other))
    return tuple(sorted(found))


def edges_of(links: Iterable[Link], cycles: str) -> tuple[Edge, ...]:
    """What the setting ``cycles`` makes of the links. With ``refuse``, runs with a cycle do not start."""
    if cycles == SUPPRESS:
        return tuple(sorted(found.edge for found in links))
    return spanning_forest(links)


def tree_of(config: ServerConfig) -> tuple[Edge, ...]:
    """The edges of a network whose brokers are all up."""
    links = [link(delay, broker_name(a), broker_name(b)) for a, b, delay in config.links]
    return edges_of(links, config.settings.cycles)


def has_cycle(edges: Iterable[Edge]) -> bool:
    edges = list(edges)
    return len(spanning_forest(Link(0, *edge) for edge in edges)) < len(edges)


def diameter(edges: Iterable[tuple[Node, Node]]) -> int:
    """The edges of the longest path in a forest: that of its largest component, in edges; 0 without edges."""
    near: dict[Node, list[Node]] = {}
    for one, other in edges:
        near.setdefault(one, []).append(other)
        near.setdefault(other, []).append(one)
    longest, seen = 0, set[Node]()
    for start in near:
        if start not in seen:
            reached = _distances(near, start)
            seen |= reached.keys()
            farthest = next(reversed(reached))
            ends = _distances(near, farthest)
            longest = max(longest, ends[next(reversed(ends))])
    return longest


def _distances(near: Mapping[Node, list[Node]], start: Node) -> dict[Node, int]:
    """In edges, the nearest first."""
    found, waiting = {start: 0}, deque([start])
    while waiting:
        broker = waiting.popleft()
        for other in near[broker]:
            if other not in found:
                found[other] = found[broker] + 1
                waiting.append(other)
    return found
