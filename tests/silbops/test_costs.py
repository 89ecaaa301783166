"""The break-even of both arms, from costs."""

from __future__ import annotations

import pytest

from telemetry.systems.silbops.costs import BreakEven, Costs, inverse, modelled


def test_the_printed_costs_have_the_printed_break_even() -> None:
    assert round(1 / inverse(Costs(0.2, 1_000), Costs(105, 915)), 2) == 1.23
    assert round(1 / inverse(Costs(0.2, 1_000), Costs(2 * 105, 915)), 2) == 2.47


def test_an_interval_with_no_break_even_at_one_end_has_no_upper_end() -> None:
    straddles = BreakEven.of([0.5, 0.2, -0.1])
    assert straddles.value == pytest.approx(5)
    assert straddles.low is not None
    assert straddles.high is None
    assert BreakEven.of([-0.1, -0.11]) == BreakEven(None, None, None, 2), "SilboPS never costs more"


def test_the_model_over_filters_and_subscriptions() -> None:
    narrow, wide = modelled(1, 80_000), modelled(10, 80_000)
    assert narrow.low < narrow.value < wide.low < wide.value < wide.high  # type: ignore[operator]
    assert modelled(10, 20_000).value > wide.value > modelled(10, 200_000).value  # type: ignore[operator]
    assert modelled(10, 10_000).value is None
    assert modelled(10, 10_000).low is not None, "there may be one"
    with pytest.raises(ValueError, match="size 9999"):
        modelled(10, 9_999)
