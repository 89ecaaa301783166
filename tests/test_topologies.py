"""Topologies: what is drawn, what is said of it, and what files are taken and refused."""

import subprocess
import sys
from collections import Counter
from itertools import combinations
from math import dist, exp
from random import Random
from statistics import fmean

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.errors import InvalidSetting
from overlay.core.links import Link
from overlay.core.settings import describe
from overlay.topologies import (
    KINDS,
    Graph,
    Limits,
    check,
    from_graphml,
    from_json,
    generate,
    measures,
    to_graphml,
    to_json,
    waxman,
)
from tests.thorough import examples

DRAWN = [kind for kind in KINDS if kind not in ("central", "custom")]
seeds = st.integers(0, 2**63)
REFUSALS = {"degree", "nearest", "links_per_broker", "mean_degree"}


def edges(graph: Graph) -> set[tuple[int, int]]:
    return {link.ends for link in graph.links}


@given(st.sampled_from(DRAWN), st.integers(2, 30), seeds)
@settings(max_examples=examples(120))
def test_every_kind_is_connected_checked_placed_and_the_same_again(kind: str, brokers: int, seed: int) -> None:
    try:
        graph = generate(kind, brokers, {}, seed)
    except InvalidSetting as error:
        assert error.field in REFUSALS or (error.field == "brokers" and brokers < KINDS[kind].least_brokers)
        return
    assert check(graph) == []
    assert measures(graph)["connected"]
    assert all(0 <= value <= 1 for position in graph.positions for value in position)
    assert graph == generate(kind, brokers, {}, seed)


@pytest.mark.parametrize(
    ("kind", "brokers", "params", "expected"),
    [
        ("central", 1, {}, {"links": 0, "mean_degree": 0, "diameter": 0, "connected": True, "components": 1}),
        ("ring", 10, {}, {"links": 10, "min_degree": 2, "max_degree": 2, "diameter": 5}),
        ("full-mesh", 10, {}, {"links": 45, "mean_degree": 9, "diameter": 1, "mean_path_length": 1}),
        ("star", 10, {}, {"links": 9, "max_degree": 9, "min_degree": 1, "diameter": 2}),
        ("line", 4, {}, {"links": 3, "diameter": 3, "mean_path_length": 1.6667}),
        ("grid", 12, {"columns": 4}, {"links": 17, "diameter": 5, "min_degree": 2, "max_degree": 4}),
        ("grid", 10, {}, {"links": 13}),
        ("random-regular", 10, {"degree": 4}, {"links": 20, "min_degree": 4, "max_degree": 4}),
        ("barabasi-albert", 10, {"links_per_broker": 2}, {"links": 16, "min_degree": 2}),
        ("watts-strogatz", 10, {"nearest": 4, "rewiring": 0.0}, {"links": 20, "min_degree": 4, "max_degree": 4}),
        ("waxman", 10, {"mean_degree": 2}, {"links": 10, "mean_degree": 2}),
        ("waxman", 100, {"mean_degree": 2}, {"links": 100, "mean_degree": 2, "connected": True}),
        ("waxman", 10, {"links_per_broker": 2}, {"links": 17, "mean_degree": 3.4, "min_degree": 2}),
    ],
)
def test_the_measures_of_known_topologies(kind: str, brokers: int, params: dict, expected: dict) -> None:
    assert expected.items() <= measures(generate(kind, brokers, params, seed=1)).items()


@given(st.integers(1, 12), st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=30))
def test_measures_agree_with_networkx(brokers: int, pairs: list[tuple[int, int]]) -> None:
    ends = {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1] and max(pair) < brokers}
    graph = Graph(brokers, tuple(Link(*pair) for pair in ends))
    peer = nx.empty_graph(brokers)
    peer.add_edges_from(ends)
    seen = measures(graph)
    assert seen["components"] == nx.number_connected_components(peer)
    if nx.is_connected(peer):
        assert seen["diameter"] == nx.diameter(peer)
        assert seen["mean_path_length"] == pytest.approx(nx.average_shortest_path_length(peer), abs=1e-4)
    else:
        assert seen["diameter"] is None
        assert f"{seen['components']} components" in check(graph)[0]


def test_equal_input_gives_equal_links_in_another_process() -> None:
    program = "from overlay.topologies import generate; print(generate('waxman', 20, {'mean_degree': 3}, 7).links)"
    here = str(generate("waxman", 20, {"mean_degree": 3}, 7).links)
    for hash_seed in ("0", "1"):
        there = subprocess.run(
            [sys.executable, "-c", program], stdout=-1, check=True, env={"PYTHONHASHSEED": hash_seed}
        )
        assert there.stdout.decode().strip() == here


# --- Waxman ---


def test_both_readings_of_connectivity_two_are_presets() -> None:
    degrees = {
        name: fmean(measures(generate("waxman", 100, preset.params, seed))["mean_degree"] for seed in range(5))
        for name, preset in KINDS["waxman"].presets.items()
    }
    assert degrees == {"mean-degree-2": 2.0, "two-links-per-broker": pytest.approx(4, abs=0.1)}


@pytest.mark.parametrize(
    "params",
    [
        {"mean_degree": 4},
        {"links_per_broker": 2},
        {"mean_degree": 0, "link_probability": 0.9, "distance_decay": 0.2},
    ],
)
def test_a_smaller_distance_decay_makes_shorter_links(params: dict) -> None:
    def mean_length(decay: float) -> float:
        graphs = [generate("waxman", 40, params | {"distance_decay": decay}, seed) for seed in range(4)]
        return fmean(dist(g.positions[link.a], g.positions[link.b]) for g in graphs for link in g.links)

    assert mean_length(params.get("distance_decay", 0.1)) < 0.8 * mean_length(5.0)


def test_the_chain_draws_as_often_as_redrawing_until_connected_would() -> None:
    """Four brokers, four links: all 15 connected graphs against their exact probabilities, by chi-squared."""
    places = [(0.0, 0.0), (0.2, 0.1), (0.9, 0.3), (0.4, 1.0)]
    furthest = max(dist(a, b) for a, b in combinations(places, 2))

    def odds(pair: tuple[int, int]) -> float:
        chance = 0.8 * exp(-dist(places[pair[0]], places[pair[1]]) / (0.4 * furthest))
        return chance / (1 - chance)

    exact = {}
    for chosen in combinations(combinations(range(4), 2), 4):
        if nx.is_connected(nx.Graph(chosen)) and len(nx.Graph(chosen)) == 4:
            exact[frozenset(chosen)] = odds(chosen[0]) * odds(chosen[1]) * odds(chosen[2]) * odds(chosen[3])
    draws, random, counts = 3000, Random(5), Counter()
    for _ in range(draws):
        links = waxman.swap_links(places, 4, 0.8, 0.4, random)
        counts[frozenset((min(link), max(link)) for link in links)] += 1
    expected = {graph: draws * weight / sum(exact.values()) for graph, weight in exact.items()}
    assert counts.keys() <= expected.keys()
    assert sum((counts[g] - expected[g]) ** 2 / expected[g] for g in expected) < 42.6  # 14 degrees of freedom


def test_a_waxman_too_large_for_the_chain_is_grown_with_the_same_lengths_of_links() -> None:
    large = Limits(brokers=3000)
    graph = generate("waxman", 3000, {"mean_degree": 4}, seed=1, limits=large)
    shown = measures(graph)
    assert check(graph, large) == []
    assert (shown["links"], shown["mean_degree"], shown["min_degree"]) == (6000, 4, 1)
    assert graph == generate("waxman", 3000, {"mean_degree": 4}, seed=1, limits=large)
    assert graph != generate("waxman", 3000, {"mean_degree": 4}, seed=2, limits=large)
    sparse = {"mean_degree": 4, "link_probability": 0.001}  # as it is where so few of all pairs are links
    chained = fmean(mean_length(generate("waxman", 200, sparse, seed)) for seed in range(3))
    assert mean_length(graph) == pytest.approx(chained, rel=0.1)
    with pytest.raises(InvalidSetting, match=r"distance_decay: with more than 1000 brokers must be at least 0.05"):
        generate("waxman", 3000, {"mean_degree": 4, "distance_decay": 0.01}, limits=large)


def mean_length(graph: Graph) -> float:
    return fmean(dist(graph.positions[link.a], graph.positions[link.b]) for link in graph.links)


def test_all_distances_are_looked_at_of_a_graph_of_moderate_size_only() -> None:
    shown = measures(Graph(6000, tuple(Link(i, i + 1) for i in range(5999))))
    assert shown["connected"] and shown["diameter"] is None and shown["mean_path_length"] is None


def test_a_waxman_that_cannot_be_connected_says_so_and_ends() -> None:
    with pytest.raises(InvalidSetting, match=r"^link_probability: none of 1000 graphs drawn was connected; raise"):
        generate("waxman", 30, {"mean_degree": 0, "link_probability": 0.01})
    with pytest.raises(InvalidSetting, match=r"^mean_degree: 10 connected .* from 1\.8 to 9, not 1"):
        generate("waxman", 10, {"mean_degree": 1})


# --- what links are given ---


def test_links_get_delay_jitter_and_loss_and_the_spread_is_seeded() -> None:
    params = {"delay_ms": 0.5, "delay_spread_ms": 4.5, "jitter_ms": 0.2, "loss": 0.01}
    graph = generate("ring", 50, params, seed=3)
    delays = [link.delay_ms for link in graph.links]
    assert 0.5 <= min(delays) < 1.5 < 4 < max(delays) <= 5
    assert {(link.jitter_ms, link.loss) for link in graph.links} == {(0.2, 0.01)}
    assert graph == generate("ring", 50, params, seed=3) != generate("ring", 50, params, seed=4)
    assert edges(graph) == edges(generate("ring", 50, {}, seed=3))


def test_delay_can_grow_with_distance() -> None:
    graph = generate("waxman", 20, {"delay_ms": 1, "delay_spread_ms": 4, "delay_by": "distance"}, seed=1)
    by_length = sorted(graph.links, key=lambda link: dist(graph.positions[link.a], graph.positions[link.b]))
    assert [link.delay_ms for link in by_length] == sorted(link.delay_ms for link in graph.links)
    assert by_length[-1].delay_ms == 5


def test_custom_links_are_pairs_or_objects() -> None:
    graph = generate("custom", 3, {"delay_ms": 2}, links=[[0, 1], {"a": 2, "b": 1, "delay_ms": 7, "loss": 0.5}])
    assert graph.links == (Link(0, 1, delay_ms=2), Link(2, 1, delay_ms=7, loss=0.5))
    assert len(graph.positions) == 3


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("moebius", 4), r"^kind: 'moebius' is not a kind of topology; known are central, ring, "),
        (("ring", 2), r"^brokers: Ring takes from 3 to 1000 brokers, not 2"),
        (("ring", 1001), r"^brokers: .* not 1001"),
        (("ring", True), r"^brokers: must be a whole number"),
        (("ring", "7"), r"^brokers: must be a whole number"),
        (("central", 2), r"^brokers: the central topology is one broker"),
        (("ring", 5, {"degree": 3}), r"^degree: is not a setting"),
        (("ring", 5, {"loss": 2}), r"^loss: "),
        (("ring", 5, {"jitter_ms": 2}), r"^jitter_ms: 2 ms is more than the delay of 0 ms"),
        (("ring", 5, {"duplication": 2}), r"^duplication: must be at most 1"),
        (("ring", 5, {"queue_bytes": 1.5}), r"^queue_bytes: must be a whole number"),
        (("ring", 5, {"loss": 0.9, "loss_burst": 2}), r"^loss: runs of 2 on average cannot lose more than 0.667"),
        (
            ("custom", 2, {}, 0, [{"a": 0, "b": 1, "queue_bytes": 9}]),
            r"an invalid queue_bytes: must be at least 65507 bytes",
        ),
        (("ring", 5, {}, 0, [[0, 1]]), r"^links: are given for kind custom only; ring draws its own"),
        (("full-mesh", 300), r"^links: 44850 links are more than the limit of 20000"),
        # Each of these would take minutes to draw; they are refused before.
        (("waxman", 1000, {"mean_degree": 999}), r"^links: 499500 links are more than the limit of 20000"),
        (("waxman", 1000, {"links_per_broker": 999}), r"^links: 499500 links are more"),
        (("random-regular", 1000, {"degree": 998}), r"^links: 499000 links are more"),
        (("barabasi-albert", 1000, {"links_per_broker": 500}), r"^links: 250000 links are more"),
        (("watts-strogatz", 1000, {"nearest": 998}), r"^links: 499000 links are more"),
        (("random-regular", 5, {"degree": 3}), r"^degree: 5 brokers cannot all have 3 links"),
        (("random-regular", 6, {"degree": 1}), r"^degree: with 1 link each, 6 brokers cannot be connected"),
        (("barabasi-albert", 3, {"links_per_broker": 3}), r"^links_per_broker: must be below"),
        (("watts-strogatz", 9, {"nearest": 3}), r"^nearest: must be even"),
        (("custom", 3), r"^links: a custom topology needs its list of links"),
        (("custom", 3, {}, 0, "01"), r"^links: must be a list"),
        (("custom", 3, {}, 0, [[0, 1], [1]]), r"^links\[1\]: a link is a pair of brokers, not 1 values"),
        (("custom", 3, {}, 0, [7]), r"^links\[0\]: must be an object, not 7"),
        (("custom", 3, {}, 0, [["0", 1]]), r"^links\[0\]\.a: must be the number of a broker, not '0'"),
        (("custom", 3, {}, 0, [{"a": 0, "b": 1, "delay": 4}]), r"^links\[0\]\.delay: is not known of a link"),
        (("custom", 3, {}, 0, [{"a": 0, "b": 1, "loss": "x"}]), r"^links\[0\]\.loss: must be a number, not 'x'"),
        (("custom", 3, {}, 0, [[0, 3]]), r"^links: Link 0 \(0–3\) names broker 3, but brokers are 0 to 2\."),
        (("custom", 3, {}, 0, [{"a": 0, "b": 1, "delay_ms": -1}]), r"^links: Link 0 \(0–1\) has an invalid delay_ms: "),
    ],
)
def test_what_cannot_be_generated_is_refused_by_name(arguments: tuple, sentence: str) -> None:
    with pytest.raises(InvalidSetting, match=sentence):
        generate(*arguments)


def test_check_says_everything_that_is_wrong() -> None:
    wrong = Graph(3, (Link(0, 0), Link(0, 1), Link(1, 0), Link(2, 5), Link(1, 2, loss=3)), names=("a", "a", "\n"))
    assert check(wrong) == [
        "Link 0 (0–0) joins broker 0 to itself.",
        "Link 2 (1–0) is a duplicate of link 1.",
        "Link 3 (2–5) names broker 5, but brokers are 0 to 2.",
        "Link 4 (1–2) has an invalid loss: must be at most 1, not 3.",
        "The name of broker 2 must be 1 to 100 printable characters.",
        "2 brokers are named 'a'.",
    ]
    assert check(Graph(4, (Link(0, 1),))) == ["The topology has 3 components; searches cannot cross between them."]
    assert check(Graph(0, ())) == ["A topology needs at least 1 broker, not 0."]
    assert len(check(Graph(2, (Link(0, 0),) * 100))) == 21


def test_every_kind_and_parameter_is_described() -> None:
    for kind in KINDS.values():
        assert kind.title and kind.summary.endswith((".", "together"))
        assert all(info.help for info in describe(kind.params))
        assert all(preset.title and kind.params(**preset.params) for preset in kind.presets.values())


# --- files ---


@given(st.sampled_from(DRAWN), seeds)
@settings(max_examples=40)
def test_a_topology_survives_both_formats(kind: str, seed: int) -> None:
    graph = generate(kind, 12, {"delay_ms": 1.5, "delay_spread_ms": 3, "jitter_ms": 0.5, "loss": 0.01}, seed)
    assert from_json(to_json(graph)) == graph
    assert from_graphml(to_graphml(graph)) == graph
    assert edges(graph) == {tuple(sorted(edge)) for edge in nx.node_link_graph(to_json(graph), edges="edges").edges}


def test_names_survive_too() -> None:
    graph = Graph(2, (Link(0, 1),), ((0.0, 0.0), (1.0, 1.0)), ("Porto Alegre <&>", "Passo Fundo"))
    assert from_json(to_json(graph)) == from_graphml(to_graphml(graph)) == graph


ZOO = """<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key attr.name="Latitude" attr.type="double" for="node" id="d1" />
  <key attr.name="Longitude" attr.type="double" for="node" id="d2" />
  <key attr.name="label" attr.type="string" for="node" id="d3" />
  <key attr.name="delay_ms" attr.type="double" for="edge" id="d4"><default>2.5</default></key>
  <graph edgedefault="undirected">
    <node id="n0"><data key="d1">-30.0</data><data key="d2">-51.2</data><data key="d3">Porto Alegre</data></node>
    <node id="n1"><data key="d1">-28.3</data><data key="d2">-52.4</data><data key="d3">Passo Fundo</data></node>
    <edge source="n0" target="n1" />
  </graph>
</graphml>"""


def test_a_graphml_of_the_internet_topology_zoo_is_understood() -> None:
    graph = from_graphml(ZOO)
    assert graph.names == ("Porto Alegre", "Passo Fundo")
    assert graph.links == (Link(0, 1, delay_ms=2.5),)
    south_east, north_west = graph.positions
    assert south_east[0] > north_west[0]
    assert south_east[1] > north_west[1]  # further down the page
    assert from_graphml(ZOO.encode()) == graph


BOMB = '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "aaaa">]><graphml><graph edgedefault="undirected"/></graphml>'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (BOMB, r"^file: has a DTD or entities, which are refused"),
        ("<graphml>", r"^file: is not XML: "),
        ("\0", r"^file: is not XML: "),
        (b"\xff\xfe\xfa", r"^file: is not XML: "),
        ("<html/>", r"^file: must be GraphML with exactly one graph"),
        ("<graphml/>", r"^file: must be GraphML with exactly one graph"),
        (ZOO.replace("undirected", "directed"), r"^edgedefault: a link works both ways"),
        (ZOO.replace('target="n1"', 'target="n9"'), r"^edges\[0\]\.target: 'n9' is the id of no node"),
        (ZOO.replace('target="n1"', ""), r"^edges\[0\]\.target: must be a text or a number"),
        (ZOO.replace('id="n1"', 'id="n0"'), r"^nodes\[1\]\.id: 'n0' is the id of nodes\[0\] already"),
        (ZOO.replace("2.5", "soon"), r"^edges\[0\]\.delay_ms: must be a number, not 'soon'"),
        (ZOO.replace("2.5", "-1"), r"^links: Link 0 \(0–1\) has an invalid delay_ms"),
        (ZOO.replace("-28.3", "nan"), r"^nodes\[1\]\.Latitude: must be a finite number"),
        (ZOO.replace("Passo Fundo", "Porto Alegre"), r"^links: 2 brokers are named 'Porto Alegre'"),
        (ZOO.replace('target="n1"', 'target="n0"'), r"^edges\[0\]: joins a broker to itself"),
        (ZOO.replace("<edge ", "<hyperedge/><edge "), r"^hyperedge: "),
    ],
)
def test_a_graphml_file_that_is_wrong_is_refused_with_its_place(text: str | bytes, sentence: str) -> None:
    with pytest.raises(InvalidSetting, match=sentence):
        from_graphml(text)


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ("{", r"^file: is not JSON: "),
        ("[" * 100_000, r"^file: is nested too deeply"),
        ("[]", r"^file: must be an object with nodes and links"),
        ({}, r"^nodes: must be a list"),
        ({"nodes": [{"id": 0}]}, r"^links: must be a list"),
        ({"nodes": [], "edges": []}, r"^links: A topology needs at least 1 broker"),
        ({"nodes": [3], "edges": []}, r"^nodes\[0\]: must be an object, not 3"),
        ({"nodes": [{"id": None}], "edges": []}, r"^nodes\[0\]\.id: must be a text or a number, not null"),
        ({"nodes": [{"id": 0}], "edges": [{"source": 0, "target": 1}]}, r"^edges\[0\]\.target: 1 is the id of no node"),
        ({"nodes": [{"id": 0, "x": True, "y": 1}], "edges": []}, r"^nodes\[0\]\.x: must be a number, not true"),
        ({"nodes": [{"id": 0}], "edges": [], "directed": True}, r"^directed: a link works both ways"),
    ],
)
def test_a_json_file_that_is_wrong_is_refused_with_its_place(document: object, sentence: str) -> None:
    with pytest.raises(InvalidSetting, match=sentence):
        from_json(document)


def test_files_are_capped_before_they_are_read() -> None:
    limits = Limits(brokers=3, links=2, file_bytes=1000)
    with pytest.raises(InvalidSetting, match=r"^file: .* bytes are more than the limit of 1000"):
        from_graphml(ZOO + 1000 * " ", limits)
    with pytest.raises(InvalidSetting, match=r"^nodes: 4 are more than the limit of 3"):
        from_json({"nodes": [{"id": i} for i in range(4)], "edges": []}, limits)
    with pytest.raises(InvalidSetting, match=r"^edges: 3 are more than the limit of 2"):
        from_json({"nodes": [{"id": 0}], "edges": [{}] * 3}, limits)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["id", "source", "target", "x", "y", "name", "nodes", "edges", "a"]), inner)
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(["nodes", "edges", "links", "directed"]), values) | values)
@settings(max_examples=examples(120))
def test_any_json_is_a_sound_topology_or_a_clear_refusal(document: object) -> None:
    try:
        graph = from_json(document)
    except InvalidSetting as error:
        assert error.field and error.sentence
    else:
        assert not [sentence for sentence in check(graph) if "components" not in sentence]
