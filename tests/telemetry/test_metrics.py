"""The arithmetic: percentiles, counters over restarts, intervals, and JSON that any reader takes."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.core.errors import InvalidSetting
from overlay.journal.counters import growth
from overlay.journal.facts import Tick
from overlay.systems.registry import FIRST, SYSTEMS
from telemetry.lake.storage import plain
from telemetry.statistics import metrics
from telemetry.statistics.intervals import SIGNED, interval
from telemetry.summary import processes
from telemetry.summary.verdict import Thresholds

microseconds = st.lists(st.integers(0, 10**10), min_size=1, max_size=200)


@given(microseconds)
def test_a_spread_is_ordered_and_inside_its_values(values):
    spread = metrics.spread(np.array(values))
    assert min(values) <= spread["p50"] <= spread["p95"] <= spread["p99"] <= spread["max"] == max(values)
    assert spread["n"] == len(values)


def test_a_spread_of_nothing_is_none_and_not_zero():
    assert metrics.spread(np.array([])) == {"n": 0, **dict.fromkeys(["mean", "p50", "p95", "p99", "min", "max"])}


@given(st.lists(st.integers(0, 1000), max_size=30), st.lists(st.integers(0, 1000), min_size=1, max_size=30))
def test_a_counter_that_begins_again_is_counted_on(before, after):
    first, second = np.cumsum([0, *before]).tolist(), np.cumsum(after).tolist()
    lost = second[0] < first[-1]
    expected = sum(before) + sum(after) if lost else second[-1]
    assert growth([*first, *second]) == expected


def tick(at_us, cpu_us=0, **counters):
    return Tick("broker-0", at_us, counters, "", 0, 0, 0, cpu_us)


def test_counts_between_two_instants_take_the_ticks_around_them():
    ticks = [tick(0, forwards=1), tick(1_000, forwards=4), tick(2_000, forwards=9), tick(3_000, forwards=20)]
    assert processes.counters_between(SYSTEMS[FIRST], ticks, 1_100, 1_900) == {"forwards": 5}
    assert processes.cores_used([tick(0), tick(1_000, cpu_us=250)], 0, 1_000) == 0.25
    assert processes.cores_used([tick(0)], 0, 1_000) is None


def test_one_replicate_has_no_interval_and_says_so():
    assert interval([5.0]) == {
        "value": 5.0,
        "low": None,
        "high": None,
        "n": 1,
        "method": "n = 1, no interval",
        "replicates": [5.0],
    }
    assert interval([None, math.nan])["value"] is None


def test_three_replicates_of_what_may_be_negative_have_students_interval():
    found = interval([10.0, 12.0, 14.0], SIGNED)
    assert (found["value"], found["n"], found["method"]) == (12.0, 3, "mean, 95 % by Student's t")
    assert found["low"] == pytest.approx(12 - 4.3027 * 2 / math.sqrt(3), rel=1e-4)


def test_three_replicates_of_a_response_time_have_an_interval_above_zero():
    found = interval([2.0, 3.0, 9.0])
    assert (found["value"], found["method"]) == (
        pytest.approx(54 ** (1 / 3)),
        "geometric mean, 95 % by Student's t on the logarithm",
    )
    assert (found["low"], found["high"]) == (pytest.approx(0.547, rel=1e-3), pytest.approx(26.1, rel=1e-3))


def test_where_replicates_agree_the_logarithm_changes_nothing_that_anybody_would_see():
    found, plain_t = interval([100.0, 101.0, 102.0]), interval([100.0, 101.0, 102.0], SIGNED)
    assert (found["low"], found["high"]) == pytest.approx((plain_t["low"], plain_t["high"]), rel=1e-3)


def test_what_goes_into_json_is_plain():
    value = {"a": np.float64("nan"), "b": np.int64(3), "c": [np.array([1.5, math.inf])], 4: math.nan, "d": True}
    assert json.dumps(plain(value), allow_nan=False) == '{"a": null, "b": 3, "c": [[1.5, null]], "4": null, "d": true}'


def test_a_threshold_outside_its_range_is_refused_by_name():
    with pytest.raises(InvalidSetting, match="machine_busy: must be at most 1"):
        Thresholds(machine_busy=2.0)
