"""The minimum spanning forest, compared with networkx and with the rule that no edge closes a cycle of better ones."""

from __future__ import annotations

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.systems.federation.bdrs.forest import (
    diameter,
    edges_of,
    has_cycle,
    link,
    links_of,
    spanning_forest,
    tree_of,
)
from overlay.systems.federation.config import ServerConfig
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.wire.values import BrokerAdvertisement, Candidate
from tests.thorough import examples

IDS = ["b0", "b1", "b10", "b2", "b9", "ä", "z", "\U0001f600", "\uffee"]
ids = st.sampled_from(IDS)
candidates = st.builds(Candidate, ids, st.integers(0, 3) | st.integers(0, 2**64 - 1), st.integers(0, 5).map(bool))
"""One of six is down."""


@st.composite
def networks(draw):
    names = draw(st.lists(ids, unique=True))
    return {
        name: BrokerAdvertisement(name, "10.0.0.1:1", candidates=tuple(draw(st.lists(candidates, max_size=6))))
        for name in names
    }


def naive_links(brokers):
    """Edge to delay."""
    found = {}
    for a in brokers:
        for b in brokers:
            said = [one for end, other in ((a, b), (b, a)) for one in brokers[end].candidates if one.broker == other]
            if a.encode() < b.encode() and said and all(one.is_up for one in said):
                found[a, b] = min(one.delay_us for one in said)
    return found


def forest_of_networkx(links):
    order = sorted(links, key=lambda edge: (links[edge], edge[0].encode(), edge[1].encode()))
    graph = nx.Graph()
    for rank, (a, b) in enumerate(order):
        graph.add_edge(a, b, weight=rank)
    return {tuple(sorted(edge)) for edge in nx.minimum_spanning_edges(graph, data=False)}


@given(networks())
@settings(max_examples=examples(140))
def test_the_forest_is_that_of_networkx(brokers):
    links = links_of(brokers)
    naive = naive_links(brokers)
    assert {one.edge: one.delay_us for one in links} == naive
    forest = spanning_forest(links)
    assert list(forest) == sorted(set(forest)) and set(forest) == forest_of_networkx(naive)
    assert forest == spanning_forest(reversed(links)), "whatever the order"
    assert not has_cycle(forest)
    graph = nx.Graph(list(naive))
    assert has_cycle(naive) == (not nx.is_empty(graph) and not nx.is_forest(graph))
    assert edges_of(links, "tree") == edges_of(links, "refuse") == forest
    assert edges_of(links, "suppress") == tuple(sorted(naive))


@given(networks())
@settings(max_examples=examples(140))
def test_no_better_links_join_the_ends_of_an_edge(brokers):
    links = links_of(brokers)
    forest = set(spanning_forest(links))
    for one in links:
        better = nx.Graph([other.edge for other in links if other < one])
        better.add_nodes_from(one.edge)
        assert (one.edge in forest) == (not nx.has_path(better, *one.edge))


@given(networks())
@settings(max_examples=examples(140))
def test_the_diameter_is_that_of_networkx(brokers):
    forest = spanning_forest(links_of(brokers))
    graph = nx.Graph(forest)
    parts = nx.connected_components(graph)
    assert diameter(forest) == max((nx.diameter(graph.subgraph(part)) for part in parts), default=0)


def test_ties_go_to_lower_ids_as_bytes():
    ring = [link(5, "b2", "b10"), link(5, "b10", "b1"), link(5, "b1", "b2")]
    assert spanning_forest(ring) == (("b1", "b10"), ("b1", "b2")), "b10 is before b2"
    assert spanning_forest([*ring[:2], link(4, "b2", "b1"), link(4, "b3", "b4")]) == (
        ("b1", "b10"),
        ("b1", "b2"),
        ("b3", "b4"),
    )


def test_the_tree_of_a_configuration():
    links = ((0, 1, 100), (1, 2, 300), (0, 2, 200), (2, 3, 50))
    config = ServerConfig(Settings(), 4, links)
    assert tree_of(config) == (("b0", "b1"), ("b0", "b2"), ("b2", "b3"))
    assert diameter(tree_of(config)) == 3
    advertisements = {
        f"b{i}": BrokerAdvertisement(f"b{i}", "10.0.0.1:1", candidates=config.candidates(i)) for i in range(4)
    }
    assert tree_of(config) == spanning_forest(links_of(advertisements)), "as the service computes it"
    assert len(tree_of(ServerConfig(Settings(cycles="suppress"), 4, links))) == 4
    assert diameter(()) == 0
