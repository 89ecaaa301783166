"""Ideal numbers and moves, over all scores: sums, bounds, ties."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from overlay.systems.contextnet.poa.shares import ideal, targets

NAMES = st.sampled_from([f"gateway-{number}" for number in range(6)])
SCORES = st.dictionaries(NAMES, st.floats(0.001, 1e6), min_size=1)


@given(st.integers(0, 10_000), SCORES)
def test_ideal_numbers_sum_up_to_all_nodes_and_each_is_within_one_of_its_share(
    nodes: int, scores: dict[str, float]
) -> None:
    found = ideal(nodes, scores)
    assert sum(found.values()) == nodes
    total = sum(scores.values())
    assert all(abs(found[name] - nodes * score / total) < 1 + 1e-6 for name, score in scores.items())


def test_a_gateway_that_is_to_be_empty_gets_none_and_ties_go_by_name() -> None:
    assert ideal(5, {"b": 1.0, "a": 1.0, "c": 0.0}) == {"a": 3, "b": 2, "c": 0}


@given(st.data(), SCORES)
def test_nodes_go_where_they_lack_within_the_budget_and_nothing_overshoots(
    data: st.DataObject, scores: dict[str, float]
) -> None:
    counts = {name: data.draw(st.integers(0, 200)) for name in scores}
    wanted = ideal(sum(counts.values()), scores)
    surplus = {name: count - wanted[name] for name, count in counts.items() if count > wanted[name]}
    giving = {name: data.draw(st.integers(0, most)) for name, most in surplus.items()}
    budget = data.draw(st.integers(0, 100))
    moves = targets(counts, wanted, giving, budget)
    told = [target for found in moves.values() for target in found]
    assert len(told) == min(budget, sum(giving.values()))
    assert all(len(found) <= giving[source] for source, found in moves.items())
    assert all(counts[name] + told.count(name) <= wanted[name] for name in told)


def test_the_greatest_surplus_gives_first_and_the_greatest_lack_takes_first() -> None:
    counts, wanted = {"a": 30, "b": 22, "c": 8, "d": 0}, {"a": 15, "b": 15, "c": 15, "d": 15}
    assert targets(counts, wanted, {"a": 15, "b": 7}, 10) == {"a": [*["d"] * 8, "c", "d"]}
    assert targets(counts, wanted, {"a": 2, "b": 7}, 3) == {"a": ["d", "d"], "b": ["d"]}
