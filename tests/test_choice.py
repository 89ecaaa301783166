"""The choice of a client's broker at run time: by latency, load or place, and when it moves."""

from collections import Counter
from random import Random
from statistics import fmean

from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.load.choice import BY, IDLE_PER_S, LATENCY, LOAD, MARGIN, PLACE, Candidate, Wish, better, cost_of, ranked
from tests.thorough import examples

A, B, C = (("127.0.0.1", port) for port in (7000, 7001, 7002))
NUMBERS = st.none() | st.floats(0, 1e6)
CANDIDATES = st.lists(
    st.builds(
        Candidate,
        st.tuples(st.just("127.0.0.1"), st.integers(1, 65535)),
        NUMBERS,
        NUMBERS,
        st.none() | st.tuples(st.floats(0, 1), st.floats(0, 1)),
    ),
    unique_by=lambda one: one.address,
    max_size=5,
)
WISHES = st.builds(Wish, st.sampled_from(BY), st.sampled_from(("", "c1", "c2")), st.none() | st.just((0.5, 0.5)))


@settings(max_examples=examples(100))
@given(CANDIDATES, WISHES)
def test_every_candidate_has_one_place_and_unknown_ones_come_last(candidates, wish):
    order = ranked(candidates, wish)
    assert sorted(one.address for one in order) == sorted(one.address for one in candidates)
    costs = [cost_of(one, wish) for one in order]
    assert [cost == float("inf") for cost in costs] == sorted(cost == float("inf") for cost in costs)
    if not wish.who:
        assert costs == sorted(costs)


@settings(max_examples=examples(100))
@given(CANDIDATES.filter(bool), WISHES, st.randoms(use_true_random=False))
def test_a_move_is_always_to_a_broker_that_is_better_by_the_margin(candidates, wish, chance):
    current, *others = candidates
    found = better(current, others, wish, chance)
    if found is not None:
        assert found in others
        here = cost_of(current, wish)
        assert cost_of(found, wish) < (1 - MARGIN) * here
        assert better(found, [current], wish, chance) is None, "and it does not move back"


def test_names_spread_clients_over_equally_near_brokers_and_away_from_loaded_ones():
    near = [Candidate(A, 0.1), Candidate(B, 5.0), Candidate(C, 90.0)]
    first = Counter(ranked(near, Wish(LATENCY, f"c{n}"))[0].address for n in range(400))
    assert first[C] == 0
    assert min(first[A], first[B]) > 150
    loaded = [Candidate(A, load_per_s=0), Candidate(B, load_per_s=3 * IDLE_PER_S)]
    first = Counter(ranked(loaded, Wish(LOAD, f"c{n}"))[0].address for n in range(400))
    assert 60 < first[B] < 140, "a quarter"
    assert [one.address for one in ranked(near, Wish())] == [A, B, C]
    here = [Candidate(A, place=(0.9, 0.9)), Candidate(B, place=(0.1, 0.2))]
    assert ranked(here, Wish(PLACE, place=(0.0, 0.0)))[0].address == B


def rounds(loads, clients_at, per_client, chance, count):
    """Loads after each round in which every client decides at the same time."""
    for _ in range(count):
        seen = [Candidate(("127.0.0.1", index + 1), load_per_s=load) for index, load in enumerate(loads)]
        moves = [
            (at, better(seen[at], seen, Wish(LOAD), chance))
            for at, clients in enumerate(clients_at)
            for _ in range(clients)
        ]
        for at, to in moves:
            if to is not None:
                clients_at[at] -= 1
                clients_at[to.address[1] - 1] += 1
        loads = [clients * per_client for clients in clients_at]
        yield loads


def test_clients_that_all_see_the_same_idle_broker_do_not_all_move_there():
    for seed in range(examples(40)):
        brokers, clients, rate = 10, 500, 10.0
        start = [clients, *[0] * (brokers - 1)]
        course = list(rounds([clients * rate, *[0.0] * (brokers - 1)], start, rate, Random(seed), 30))
        average = clients * rate / brokers
        assert max(course[0][1:]) < 2.5 * average, "no herd in the first round"
        assert max(course[-1]) < 1.5 * average
        assert fmean(max(loads) for loads in course[10:]) < 1.5 * average, "and none later"
