"""A topology as a value, with its checks and its measures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

from overlay.core.errors import InvalidSetting
from overlay.core.links import Link
from overlay.core.settings import check as check_settings
from overlay.core.settings import setting

Position = tuple[float, float]

MAX_SENTENCES = 20
"""Maximum errors reported, as every link of a graph may have an error."""

LARGEST_MEASURED = 5000
"""Maximum brokers for computing all distances. It takes two seconds and grows with the square."""

MAX_NAME = 100
"""Characters of a broker's name."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The maximum size of a topology. Drawing and measuring take time in proportion to brokers times links."""

    brokers: int = setting(1000, unit="brokers", low=1, high=100_000, help="Maximum brokers of one topology.")
    links: int = setting(
        20_000, unit="links", low=1, high=5_000_000, help="Maximum links; 20,000 allow a full mesh of 200 brokers."
    )
    file_bytes: int = setting(
        8_000_000,
        unit="bytes",
        low=1000,
        high=1 << 30,
        help="Largest file to import; it is read into memory completely.",
    )

    def __post_init__(self) -> None:
        check_settings(self)


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Graph:
    """Brokers 0 to ``brokers - 1`` and the links between them.

    ``positions`` are in the unit square, y downwards as on a page; ``names`` are for display. Both have one entry per
    broker or are absent. Like a ``Link``, a graph is not checked when created; see ``check``.
    """

    brokers: int
    links: tuple[Link, ...]
    positions: tuple[Position, ...] | None = None
    names: tuple[str, ...] | None = None

    def neighbours(self) -> list[list[int]]:
        """The neighbours of each broker, in increasing order. For checked graphs only."""
        lists: list[list[int]] = [[] for _ in range(self.brokers)]
        for link in self.links:
            lists[link.a].append(link.b)
            lists[link.b].append(link.a)
        return [sorted(neighbours) for neighbours in lists]


def check(graph: Graph, limits: Limits = DEFAULT_LIMITS, *, must_connect: bool = True) -> list[str]:
    """The errors of ``graph`` as sentences; empty if it is valid."""
    sentences = list(_size_sentences(graph, limits)) or [*_link_sentences(graph), *_broker_sentences(graph)]
    if not sentences and must_connect and (parts := _components(graph)) > 1:
        sentences = [f"The topology has {parts} components; searches cannot cross between them."]
    surplus = len(sentences) - MAX_SENTENCES
    return sentences if surplus <= 0 else [*sentences[:MAX_SENTENCES], f"{surplus} more of this kind."]


def require(graph: Graph, limits: Limits = DEFAULT_LIMITS) -> Graph:
    """Returns ``graph``. Raises ``InvalidSetting`` if it is invalid; it may be disconnected."""
    sentences = check(graph, limits, must_connect=False)
    if sentences:
        raise InvalidSetting("links", " ".join(sentences))
    return graph


def _size_sentences(graph: Graph, limits: Limits) -> Iterator[str]:
    if graph.brokers < 1:
        yield f"A topology needs at least 1 broker, not {graph.brokers}."
    if graph.brokers > limits.brokers:
        yield f"{graph.brokers} brokers are more than the limit of {limits.brokers}."
    if len(graph.links) > limits.links:
        yield f"{len(graph.links)} links are more than the limit of {limits.links}."


def _link_sentences(graph: Graph) -> Iterator[str]:
    seen: dict[tuple[int, int], int] = {}
    for i, link in enumerate(graph.links):
        where = f"Link {i} ({link.a}–{link.b})"
        for end in link.ends:
            if not 0 <= end < graph.brokers:
                yield f"{where} names broker {end}, but brokers are 0 to {graph.brokers - 1}."
        if link.a == link.b:
            yield f"{where} joins broker {link.a} to itself."
        elif link.ends in seen:
            yield f"{where} is a duplicate of link {seen[link.ends]}."
        seen.setdefault(link.ends, i)
        try:
            link.shape()
        except InvalidSetting as error:
            yield f"{where} has an invalid {error.field}: {error.sentence}."


def _broker_sentences(graph: Graph) -> Iterator[str]:
    for what, values in (("positions", graph.positions), ("names", graph.names)):
        if values is not None and len(values) != graph.brokers:
            yield f"There are {len(values)} {what} for {graph.brokers} brokers."
    for i, position in enumerate(graph.positions or ()):
        if not all(map(isfinite, position)):
            yield f"The position of broker {i} is not a pair of numbers."
    for i, name in enumerate(graph.names or ()):
        if not 0 < len(name) <= MAX_NAME or not name.isprintable():
            yield f"The name of broker {i} must be 1 to {MAX_NAME} printable characters."
    for name, times in Counter(graph.names or ()).items():
        if times > 1:
            yield f"{times} brokers are named {name!r}."


def measures(graph: Graph) -> dict[str, Any]:
    """The measures of a checked graph, for pages.

    ``links``, ``mean_degree``, ``min_degree``, ``max_degree``, ``connected``, ``components``; ``diameter`` (hops) and
    ``mean_path_length`` (hops, over all pairs), which are ``None`` if it is disconnected or has more than
    ``LARGEST_MEASURED`` brokers.
    """
    degrees = [len(neighbours) for neighbours in graph.neighbours()]
    components = _components(graph)
    connected = components == 1
    diameter, mean_path = _distances(graph) if connected and graph.brokers <= LARGEST_MEASURED else (None, None)
    return {
        "links": len(graph.links),
        "mean_degree": round(sum(degrees) / graph.brokers, 4),
        "min_degree": min(degrees),
        "max_degree": max(degrees),
        "diameter": diameter,
        "mean_path_length": None if mean_path is None else round(mean_path, 4),
        "connected": connected,
        "components": components,
    }


def _components(graph: Graph) -> int:
    """The number of components."""
    neighbours, unseen, components = graph.neighbours(), set(range(graph.brokers)), 0
    while unseen:
        components += 1
        front = [unseen.pop()]
        while front:
            fresh = unseen.intersection(neighbours[front.pop()])
            unseen -= fresh
            front += fresh
    return components


def _distances(graph: Graph) -> tuple[int, float]:
    """The longest distance of two brokers and the mean over all pairs of a connected graph, in hops.

    All breadth-first searches run at once: the set of brokers within ``d`` hops of each is one integer, with a bit per
    broker, so a round is one OR per link. At 1,000 brokers this takes milliseconds, while NetworkX takes seconds.
    """
    neighbours = graph.neighbours()
    within = [1 << i for i in range(graph.brokers)]
    distance = pairs = total = 0
    while True:
        wider = within.copy()
        for i, others in enumerate(neighbours):
            for other in others:
                wider[i] |= within[other]
        if wider == within:
            return distance, total / pairs if pairs else 0.0
        distance += 1
        fresh = sum(map(int.bit_count, wider)) - sum(map(int.bit_count, within))
        pairs, total, within = pairs + fresh, total + distance * fresh, wider
