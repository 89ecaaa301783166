"""What the intervals over replicates cover, and where they end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import geometric_mean
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telemetry.statistics.intervals import (
    COUNT,
    LOG,
    SHARE,
    SIGNED,
    Difference,
    between,
    interval,
    median_ranks,
    student,
)
from telemetry.statistics.shares import wilson

STUDIES = 2_000
FEWER = 800
"""Of shares, where no exact 95 % is promised."""


@pytest.fixture(scope="module")
def stats() -> Any:
    """Imported by the process of these tests only: it takes seconds, and every process reads every file."""
    from scipy import stats

    return stats


times = st.lists(st.floats(1e-3, 1e9), min_size=2, max_size=40)
measured = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20)
parts = st.lists(st.floats(0, 1), min_size=2, max_size=30)


def covers(found: dict[str, float], truth: float) -> bool:
    return found["low"] <= truth <= found["high"]


@pytest.mark.parametrize("n", [3, 5, 8, 10, 20])
@pytest.mark.parametrize("sigma", [0.05, 0.2, 0.5])
def test_the_interval_of_a_time_covers_the_geometric_mean_in_95_of_100_studies(n: int, sigma: float) -> None:
    """However many replicates there are. Studies are of response times with a geometric mean of 1 ms, whose logarithms
    spread by σ."""
    drawn = np.random.default_rng([n, round(100 * sigma)]).lognormal(math.log(1_000), sigma, (STUDIES, n))
    covered = sum(covers(interval(study), 1_000) for study in drawn.tolist()) / STUDIES
    assert covered == pytest.approx(0.95, abs=0.015)


def test_where_runs_differ_wildly_it_is_the_geometric_mean_that_is_covered_and_shown_and_not_the_mean() -> None:
    """At σ = 1 the mean lies 65 % above it."""
    drawn = np.random.default_rng(1).lognormal(0, 1, (STUDIES, 20))
    found = [interval(study) for study in drawn.tolist()]
    assert sum(covers(one, 1) for one in found) / STUDIES == pytest.approx(0.95, abs=0.015)
    assert sum(covers(one, math.exp(0.5)) for one in found) / STUDIES < 0.6
    assert found[0]["value"] == pytest.approx(geometric_mean(drawn[0]))
    assert found[0]["method"] == "geometric mean, 95 % by Student's t on the logarithm"


@pytest.mark.parametrize("n", [3, 8, 20])
def test_differences_and_counts_are_covered_by_students_t_on_the_plain_scale(n: int) -> None:
    drawn = np.random.default_rng(n).normal(-3, 2, (STUDIES, n))
    assert sum(covers(interval(study, SIGNED), -3) for study in drawn.tolist()) / STUDIES == pytest.approx(
        0.95, abs=0.015
    )
    lost = np.random.default_rng(n).poisson(40, (STUDIES, n))
    assert sum(covers(interval(study, COUNT), 40) for study in lost.tolist()) / STUDIES == pytest.approx(
        0.95, abs=0.015
    )


@given(times)
def test_what_is_shown_of_times_lies_in_its_interval_and_above_zero(values: list[float]) -> None:
    found = interval(values)
    room = 1 + 1e-9
    assert 0 < found["low"] <= found["value"] * room
    assert found["value"] <= found["high"] * room < math.inf


@given(times)
def test_it_is_the_interval_that_scipy_has_of_the_logarithms(stats: Any, values: list[float]) -> None:
    if max(values) / min(values) < 1 + 1e-6:
        return
    held = stats.ttest_1samp(np.log(values), 0).confidence_interval(0.95)
    found = interval(values)
    ends = [max(-700.0, min(700.0, end)) for end in held]
    assert [math.log(found["low"]), math.log(found["high"])] == pytest.approx(ends, rel=1e-6, abs=1e-6)


def test_a_time_of_zero_has_no_logarithm_so_the_mean_is_shown_and_said() -> None:
    found = interval([0.0, 2.0, 4.0])
    assert (found["value"], found["low"]) == (2.0, 0.0)
    assert found["high"] == pytest.approx(2 + 4.302653 * 2 / math.sqrt(3))
    assert found["method"] == "mean, 95 % by Student's t, as a replicate is 0 or less"
    assert interval([0.0, 0.0, 0.0])["high"] == 0


def test_more_replicates_narrow_an_interval() -> None:
    drawn = np.random.default_rng(3).lognormal(0, 0.3, (400, 9))
    widths = {
        n: np.mean([one["high"] - one["low"] for one in map(interval, drawn[:, :n].tolist())]) for n in (5, 7, 8, 9)
    }
    assert widths[5] > widths[7] > widths[8] > widths[9], "also from seven to eight, where the method once changed"


# ---- two arms


@pytest.mark.parametrize(("n", "m"), [(3, 3), (5, 9), (20, 8)])
def test_the_ratio_of_two_arms_is_covered_whatever_they_spread_by(n: int, m: int) -> None:
    """Ours take 1.2 times as long."""
    chance = np.random.default_rng([n, m])
    ours, theirs = chance.lognormal(math.log(1.2), 0.3, (STUDIES, n)), chance.lognormal(0, 0.1, (STUDIES, m))
    found = [between(one, other) for one, other in zip(ours.tolist(), theirs.tolist(), strict=True)]
    covered = sum(_ratio(one)[0] <= 1.2 <= _ratio(one)[1] for one in found) / STUDIES
    assert covered == pytest.approx(0.95, abs=0.02)


def _ratio(found: Difference) -> tuple[float, float]:
    assert found.low is not None and found.high is not None
    return 1 + found.low / found.theirs, 1 + found.high / found.theirs


@given(measured, measured)
def test_two_arms_are_compared_as_scipy_does_by_welch(stats: Any, ours: list[float], theirs: list[float]) -> None:
    if min(np.ptp(ours), np.ptp(theirs)) < 1e-3:
        return
    held = stats.ttest_ind(ours, theirs, equal_var=False).confidence_interval(0.95)
    found = between(ours, theirs, SIGNED)
    assert (found.low, found.high) == pytest.approx(tuple(held), rel=1e-6, abs=1e-6)


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), min_size=2, max_size=20))
def test_pairs_are_compared_as_scipy_does(stats: Any, pairs: list[tuple[float, float]]) -> None:
    ours, theirs = map(np.array, zip(*pairs, strict=True))
    if np.ptp(ours - theirs) < 1e-3:
        return
    held = stats.ttest_rel(ours, theirs).confidence_interval(0.95)
    found = between(ours.tolist(), theirs.tolist(), SIGNED, is_paired=True)
    assert (found.low, found.high) == pytest.approx(tuple(held), rel=1e-6, abs=1e-6)


@given(st.integers(1, 100_000), st.data())
def test_wilsons_score_is_as_scipy_has_it(stats: Any, requests: int, data: st.DataObject) -> None:
    answered = data.draw(st.integers(0, requests))
    held = stats.binomtest(answered, requests).proportion_ci(0.95, method="wilson")
    found = wilson(answered / requests, requests, student(math.inf))
    assert (found.low, found.high) == pytest.approx(tuple(held), abs=1e-9)


@given(st.integers(0, 200_000))
def test_the_interval_of_a_median_leaves_out_as_many_as_95_percent_allow(stats: Any, n: int) -> None:
    left_out = median_ranks(n)
    if left_out is None:
        assert n < 6
        return
    uncovered = 2 * stats.binom.cdf([left_out, left_out + 1], n, 0.5)
    assert uncovered[0] <= 0.05 < uncovered[1]


def test_what_a_seed_brings_to_both_arms_cancels_out() -> None:
    seeds = np.random.default_rng(4).lognormal(0, 1, 6)
    before, after = 100 * seeds, 110 * seeds * np.array([1.01, 0.99, 1.0, 1.02, 0.98, 1.0])
    paired, apart = between(after, before, is_paired=True), between(after, before)
    assert (paired.low, paired.high) == pytest.approx((0.082 * paired.theirs, 0.119 * paired.theirs), rel=0.05)
    assert apart.low is not None and apart.low < 0
    assert paired.value == pytest.approx(apart.value)


@given(times, times, st.sampled_from([LOG, COUNT, SIGNED]))
def test_told_the_other_way_about_a_difference_is_the_negative(
    ours: list[float], theirs: list[float], scale: str
) -> None:
    there, back = between(ours, theirs, scale), between(theirs, ours, scale)  # type: ignore[arg-type]
    assert there.value == pytest.approx(-back.value, rel=1e-6, abs=1e-6 * max(*ours, *theirs))


# ---- shares


def drawn_shares(n: int, requests: int, share: float, correlation: float, seed: int) -> list[list[float]]:
    """Of runs that differ by more than chance between requests explains, where these are correlated."""
    chance = np.random.default_rng(seed)
    own = np.full((FEWER, n), share)
    if correlation:
        strength = (1 - correlation) / correlation
        own = chance.beta(share * strength, (1 - share) * strength, (FEWER, n))
    found: list[list[float]] = (chance.binomial(requests, own) / requests).tolist()
    return found


@pytest.mark.parametrize("n", [3, 5, 8, 20])
@pytest.mark.parametrize(
    ("share", "correlation"), [(0.5, 0.0), (0.5, 0.1), (0.9, 0.01), (0.9, 0.1), (0.99, 0.0), (0.999, 0.0)]
)
def test_the_interval_of_a_share_covers_what_it_claims(n: int, share: float, correlation: float) -> None:
    """Without correlation it covers more, as the spread of the replicates is not believed below that of chance."""
    studies = drawn_shares(n, 1_000, share, correlation, seed=n)
    covered = sum(covers(interval(one, SHARE, requests=[1_000] * n), share) for one in studies) / FEWER
    assert covered > 0.92


@given(parts, st.integers(1, 10_000), st.sampled_from([1.0, 100.0, 1000.0]))
def test_a_share_never_leaves_what_is_possible(values: list[float], requests: int, most: float) -> None:
    found = interval([value * most for value in values], SHARE, requests=[requests] * len(values), most=most)
    room = 1e-9 * most
    assert -room <= found["low"] <= found["value"] + room
    assert found["value"] - room <= found["high"] <= most + room


def test_runs_that_all_found_everything_have_an_interval_that_more_requests_narrow() -> None:
    few, many = (interval([1.0] * 5, SHARE, requests=[made] * 5) for made in (20, 1_000))
    assert (few["value"], few["high"], many["high"]) == (1, 1, 1)
    assert 0.9 < few["low"] < 0.95 < 0.99 < many["low"] < 1
    unknown = interval([1.0] * 5, SHARE)
    assert (unknown["value"], unknown["low"]) == (1, None)
    assert "number of requests unknown" in unknown["method"]


def test_two_runs_far_apart_have_an_interval_within_zero_and_all() -> None:
    found = interval([0.2, 1.0], SHARE, requests=[200, 200])
    assert 0 < found["low"] < 0.2
    assert 0.9 < found["high"] <= 1


def _change(ours: Sequence[float], theirs: Sequence[float], requests: int, *, is_paired: bool) -> Difference:
    made = ([requests] * len(ours), [requests] * len(theirs))
    return between(ours, theirs, SHARE, is_paired=is_paired, requests=made)


def test_from_all_a_share_cannot_rise() -> None:
    """By more than a hair: what was 100 % of 2,000 requests may be a little less."""
    found = _change([1.0, 0.8, 0.6, 0.99], [1.0, 1.0, 1.0, 1.0], 500, is_paired=True)
    assert found.value == pytest.approx(-0.1525)
    assert found.low is not None and found.high is not None
    assert -1 <= found.low < found.value < found.high < 0.01


@given(parts, parts, st.integers(1, 1_000), st.booleans())
def test_a_difference_of_shares_stays_within_what_is_possible(
    ours: list[float], theirs: list[float], requests: int, is_paired: bool
) -> None:
    n = min(len(ours), len(theirs))
    found = _change(ours[:n], theirs[:n], requests, is_paired=is_paired)
    assert found.low is not None and found.high is not None
    assert -1 <= found.low <= found.value + 1e-9
    assert found.value - 1e-9 <= found.high <= 1


@pytest.mark.parametrize("n", [3, 5, 20])
@pytest.mark.parametrize("is_paired", [False, True])
def test_the_interval_of_a_difference_of_shares_covers_what_it_claims(n: int, is_paired: bool) -> None:
    """Of pairs a seed brings the same to both sides."""
    chance = np.random.default_rng(n)
    common = chance.normal(0, 0.5, (FEWER, n))
    logits = [level + (common if is_paired else chance.normal(0, 0.5, (FEWER, n))) for level in (2.0, 1.2)]
    often = [1 / (1 + np.exp(-logit)) for logit in logits]
    many = chance.normal(0, 0.5, 1_000_000)
    truth = float(np.mean(1 / (1 + np.exp(-2.0 - many))) - np.mean(1 / (1 + np.exp(-1.2 - many))))
    ours, theirs = ((chance.binomial(1_000, one) / 1_000).tolist() for one in often)
    found = [_change(one, other, 1_000, is_paired=is_paired) for one, other in zip(ours, theirs, strict=True)]
    covered = sum(one.low <= truth <= one.high for one in found if one.low is not None and one.high is not None)
    assert covered / FEWER > 0.93
