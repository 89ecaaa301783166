"""What is said of two versions: which brokers and links came, went, moved or changed; cycles, bridges, clustering."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.links import Link
from overlay.topologies import Graph, generate, measures
from overlay.topologies.difference import difference
from overlay.topologies.structure import structure


def without(graph: Graph, broker: int) -> Graph:
    """As an editor takes a broker out: those after it are renumbered."""
    order = [i for i in range(graph.brokers) if i != broker]
    place = {old: new for new, old in enumerate(order)}
    links = [replace(link, a=place[link.a], b=place[link.b]) for link in graph.links if broker not in link.ends]
    names = tuple(graph.names[i] for i in order) if graph.names else None
    return Graph(len(order), tuple(links), tuple(graph.positions[i] for i in order), names)


@given(st.integers(3, 12), st.data())
@settings(max_examples=60)
def test_a_broker_taken_out_is_the_only_one_that_went(brokers: int, data: st.DataObject) -> None:
    ring = generate("ring", brokers, {"delay_ms": 1.0})
    gone = data.draw(st.integers(0, brokers - 1))
    found = difference(ring, without(ring, gone))
    assert found.brokers_removed == (gone,)
    assert (found.brokers_added, found.brokers_moved, found.brokers_renamed) == ((), (), ())
    assert {link.ends for link in found.links_removed} == {link.ends for link in ring.links if gone in link.ends}
    assert (found.links_added, found.links_changed) == ((), ())
    back = difference(without(ring, gone), ring)
    assert back.brokers_added == (gone,)
    assert {link.ends for link in back.links_added} == {link.ends for link in ring.links if gone in link.ends}


@given(st.integers(3, 12))
def test_the_same_differs_in_nothing(brokers: int) -> None:
    ring = generate("ring", brokers, {})
    assert difference(ring, ring).is_empty


def test_what_was_moved_named_cut_and_slowed_is_said() -> None:
    old = generate("ring", 5, {"delay_ms": 1.0})
    places = list(old.positions)
    places[2] = (0.5, 0.5)
    links = [replace(old.links[0], delay_ms=9.0), *old.links[2:], Link(1, 3)]
    new = Graph(5, tuple(links), tuple(places), ("0", "harbour", "2", "3", "4"))
    found = difference(old, new)
    assert found.brokers_moved == (2,)
    assert found.brokers_renamed == ((1, "", "harbour"),)
    assert [(was.delay_ms, now.delay_ms) for was, now in found.links_changed] == [(1.0, 9.0)]
    assert [link.ends for link in found.links_added] == [(1, 3)]
    assert [link.ends for link in found.links_removed] == [old.links[1].ends]


def test_names_are_followed_where_both_versions_know_them() -> None:
    names = ("a", "b", "c", "d")
    old = Graph(4, (Link(0, 1), Link(2, 3)), tuple((i / 4, 0.0) for i in range(4)), names)
    moved = tuple((i / 4, 1.0) for i in range(3))
    found = difference(old, Graph(3, (Link(1, 2),), moved, ("b", "c", "d")))
    assert found.brokers_removed == (0,)
    assert found.brokers_moved == (0, 1, 2)
    assert [link.ends for link in found.links_removed] == [(0, 1)]
    assert found.links_added == ()


@pytest.mark.parametrize(
    ("graph", "cycles", "bridges", "clustering"),
    [
        (generate("star", 6, {}), 0, 5, 0.0),
        (generate("ring", 6, {}), 1, 0, 0.0),
        (generate("full-mesh", 5, {}), 6, 0, 1.0),
        (Graph(5, (Link(0, 1), Link(1, 2), Link(2, 0), Link(3, 4))), 1, 1, 0.6),
        (generate("central", 1, {}), 0, 0, 0.0),
    ],
)
def test_the_structure_of_known_topologies(graph: Graph, cycles: int, bridges: int, clustering: float) -> None:
    found = structure(graph, measures(graph)["components"])
    assert (found["cycles"], found["bridges"], found["clustering"]) == (cycles, bridges, clustering)
    assert bool(found["cycle"]) == bool(cycles)


@given(st.integers(3, 20), st.integers(0, 1000))
@settings(max_examples=30)
def test_the_structure_agrees_with_networkx(brokers: int, seed: int) -> None:
    graph = generate("waxman", brokers, {"links_per_broker": 2}, seed)
    whole = nx.Graph([link.ends for link in graph.links])
    found = structure(graph, 1)
    assert found["clustering"] == pytest.approx(nx.average_clustering(whole), abs=1e-4)
    assert found["bridges"] == len(list(nx.bridges(whole)))
    ends = {link.ends for link in graph.links}
    cycle = found["cycle"]
    if len(cycle) < 12:
        assert all(tuple(sorted(pair)) in ends for pair in zip(cycle, [*cycle[1:], *cycle[:1]], strict=True))
