"""Two runs with the same arrivals, request by request."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telemetry.paired import Estimate, pair

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
    for one, other in ((there.mean, back.mean), (there.median, back.median)):
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
