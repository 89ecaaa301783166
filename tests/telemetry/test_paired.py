"""Two runs with the same arrivals, request by request."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telemetry.reports.paired import Estimate, Paired, mean_of, over_seeds, pair, share_of

REQUESTS = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from(["answered", "not_found", "timed_out"]), st.integers(1, 10**6)),
    max_size=60,
)


def samples(requests: list[tuple[int, str, int]], zero: int = 0) -> pa.Table:
    """Client, outcome and response time of each; a client's requests come a second apart, the first while warming."""
    rows, asked = [], dict[int, int]()
    for client, outcome, took in requests:
        number = asked[client] = asked.get(client, -1) + 1
        intended = zero + number * 1_000_000 + client
        phase = "measuring" if number else "warming"
        entity = f"room|r{(client + number) % 3}|climate"
        rows.append((client, phase, outcome, intended, intended + took, entity))
    names = ("client", "phase", "outcome", "intended_us", "ended_us", "entity")
    columns = list(zip(*rows, strict=True)) or [[]] * len(names)
    types = (pa.int32(), pa.string(), pa.string(), pa.int64(), pa.int64(), pa.string())
    return pa.table({n: pa.array(c, t) for n, c, t in zip(names, columns, types, strict=True)})


def test_a_constant_gain_is_found_whatever_else_differs_and_whenever_the_second_run_began() -> None:
    before = [(client, "answered", 1000 + 7919 * client + 13 * n) for n in range(20) for client in range(5)]
    after = [(client, outcome, took - 250) for client, outcome, took in before]
    found = pair(samples(before), samples(after, zero=5_000_000_000))
    assert (found.pairs, found.answered, found.unpaired) == (95, 95, 0)
    assert found.mean == found.median == Estimate(-250.0, -250.0, -250.0)
    assert (found.faster, found.slower, set(found.curve)) == (95, 0, {-250.0})
    assert found.before is not None
    assert found.after == found.before - 250


def test_what_became_of_requests_is_counted_and_only_answers_have_a_difference() -> None:
    before = [(0, "answered", 10), (0, "answered", 10), (0, "answered", 10), (0, "not_found", 10)]
    after = [(0, "answered", 10), (0, "answered", 14), (0, "not_found", 10), (0, "answered", 10)]
    found = pair(samples(before), samples(after))
    assert found.outcomes == [
        ("answered", "answered", 1),
        ("answered", "not_found", 1),
        ("not_found", "answered", 1),
    ]
    assert (found.pairs, found.answered, found.mean) == (3, 1, Estimate(4.0, None, None))


def test_a_run_that_was_cut_short_is_compared_as_far_as_it_goes() -> None:
    whole = [(client, "answered", 100) for _ in range(4) for client in range(3)]
    found = pair(samples(whole), samples(whole[:7]))
    assert (found.pairs, found.unpaired) == (4, 5)


def test_two_runs_without_requests_have_no_difference() -> None:
    found = pair(samples([]), samples([]))
    assert (found.pairs, found.mean, found.curve) == (0, Estimate(None, None, None), [])


@given(before=REQUESTS, after=REQUESTS)
def test_told_in_the_other_order_every_difference_is_the_negative(
    before: list[tuple[int, str, int]], after: list[tuple[int, str, int]]
) -> None:
    there, back = pair(samples(before), samples(after)), pair(samples(after), samples(before))
    assert (there.pairs, there.answered, there.unpaired) == (back.pairs, back.answered, back.unpaired)
    assert (there.faster, there.slower) == (back.slower, back.faster)
    assert sorted((b, a, n) for a, b, n in there.outcomes) == sorted(back.outcomes)
    shares = (there.answered_share, back.answered_share)
    for one, other in ((there.mean, back.mean), (there.median, back.median), shares):
        for mine, theirs in ((one.value, other.value), (one.low, other.high), (one.high, other.low)):
            assert mine == (None if theirs is None else pytest.approx(-theirs, abs=1e-6))
    assert there.curve == pytest.approx([-value for value in reversed(back.curve)], abs=1e-6)


@given(before=REQUESTS, gain=st.integers(-500, 500))
def test_the_interval_holds_a_gain_that_all_requests_have(before: list[tuple[int, str, int]], gain: int) -> None:
    after = [(client, outcome, took + gain) for client, outcome, took in before]
    found = pair(samples(before), samples(after))
    for estimate in (found.mean, found.median):
        assert estimate.value in (None, gain)
        assert estimate.low in (None, gain)


def one_seed(gain: int, lost: int = 0, requests: int = 40) -> Paired:
    """Two runs of one seed: every request took ``gain`` longer, and of the first so many were lost."""
    before = [(client, "answered", 1000 + 7 * n) for n in range(requests // 4) for client in range(4)]
    after = [
        (client, "timed_out" if place < lost + 4 and place >= 4 else outcome, took + gain)
        for place, (client, outcome, took) in enumerate(before)
    ]
    return pair(samples(before), samples(after))


def test_over_seeds_the_seed_is_the_unit_and_not_the_request() -> None:
    alone = one_seed(100)
    assert (over_seeds([alone]), alone.over, alone.seeds) == (alone, "requests", 1)
    found = over_seeds([one_seed(100), one_seed(300, requests=400)])
    assert (found.over, found.seeds, found.mean.value) == ("seeds", 2, 200), "each seed has the same weight"
    assert found.mean.low is not None
    assert found.mean.low < 0 < 100 < (found.mean.high or 0), "two seeds that disagree say little"
    agreed = over_seeds([one_seed(gain) for gain in (190, 200, 210)])
    assert agreed.mean.low is not None
    assert 150 < agreed.mean.low < agreed.mean.value == 200
    assert agreed.pairs == 3 * one_seed(200).pairs
    assert agreed.outcomes == [("answered", "answered", agreed.pairs)]
    assert (min(agreed.curve), max(agreed.curve)) == (190, 210)


def test_what_is_lost_shows_in_the_share_answered_and_not_in_the_times() -> None:
    found = one_seed(0, lost=9)
    assert found.mean == Estimate(0, 0, 0)
    assert (found.answered_before, found.answered_after) == (1, 27 / 36)
    assert found.answered_share.value == pytest.approx(-0.25)
    assert found.answered_share.high is not None
    assert found.answered_share.high < 0
    seeds = over_seeds([one_seed(0, lost=lost) for lost in (8, 9, 10)])
    assert seeds.answered_share.value == pytest.approx(-0.25)
    assert seeds.answered_share.high is not None
    assert seeds.answered_share.high < 0


def test_a_seed_in_which_nothing_was_answered_in_both_has_a_share_and_no_time() -> None:
    found = over_seeds([one_seed(100), one_seed(0, lost=36)])
    assert found.mean == Estimate(100, None, None), "of one seed there is no interval over seeds"
    assert found.answered_share.value == pytest.approx(-0.5)


@given(n=st.integers(2, 300), share=st.floats(0, 1), of_those=st.floats(0, 1), of_the_others=st.floats(0, 1))
def test_the_interval_of_a_share_holds_it_and_stays_within_what_is_possible(
    n: int, share: float, of_those: float, of_the_others: float
) -> None:
    differing = round(share * n)
    lost = round(of_those * differing)
    both = round(of_the_others * (n - differing))
    found = share_of(both, lost, differing - lost, n)
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert -1 <= found.low <= found.value <= found.high <= 1


def test_the_interval_of_a_share_covers_what_it_claims_where_few_are_lost() -> None:
    drawn = np.random.default_rng(7)
    for n, p_lost, p_gained in ((60, 0.05, 0.0), (200, 0.02, 0.01), (200, 0.3, 0.1)):
        covered = 0
        for _ in range(600):
            lost, gained, both = drawn.multinomial(n, [p_lost, p_gained, 1 - p_lost - p_gained])
            found = share_of(int(both), int(lost), int(gained), n)
            covered += found.low <= p_gained - p_lost <= found.high
        assert covered / 600 > 0.92, (n, p_lost, p_gained)


def test_from_all_answered_the_share_has_not_perhaps_risen() -> None:
    """With an interval about the difference alone it went from -42 to +15 points."""
    found = share_of(36, 4, 0, 40)
    assert found.low is not None and found.high is not None
    assert -0.25 < found.low < found.value == -0.1 < found.high < 0.01
    seeds = over_seeds([one_seed(0, lost=lost) for lost in (0, 12, 3)])
    assert seeds.answered_share.low is not None and seeds.answered_share.high is not None
    assert -1 <= seeds.answered_share.low < seeds.answered_share.high < 0.1


def test_few_pairs_have_students_interval_which_a_resampling_of_them_cannot_reach() -> None:
    found = mean_of(np.array([-300.0, -100.0, 50.0, 250.0]))
    assert found.value == -25
    assert (found.low, found.high) == pytest.approx((-395.3, 345.3), abs=0.1)
