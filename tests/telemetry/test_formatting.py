"""Numbers and names in words, for pages, reports, REST and commands."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from telemetry import formatting
from telemetry.formatting import (
    count,
    counted,
    duration,
    field_name,
    ms,
    per_s,
    share,
    sig3,
    signed_us,
    size,
    us,
    words,
)
from telemetry.systems.registry import measures


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (7, "7"), (999, "999"), (0.12345, "0.123"), (12.345, "12.3"), (1234.5, "1230"), (0.00012345, "0.000123"),
     (0.9994, "0.999"), (0.9996, "1.00"), (0.9999, "1.00"), (9.996, "10.0"), (99.96, "100"), (-0.9999, "-1.00")],
)  # fmt: skip
def test_three_significant_figures_are_counted_after_rounding(value: float, text: str) -> None:
    assert sig3(value) == text


@given(st.floats(min_value=1e-9, max_value=1e15))
def test_three_figures_are_within_half_a_unit_of_the_third(value: float) -> None:
    text = sig3(value)
    assert "e" not in text
    assert float(text) == pytest.approx(value, rel=0.5e-2)
    if not float(value).is_integer() and value < 99.95:
        assert len(re.sub(r"^[0.]+", "", text).replace(".", "")) == 3, text


@pytest.mark.parametrize(
    "write",
    [sig3, count, us, ms, size, share, per_s, duration, signed_us, formatting.percent, formatting.signed_points],
)
def test_what_is_not_known_is_a_dash_and_never_a_zero(write) -> None:
    for nothing in (None, "", "nonsense", float("nan"), float("inf"), True):
        assert write(nothing) == "–"


@pytest.mark.parametrize(
    ("unit", "values", "shown"),
    [
        ("s", [0.0026, None, 0.0027], ("ms", [2.6, None, 2.7])),
        ("s", [0.00005, 0.00005, 0.00005], ("µs", [50, 50, 50])),
        ("ms", [-0.5, -0.7, 0.1], ("µs", [-500, -700, 100])),
        ("s", [0.5, 4], ("s", [0.5, 4])),
        ("J", [0.0166], ("mJ", [16.6])),
        ("s", [0, None], ("s", [0, None])),
        ("ratio", [0.1], ("ratio", [0.1])),
    ],
)
def test_values_that_are_written_together_have_the_unit_of_the_largest(unit, values, shown) -> None:
    found = formatting.in_its_size(unit, values)
    assert found == (shown[0], pytest.approx(shown[1]))


def test_a_number_has_the_unit_that_fits() -> None:
    assert [us(872.4), us(7029.55), us(1_234_567)] == ["872\u202fµs", "7.03\u202fms", "1.23\u202fs"]
    assert [ms(0.5), ms(70)] == ["500\u202fµs", "70.0\u202fms"]
    assert [size(12), size(2_000), size(5_000_000), size(7.2e9)] == [
        "12\u202fB", "2.00\u202fkB", "5.00\u202fMB", "7.20\u202fGB",
    ]  # fmt: skip
    assert [duration(45), duration(360), duration(4_800), duration(183_600)] == [
        "45\u202fs", "6\u202fmin", "80\u202fmin", "2\u202fd 3\u202fh",
    ]  # fmt: skip
    assert [signed_us(-1_500), signed_us(0), per_s(411.9)] == ["−1.50\u202fms", "0\u202fµs", "412/s"]


def test_a_share_that_lacks_something_is_never_100_percent() -> None:
    assert [share(1), share(0.99996), share(0.9997), share(0.5)] == [
        "100\u202f%", "99.99\u202f%", "99.97\u202f%", "50\u202f%",
    ]  # fmt: skip


def test_counts_have_no_fraction_and_sentences_a_plural() -> None:
    assert [count(4000.0), count(1_234_567)] == ["4\u202f000", "1\u202f234\u202f567"]
    assert [counted(1, "run"), counted(2_510, "run")] == ["1 run", "2,510 runs"]


def test_names_are_words_without_their_unit() -> None:
    assert [words("update_interval_s"), words("full-mesh")] == ["Update interval", "Full mesh"]
    assert [words("rate_bytes_per_s"), words("calls_per_s"), words("per_s")] == ["Rate", "Calls", "Per"]
    assert words("messages_per_query") == "Messages per query"
    assert field_name("faults.0.at_s") == "Fault 1, at"


def test_a_measure_writes_its_values_and_their_differences() -> None:
    p95, requests = measures()["p95"], measures()["requests"]
    assert [p95.text(1_420.4), p95.text(None), p95.difference(-103.0)] == ["1.42\u202fms", "–", "−103\u202fµs"]
    assert [requests.text(4000.0), requests.text(3999.5)] == ["4\u202f000", "4000"]
