"""Measures of any unit are written, named, drawn and compared with a limit."""

from __future__ import annotations

import re

import pytest

from brokerweb.comparison.axes import axis_of
from telemetry import thresholds
from telemetry.charts.points import text
from telemetry.filters import InvalidFilter
from telemetry.filters.values import quantity, written
from telemetry.measures import COMMON, Measure, with_unit

ENERGY = Measure("energy_per_query", "Energy per query", "J", ("energy",), "lower")
SETTLE = Measure("settle", "Time to settle", "s", ("settle",), "lower")
SENT = Measure("sent", "Packets sent", "packets", ("sent",), "", is_count=True)
KNOWN = {one.name: one for one in (ENERGY, SETTLE, SENT)}


@pytest.mark.parametrize(
    ("measure", "value", "told"),
    [
        (ENERGY, 3.0, "3.00 J"),
        (ENERGY, 0.0025, "2.50 mJ"),
        (ENERGY, 0.0000004, "0.400 µJ"),
        (ENERGY, 4200.0, "4.20 kJ"),
        (ENERGY, 0.0, "0 J"),
        (ENERGY, None, "–"),
        (SETTLE, 12.0, "12.0 s"),
        (SETTLE, 0.25, "250 ms"),
        (SENT, 12000, "12 000 packets"),
        (SENT, 2.5, "2.50 packets"),
        (SENT, None, "–"),
    ],
)
def test_a_value_is_written_with_its_unit(measure: Measure, value: float | None, told: str) -> None:
    assert measure.text(value).replace("\u202f", " ") == told


def test_definitions_name_nothing_of_the_code() -> None:
    found = [one.definition for one in COMMON.values() if re.search("[a-z][A-Z]", one.definition)]
    assert found == []
    assert "Resident memory" in COMMON["rss"].definition


def test_a_difference_has_sign_and_unit() -> None:
    assert ENERGY.difference(-0.5).replace("\u202f", " ") == "−500 mJ"


def test_a_declared_name_contains_its_unit() -> None:
    assert [one.declared for one in (ENERGY, SETTLE, SENT)] == ["energy_per_query_j", "settle_s", "sent"]
    assert with_unit("energy_per_query", "J") == "energy_per_query_j"
    assert with_unit("sent_bytes_uncompressed", "bytes") == "sent_bytes_uncompressed"


@pytest.mark.parametrize(
    ("threshold", "limit"),
    [
        ("energy_per_query < 3 J", 3.0),
        ("energy_per_query < 2.5mJ", 0.0025),
        ("energy_per_query < 4", 4.0),
        ("settle <= 250ms", 0.25),
        ("settle < 2 min", 120.0),
        ("sent > 1", 1.0),
        ("sent > 1 packet", 1.0),
        ("sent > 12 packets", 12.0),
    ],
)
def test_a_limit_is_written_in_the_measure_s_unit(threshold: str, limit: float) -> None:
    assert thresholds.read(threshold, KNOWN).limit == limit


@pytest.mark.parametrize("threshold", ["energy_per_query < 3 s", "settle < 3 J", "sent < 3 ms"])
def test_a_limit_in_another_unit_is_refused(threshold: str) -> None:
    with pytest.raises(InvalidFilter, match="is not a unit of it"):
        thresholds.read(threshold, KNOWN)


@pytest.mark.parametrize(("value", "unit"), [(0.0025, "J"), (4200.0, "J"), (0.25, "s"), (90.0, "s"), (0.0, "J")])
def test_a_written_value_is_read_as_the_same(value: float, unit: str) -> None:
    assert quantity(written(value, unit), unit) == value


def test_an_axis_is_in_the_measure_s_unit_and_times_are_logarithmic() -> None:
    axes = [axis_of(one, "mean") for one in (ENERGY, SETTLE, SENT)]
    assert [(one["unit"], one["log"], one["zero"]) for one in axes] == [
        ("J", False, False),
        ("s", True, False),
        ("packets", False, True),
    ]
    assert text(axes[0], 2.5).replace("\u202f", " ") == "2.50 J"
