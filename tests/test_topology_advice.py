"""Which links shorten walks most, against trying every link; and how far walks go, against what is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.errors import InvalidSetting
from overlay.core.links import Link
from overlay.systems.context_broker.walking import estimate
from overlay.topologies import Graph, generate
from overlay.topologies.advice import links_to_add, mean_walk


def plain(graph: Graph) -> nx.Graph:
    whole = nx.empty_graph(graph.brokers)
    whole.add_edges_from(link.ends for link in graph.links)
    return whole


def walked(graph: Graph) -> float:
    """Mean hops from one broker to another by solving for each target what every neighbour's mean comes to."""
    matrix = nx.to_numpy_array(plain(graph))
    steps = matrix / matrix.sum(axis=1, keepdims=True)
    means = []
    for target in range(graph.brokers):
        others = [i for i in range(graph.brokers) if i != target]
        left = np.eye(len(others)) - steps[np.ix_(others, others)]
        means += list(np.linalg.solve(left, np.ones(len(others))))
    return float(np.mean(means))


def shortest(graph: Graph) -> float:
    return float(nx.average_shortest_path_length(plain(graph)))


LENGTHS: dict[str, Callable[[Graph], float]] = {"walk": walked, "path": shortest}


def with_link(graph: Graph, a: int, b: int) -> Graph:
    return replace(graph, links=(*graph.links, Link(a, b)))


def free(graph: Graph) -> list[tuple[int, int]]:
    taken = {link.ends for link in graph.links}
    return [pair for pair in combinations(range(graph.brokers), 2) if pair not in taken]


@given(st.integers(3, 8), st.integers(0, 10_000), st.sampled_from(sorted(LENGTHS)))
@settings(max_examples=40)
def test_each_link_is_as_good_as_the_best_of_all(brokers: int, seed: int, goal: str) -> None:
    graph = generate("waxman", brokers, {"mean_degree": 2.0 if brokers > 3 else 4 / 3}, seed)
    length = LENGTHS[goal]
    for added in links_to_add(graph, 3, goal):
        assert added.before == pytest.approx(length(graph))
        best = min(length(with_link(graph, *pair)) for pair in free(graph))
        graph = with_link(graph, added.a, added.b)
        assert added.after == pytest.approx(length(graph))
        assert added.after == pytest.approx(best)
        assert added.after < added.before


@pytest.mark.parametrize("goal", sorted(LENGTHS))
def test_two_parts_are_joined_where_it_helps_most(goal: str) -> None:
    parts = Graph(7, tuple(Link(*ends) for ends in [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6)]))
    [joining] = links_to_add(parts, 1, goal)
    best = min(LENGTHS[goal](with_link(parts, a, b)) for a in range(4) for b in range(4, 7))
    assert joining.before is None
    assert joining.after == pytest.approx(best) == LENGTHS[goal](with_link(parts, joining.a, joining.b))


def test_brokers_without_links_are_joined_before_anything_is_shortened() -> None:
    added = links_to_add(Graph(5, ()), 6)
    assert [one.after is None for one in added[:4]] == [True, True, True, False]
    joined = Graph(5, tuple(Link(one.a, one.b) for one in added[:4]))
    assert nx.is_connected(plain(joined))
    assert added[3].after == pytest.approx(mean_walk(joined))


def test_where_nothing_is_left_to_shorten_there_is_no_advice() -> None:
    assert links_to_add(generate("full-mesh", 6, {}), 3) == []
    assert links_to_add(generate("central", 1, {}), 3) == []
    assert len(links_to_add(generate("ring", 4, {}), 10, "path")) == 2


def test_a_walk_on_a_ring_is_as_long_as_the_books_say_and_on_a_thousand_brokers_too() -> None:
    assert mean_walk(generate("ring", 10, {})) == pytest.approx(10 * 11 / 6)
    [added] = links_to_add(generate("ring", 1000, {}), 1)
    assert added.before == pytest.approx(1000 * 1001 / 6)
    assert added.after < added.before


@pytest.mark.parametrize(
    ("graph", "count", "goal", "told"),
    [
        (generate("ring", 5, {}), 0, "walk", "k: must be a whole number from 1 to 10, not 0"),
        (generate("ring", 5, {}), 11, "walk", "k: must be a whole number from 1 to 10, not 11"),
        (generate("ring", 5, {}), 1, "fame", "goal: must be one of walk, path"),
        (generate("ring", 151, {}), 1, "path", "goal: path is computed for up to 150 brokers, not 151"),
    ],
)
def test_what_cannot_be_worked_out_is_said(graph: Graph, count: int, goal: str, told: str) -> None:
    with pytest.raises(InvalidSetting, match=told.replace("(", r"\(")):
        links_to_add(graph, count, goal)


# --- walks that are walked ---


def test_an_estimate_agrees_with_the_exact_mean_of_uniform_walks() -> None:
    """Of one holder; the walks' limit of 4 hops a broker hardly cuts any of them off."""
    graph = generate("full-mesh", 7, {})
    found = estimate(graph, "uniform")
    assert (found.holders, found.found) == (1, pytest.approx(1, abs=0.02))
    assert found.hops == pytest.approx(mean_walk(graph), abs=3 * found.margin)


def test_walks_on_known_topologies() -> None:
    mesh = estimate(generate("full-mesh", 9, {}), "avoid")
    assert mesh.found == 1.0
    assert mesh.hops == pytest.approx(4.5, abs=3 * mesh.margin)  # one after the other, none twice
    ring = estimate(generate("ring", 20, {}), "avoid")
    assert ring.hops == pytest.approx(10, abs=3 * ring.margin)
    line = generate("line", 10, {})
    assert estimate(line, "avoid").found < 0.7  # ends at the end of the line
    deep = estimate(line, "backtrack")
    assert deep.found == 1.0


def test_what_is_not_there_is_not_found() -> None:
    parts = estimate(Graph(4, (Link(0, 1), Link(2, 3))), "backtrack")
    assert 0.2 < parts.found < 0.5
    alone = estimate(generate("central", 1, {}))
    assert (alone.walks, alone.found, alone.hops) == (0, 0.0, None)
    with pytest.raises(InvalidSetting, match="policy: must be one of"):
        estimate(Graph(2, (Link(0, 1),)), "teleport")


@pytest.mark.parametrize("policy", ["avoid", "uniform", "noback", "backtrack"])
def test_an_estimate_of_many_brokers_is_bounded_and_the_same_again(policy: str) -> None:
    graph = generate("ring", 1000, {})
    found = estimate(graph, policy)
    assert found == estimate(graph, policy)
    assert found.holders == 10
    assert 20 <= found.walks <= 1000
