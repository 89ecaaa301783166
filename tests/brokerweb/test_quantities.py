"""Times and sizes as people type them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerweb.kit.quantities import read

SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400}


@pytest.mark.parametrize(
    ("text", "unit", "number"),
    [
        ("90s", "s", 90),
        ("15m", "s", 900),
        ("1h30m", "s", 5400),
        ("1h 30m", "ms", 5_400_000),
        ("1.5 s", "ms", 1500),
        ("250us", "ms", 0.25),
        ("250µs", "ms", 0.25),
        ("64kB", "bytes", 64_000),
        ("64KiB", "bytes", 65_536),
        ("90", "s", None),
        ("30m1h", "s", None),
        ("1h1h", "s", None),
        ("-5s", "s", None),
        ("5 parsecs", "s", None),
        ("64kB", "s", None),
        ("5s", "brokers", None),
        ("", "s", None),
        ("٣s", "s", None),
        ("9" * 100 + "s", "s", None),
    ],
)
def test_a_quantity_means_a_number_of_its_field_s_unit(text: str, unit: str, number: float | None) -> None:
    assert read(text, unit) == number


@given(st.integers(0, 10**6), st.sampled_from(sorted(SECONDS)))
def test_a_whole_number_of_any_unit_is_that_many_of_it(count: int, suffix: str) -> None:
    assert read(f"{count}{suffix}", "s") == pytest.approx(count * SECONDS[suffix])


@given(st.text(max_size=40), st.sampled_from(["s", "ms", "us", "bytes", "brokers"]))
def test_whatever_is_typed_is_a_number_of_the_unit_or_nothing(text: str, unit: str) -> None:
    found = read(text, unit)
    assert found is None or found >= 0
