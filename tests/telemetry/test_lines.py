"""Lines by least squares, and where they bend."""

from __future__ import annotations

import pytest

from telemetry.statistics.lines import FEWEST, bend, line

CHANGES = (10, 20, 50, 100, 200, 500, 1_000, 2_000)


def test_a_line_is_found_with_how_well_it_fits() -> None:
    found = line([(x, 5 + 3 * x) for x in CHANGES])
    assert found == pytest.approx((3, 5, 1))
    assert line([(1, 1), (2, -1), (3, 1)]).fit == pytest.approx(0)


def test_two_lines_are_better_where_the_slope_changes() -> None:
    found = bend([(x, 5 + x + 3 * max(0, x - 200)) for x in reversed(CHANGES)])
    assert found.at == pytest.approx(200)
    assert found.gain > 0


@pytest.mark.parametrize("off_by", [0, 0.02])
def test_one_line_is_better_where_it_does_not(off_by: float) -> None:
    ups = [1 + off_by if place % 2 else 1 - off_by for place in range(len(CHANGES))]
    assert bend([(x, (5 + x) * up) for x, up in zip(CHANGES, ups, strict=True)]).gain < 0


def test_too_few_points_show_nothing() -> None:
    with pytest.raises(KeyError):
        bend([(x, x) for x in range(1, FEWEST)])
    with pytest.raises(KeyError):
        line([(1, 1), (2, 2)])
