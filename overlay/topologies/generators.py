"""The registry of topology kinds, and the function that generates topologies.

A kind is a row of ``KINDS``: its title, its parameters as settings, and a function that draws links. To add
one, define its parameters (in ``params``) and its function, and add the row. Forms, the API and the documentation
are generated from it.

NetworkX is imported where something is drawn, here and in the modules around: most processes never draw, and it takes a
tenth of their start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, dist, sqrt
from random import Random
from typing import Any, cast

from overlay.core.chance import derive_seed
from overlay.core.errors import InvalidSetting, shown
from overlay.core.links import Link
from overlay.core.settings import build
from overlay.topologies import layout, waxman
from overlay.topologies.files import read_links
from overlay.topologies.graph import DEFAULT_LIMITS, Graph, Limits, Position, require
from overlay.topologies.params import (
    GridParams,
    NoParams,
    Params,
    PreferentialParams,
    RegularParams,
    SmallWorldParams,
    WaxmanParams,
)

Edge = tuple[int, int]
Drawn = tuple[Sequence[Edge], Sequence[Position] | None]
"""Links, and positions of brokers; ``None`` for a spring layout."""

ATTEMPTS = 1000
"""Maximum attempts to draw a connected random graph."""

LARGEST_CHAIN = 1000
"""Maximum brokers of a Waxman graph drawn by a Markov chain, which then takes seconds."""
LEAST_GROWN_DECAY = 0.05
"""Minimum above that: about 30 pairs are drawn per link. A fifth of it would take minutes."""


def _central(brokers: int, params: NoParams, random: Random) -> Drawn:
    if brokers != 1:
        raise InvalidSetting("brokers", f"the central topology is one broker, not {brokers}")
    return [], [(0.5, 0.5)]


def _ring(brokers: int, params: Params, random: Random) -> Drawn:
    import networkx as nx

    return list(nx.cycle_graph(brokers).edges), layout.circle(brokers)


def _full_mesh(brokers: int, params: Params, random: Random) -> Drawn:
    import networkx as nx

    return list(nx.complete_graph(brokers).edges), layout.circle(brokers)


def _star(brokers: int, params: Params, random: Random) -> Drawn:
    import networkx as nx

    return list(nx.star_graph(brokers - 1).edges), layout.hub(brokers)


def _line(brokers: int, params: Params, random: Random) -> Drawn:
    import networkx as nx

    return list(nx.path_graph(brokers).edges), [(i / (brokers - 1), 0.5) for i in range(brokers)]


def _grid(brokers: int, params: GridParams, random: Random) -> Drawn:
    import networkx as nx

    columns = min(params.columns or ceil(sqrt(brokers)), brokers)
    whole = nx.grid_2d_graph(ceil(brokers / columns), columns)
    edges = [(a * columns + b, c * columns + d) for (a, b), (c, d) in whole.edges]
    return [edge for edge in edges if max(edge) < brokers], layout.rows(brokers, columns)


def _random_regular(brokers: int, params: RegularParams, random: Random) -> Drawn:
    import networkx as nx

    degree = params.degree
    if degree >= brokers or degree * brokers % 2:
        raise InvalidSetting(
            "degree", f"{brokers} brokers cannot all have {degree} links: below {brokers}, product even"
        )
    if degree == 1 and brokers > 2:
        raise InvalidSetting("degree", f"with 1 link each, {brokers} brokers cannot be connected")
    for _ in range(ATTEMPTS):
        graph = nx.random_regular_graph(degree, brokers, seed=random)
        if nx.is_connected(graph):
            return list(graph.edges), None
    raise InvalidSetting("degree", f"none of {ATTEMPTS} graphs drawn was connected; raise the degree")


def _barabasi_albert(brokers: int, params: PreferentialParams, random: Random) -> Drawn:
    import networkx as nx

    if params.links_per_broker >= brokers:
        raise InvalidSetting("links_per_broker", f"must be below the number of brokers, {brokers}")
    return list(nx.barabasi_albert_graph(brokers, params.links_per_broker, seed=random).edges), None


def _watts_strogatz(brokers: int, params: SmallWorldParams, random: Random) -> Drawn:
    import networkx as nx

    if params.nearest % 2 or params.nearest >= brokers:
        raise InvalidSetting("nearest", f"must be even and below the number of brokers, {brokers}")
    try:
        graph = nx.connected_watts_strogatz_graph(brokers, params.nearest, params.rewiring, ATTEMPTS, seed=random)
    except nx.NetworkXError:
        raise InvalidSetting("rewiring", f"none of {ATTEMPTS} graphs drawn was connected; lower it") from None
    return list(graph.edges), layout.circle(brokers)


def _waxman(brokers: int, params: WaxmanParams, random: Random) -> Drawn:
    if params.links_per_broker:
        return waxman.incremental(brokers, params.links_per_broker, params.distance_decay, random)
    if not params.mean_degree:
        return waxman.independent(brokers, params.link_probability, params.distance_decay, random)
    count = round(brokers * params.mean_degree / 2)
    if not brokers - 1 <= count <= brokers * (brokers - 1) // 2:
        raise InvalidSetting(
            "mean_degree",
            f"{brokers} connected brokers have a mean degree from {2 * (brokers - 1) / brokers:g} to {brokers - 1}, "
            f"not {params.mean_degree:g}",
        )
    if brokers > LARGEST_CHAIN:
        if params.distance_decay < LEAST_GROWN_DECAY:
            raise InvalidSetting(
                "distance_decay", f"with more than {LARGEST_CHAIN} brokers must be at least {LEAST_GROWN_DECAY:g}"
            )
        return waxman.grown(brokers, count, params.distance_decay, random)
    return waxman.with_links(brokers, count, params.link_probability, params.distance_decay, random)


def _pairs(brokers: int, params: Params) -> float:
    return brokers * (brokers - 1) / 2


def _waxman_links(brokers: int, params: WaxmanParams) -> float:
    if params.links_per_broker:
        first = min(brokers - 1, params.links_per_broker)  # the first ones link to all earlier ones
        return first * (first + 1) / 2 + (brokers - 1 - first) * first
    return brokers * params.mean_degree / 2


@dataclass(frozen=True)
class Preset:
    """A named set of parameters."""

    title: str
    params: Mapping[str, Any]


@dataclass(frozen=True)
class Kind:
    """One row of the registry."""

    title: str
    summary: str
    least_brokers: int
    params: type[NoParams] | type[Params]
    """Described by ``overlay.core.settings.describe``."""
    draw: Callable[[int, Any, Random], Drawn] | None
    """``None`` if links are given and not drawn."""
    links: Callable[[int, Any], float] = lambda brokers, params: 0
    """A lower bound of the number of links, if known before drawing. Drawing half a million takes minutes."""
    presets: Mapping[str, Preset] = field(default_factory=dict)


KINDS: dict[str, Kind] = {
    "central": Kind("One central broker", "No neighbours: all clients use one broker.", 1, NoParams, _central),
    "ring": Kind("Ring", "Each broker has two neighbours; a search may visit all brokers.", 3, Params, _ring),
    "full-mesh": Kind("Full mesh", "All brokers are neighbours, one hop away.", 2, Params, _full_mesh, _pairs),
    "waxman": Kind(
        "Waxman",
        "Random positions, with more links between near brokers; the thesis' moderate connectivity.",
        2,
        WaxmanParams,
        _waxman,
        _waxman_links,
        {
            "mean-degree-2": Preset("Average connectivity 2, read as a mean degree of 2", {"mean_degree": 2.0}),
            "two-links-per-broker": Preset(
                "Average connectivity 2, read as two links added per broker, as BRITE does (mean degree near 4)",
                {"links_per_broker": 2, "distance_decay": 0.2},
            ),
        },
    ),
    "star": Kind("Star", "Broker 0 is the only neighbour of all others and part of every search.", 2, Params, _star),
    "line": Kind("Line", "Each broker is linked to the next one; the longest possible paths.", 2, Params, _line),
    "grid": Kind("Grid", "Rows and columns; the last row may be incomplete.", 2, GridParams, _grid),
    "random-regular": Kind(
        "Random regular",
        "Every broker has the same number of random neighbours.",
        2,
        RegularParams,
        _random_regular,
        lambda brokers, params: brokers * params.degree / 2,
    ),
    "barabasi-albert": Kind(
        "Barabási–Albert",
        "New brokers prefer neighbours with many links: a few hubs, as on the Internet.",
        2,
        PreferentialParams,
        _barabasi_albert,
        lambda brokers, params: (brokers - params.links_per_broker) * params.links_per_broker,
    ),
    "watts-strogatz": Kind(
        "Watts–Strogatz",
        "A ring of near neighbours with some links moved at random: a small world.",
        3,
        SmallWorldParams,
        _watts_strogatz,
        lambda brokers, params: brokers * params.nearest / 2,
    ),
    "custom": Kind("Custom", "Links are given individually or in a file.", 1, Params, None),
}


def generate(
    kind: str,
    brokers: int,
    params: Mapping[str, Any] | None = None,
    seed: int = 0,
    links: Sequence[Any] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Graph:
    """Generate a topology of ``kind``. Raises ``InvalidSetting``.

    ``links`` are for kind ``custom`` only: pairs ``[a, b]`` or objects ``{"a", "b", "delay_ms", "loss", …}``. Values
    missing in an object come from ``params``. Custom topologies may be disconnected; all others are connected.
    """
    row = _row(kind, brokers, limits)
    settings = build(row.params, params or {})
    if row.draw is None:
        if links is None:
            raise InvalidSetting("links", "a custom topology needs its list of links")
        return _custom(brokers, cast(Params, settings), seed, links, limits)
    if links is not None:
        raise InvalidSetting("links", f"are given for kind custom only; {kind} draws its own")
    if (least := row.links(brokers, settings)) > limits.links:
        raise InvalidSetting("links", f"{least:.0f} links are more than the limit of {limits.links}")
    edges, positions = row.draw(brokers, settings, Random(derive_seed(seed, "topology", kind)))
    bare = require(
        Graph(brokers, tuple(Link(*edge) for edge in sorted((min(edge), max(edge)) for edge in edges))), limits
    )
    placed = replace(bare, positions=_places(bare, positions, seed))
    return _dress(placed, settings, seed) if isinstance(settings, Params) else placed


def _row(kind: str, brokers: int, limits: Limits) -> Kind:
    row = KINDS.get(kind) if isinstance(kind, str) else None
    if row is None:
        raise InvalidSetting("kind", f"{shown(kind)} is not a kind of topology; known are {', '.join(KINDS)}")
    if not isinstance(brokers, int) or isinstance(brokers, bool):
        raise InvalidSetting("brokers", f"must be a whole number, not {shown(brokers)}")
    if not row.least_brokers <= brokers <= limits.brokers:
        raise InvalidSetting(
            "brokers", f"{row.title} takes from {row.least_brokers} to {limits.brokers} brokers, not {brokers}"
        )
    return row


def _custom(brokers: int, params: Params, seed: int, links: Sequence[Any], limits: Limits) -> Graph:
    given = read_links(links, limits)
    bare = require(Graph(brokers, tuple(Link(fields["a"], fields["b"]) for fields in given)), limits)
    dressed = _dress(Graph(brokers, bare.links, _places(bare, None, seed)), params, seed)
    own = tuple(replace(link, **fields) for link, fields in zip(dressed.links, given, strict=True))
    return require(replace(dressed, links=own), limits)


def _places(graph: Graph, positions: Sequence[Position] | None, seed: int) -> tuple[Position, ...]:
    places = positions or layout.spring(graph.brokers, [link.ends for link in graph.links], seed)
    return tuple((round(x, 6), round(y, 6)) for x, y in places)


def _dress(graph: Graph, params: Params, seed: int) -> Graph:
    """``graph`` with the properties of each link."""
    if not graph.links:
        return graph
    shares = _shares_by_distance(graph) if params.delay_by == "distance" else _shares_by_chance(graph, seed)
    alike = params.of_each_link()
    return replace(
        graph,
        links=tuple(
            Link(link.a, link.b, delay_ms=round(params.delay_ms + share * params.delay_spread_ms, 3), **alike)
            for link, share in zip(graph.links, shares, strict=True)
        ),
    )


def _shares_by_chance(graph: Graph, seed: int) -> list[float]:
    chance = Random(derive_seed(seed, "topology", "delays"))
    return [chance.random() for _ in graph.links]


def _shares_by_distance(graph: Graph) -> list[float]:
    positions = graph.positions or ()
    lengths = [dist(positions[link.a], positions[link.b]) for link in graph.links]
    return [length / (max(lengths) or 1.0) for length in lengths]
