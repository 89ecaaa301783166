"""What replicates say together, and against a baseline."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from statistics import geometric_mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from telemetry.measures import Measure
from telemetry.reports.grouping import Value, difference, estimate, quartiles, replicates
from telemetry.statistics.intervals import interval
from telemetry.systems.registry import measures

P95, ANSWERED, REQUESTS = measures()["p95"], measures()["answer_ratio"], measures()["requests"]


def group(*values: float, configuration: str = "a", first_seed: int = 1) -> list[Value]:
    """One configuration that ran once with each of the seeds from the first on."""
    return [Value(configuration, str(seed), value) for seed, value in enumerate(values, start=first_seed)]


def test_the_replicates_of_a_configuration_have_the_interval_that_reports_have() -> None:
    for count in (2, 3, 7, 8, 10):
        values = [900.0 + 7 * at for at in range(count)]
        found, reported = estimate(group(*values), P95), interval(values)
        assert (found.value, found.low, found.high, found.n) == tuple(
            reported[name] for name in ("value", "low", "high", "n")
        )


def test_one_replicate_has_a_value_and_no_interval_and_says_so() -> None:
    found = estimate(group(950.0), P95)
    assert (found.value, found.low, found.high, found.n) == (950.0, None, None, 1)
    assert found.method == "n = 1, no interval"


def test_nothing_measured_is_nothing_and_not_zero() -> None:
    found = estimate([], P95)
    assert (found.value, found.n, found.method) == (None, 0, "nothing measured")
    assert difference([], group(1.0, 2.0), P95).verdict == "unknown"


def test_configurations_taken_together_are_averaged_seed_by_seed() -> None:
    """Their own difference was chosen by a user and must not widen the interval."""
    fast, slow = group(100, 110, 120), group(1_000, 1_010, 1_020, configuration="b")
    found = estimate([*fast, *slow], P95)
    assert found.replicates == (550, 560, 570)
    assert found.value == pytest.approx(geometric_mean((550, 560, 570)))
    assert found.low is not None
    assert found.low > 500


def test_a_seed_that_half_of_the_configurations_lack_is_in_no_replicate() -> None:
    found = replicates([*group(100, 110, 120), *group(200, 210, configuration="b")])
    assert found.by_seed == {"1": 150, "2": 160}


def test_a_run_that_failed_takes_no_seed_away_from_the_others() -> None:
    """And leaves no gap of its own size: the slow configuration lacks the third seed, and the mean is none the less."""
    whole = [*group(100, 110, 120), *group(200, 210, 220, configuration="b"), *group(900, 910, 920, configuration="c")]
    found = replicates(whole[:-1])
    assert len(found.values) == 3
    assert found.values == pytest.approx(replicates(whole).values, abs=6)


def test_configurations_without_a_common_seed_have_a_mean_and_no_interval() -> None:
    found = estimate([*group(100, 200), *group(300, 500, configuration="b", first_seed=7)], P95)
    assert (found.value, found.low, found.n) == (275, None, 0)
    assert found.method == "its configurations ran with different seeds"


def test_a_live_run_repeated_with_its_seed_is_one_more_replicate() -> None:
    assert replicates([Value("a", "1", 10), Value("a", "1", 20)]).values == (10, 20)


def shares(*values: float, requests: int, first_seed: int = 1) -> list[Value]:
    return [replace(one, requests=requests) for one in group(*values, first_seed=first_seed)]


def test_a_share_is_never_shown_to_be_more_than_all_or_less_than_nothing() -> None:
    found = estimate(shares(1.0, 0.7, requests=300), ANSWERED)
    assert found.value == pytest.approx(0.85)
    assert found.low is not None and found.high is not None
    assert 0 < found.low < 0.5 < 0.9 < found.high < 1
    per_1000 = estimate(shares(0.0, 1000.0, requests=300), measures()["false_not_found"])
    assert per_1000.low is not None and per_1000.high is not None
    assert 0 < per_1000.low < per_1000.value == 500 < per_1000.high < 1000


def test_of_configurations_together_a_share_is_of_all_their_requests() -> None:
    whole = [replace(one, requests=100) for one in (*group(1, 1, 1), *group(1, 1, 1, configuration="b"))]
    assert replicates(whole).requests == (200, 200, 200)
    assert estimate(whole, ANSWERED).low == estimate(shares(1, 1, 1, requests=200), ANSWERED).low
    assert replicates([*whole, *group(1.0, configuration="b")]).requests[0] is None, "of one it is not known"


def test_a_share_that_falls_from_all_is_worse_and_has_not_perhaps_risen() -> None:
    before = shares(1.0, 1.0, 1.0, 1.0, 1.0, requests=500)
    found = difference(shares(0.9, 0.8, 0.7, 0.95, 0.9, requests=500), before, ANSWERED)
    assert found.low is not None and found.high is not None
    assert -1 <= found.low < -0.15 < found.high < 0
    assert found.verdict == "worse"


@pytest.mark.parametrize(("aggregate", "value"), [("median", 3), ("min", 1), ("max", 9)])
def test_other_things_than_the_mean_may_be_said_of_replicates(aggregate: str, value: float) -> None:
    assert estimate(group(9, 1, 3), P95, aggregate).value == value


def test_the_interval_of_a_median_needs_six_replicates_and_runs_between_two_of_them() -> None:
    assert estimate(group(5, 4, 3, 2, 1), P95, "median").low is None
    found = estimate(group(*range(1, 11)), P95, "median")
    assert (found.low, found.value, found.high) == (2, 5.5, 9)


def test_an_extreme_has_no_interval() -> None:
    assert "no interval" in estimate(group(1, 2, 3), P95, "min").method


def test_what_seeds_bring_to_both_sides_cancels_out() -> None:
    """One seed makes everything four times as slow; the change is 10 % with each of them."""
    before = group(100, 400, 200, 300)
    after = group(110, 441, 219, 330)
    found = difference(after, before, P95)
    assert found.verdict == "worse"
    assert found.method.endswith("paired by seed")
    assert found.method.startswith("ratio of geometric means")
    assert found.share == pytest.approx(0.1, abs=0.001)
    assert found.value == pytest.approx(0.1 * geometric_mean((100, 400, 200, 300)), rel=0.01)
    assert difference(before, after, P95).verdict == "better"


def test_without_common_seeds_the_whole_spread_counts() -> None:
    found = difference(group(110, 441, 219, 330, first_seed=50), group(100, 400, 200, 300), P95)
    assert found.verdict == "no difference shown"
    assert found.method.endswith("not paired")


def test_more_is_better_where_more_is_better() -> None:
    assert difference(group(0.99, 0.98, 0.99), group(0.5, 0.5, 0.51), ANSWERED).verdict == "better"


def test_a_difference_of_what_is_neither_better_nor_worse_is_not_judged() -> None:
    assert difference(group(20, 21, 22), group(10, 11, 12), REQUESTS).verdict == "unknown"


def test_one_run_against_one_has_a_difference_and_no_verdict() -> None:
    found = difference(group(20), group(10), P95)
    assert (found.value, found.low, found.verdict) == (pytest.approx(10), None, "unknown")


def test_two_that_are_alike_to_the_last_digit_do_not_differ() -> None:
    same = group(*([123.456] * 10))
    assert difference(same, same, P95).verdict == "no difference shown"


numbers = st.floats(min_value=0, max_value=1e9, allow_nan=False)
measured = st.lists(
    st.builds(Value, st.sampled_from("abc"), st.sampled_from(["1", "2", "3", "9"]), numbers, st.just(100)), max_size=30
)


@given(measured, measured, st.sampled_from(list(measures().values())))
def test_whatever_was_measured_an_interval_holds_its_value_and_a_verdict_follows(
    ours: list[Value], theirs: list[Value], measure: Measure
) -> None:
    found = estimate(ours, measure)
    if found.low is not None and found.value is not None and found.high is not None:
        room = 1e-9 * abs(found.value)
        assert found.low - room <= found.value <= found.high + room
    one, other = difference(ours, theirs, measure), difference(theirs, ours, measure)
    if one.value is not None and other.value is not None:
        assert one.value == pytest.approx(-other.value, rel=1e-6, abs=1e-6)
    assert {one.verdict, other.verdict} in ({"unknown"}, {"no difference shown"}, {"better", "worse"})


@given(st.lists(numbers, min_size=1, max_size=40))
def test_a_box_is_in_order(values: list[float]) -> None:
    box = quartiles(values)
    assert box is not None
    room = 1e-9 * max(values)
    assert all(low <= high + room for low, high in pairwise(box))
    assert (box[0], box[4]) == (min(values), max(values))
