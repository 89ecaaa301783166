"""Percentiles from counts are those of the values: looked at by ranges first, and closely where it matters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telemetry.statistics.quantiles import Counts

SHARES = (0.0, 0.05, 0.5, 0.95, 0.99, 0.999, 1.0)
VALUES = st.lists(st.integers(0, 10**7) | st.integers(0, 40), min_size=1, max_size=200)


def counted(values):
    return Counts(*np.unique(np.array(values), return_counts=True))


def ranges(values, width):
    """How many of the values lie in each range of that width, and each value's range."""
    return counted(np.array(values) // width * width)


@given(VALUES)
def test_percentiles_of_counts_are_numpys(values):
    assert counted(values).percentiles(SHARES) == pytest.approx(np.percentile(values, np.array(SHARES) * 100).tolist())


@given(VALUES, VALUES)
def test_counts_of_two_parts_are_those_of_both_together(some, others):
    both = Counts.merged([counted(some), counted(others)])
    assert both.percentiles(SHARES) == pytest.approx(counted(some + others).percentiles(SHARES))


@given(VALUES, st.sampled_from([1, 7, 64, 10_000]))
def test_only_the_ranges_that_hold_a_percentile_need_be_looked_into(values, width):
    coarse = ranges(values, width)
    held = coarse.held(SHARES)
    assert len(held) <= 2 * len(SHARES)
    looked_into = counted([value for value in values if value // width * width in held])
    known = Counts.merged([coarse.without(held), looked_into])
    assert known.percentiles(SHARES) == pytest.approx(counted(values).percentiles(SHARES))
