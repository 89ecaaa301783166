"""Refused values of the PoA manager's settings, and the steps of the window."""

from __future__ import annotations

import pytest

from overlay.core.errors import InvalidSetting
from overlay.systems.contextnet.poa.pings import Pings
from overlay.systems.contextnet.poa.reports import Report
from overlay.systems.contextnet.poa.settings import PoaSettings
from overlay.systems.contextnet.poa.statistics import statistics_of


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[]", "of which the last is 1"),
        ("[[0.8, 2], [0.5, 1], [1, 1]]", "rising ping rates"),
        ("[[0.5, 2]]", "of which the last is 1"),
        ("[[0.5, 0], [1, 1]]", "a factor above 0"),
        ("[[1]]", "pairs of ping rate and factor"),
        ("[", "line 1"),
    ],
)
def test_malformed_steps_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(InvalidSetting, match=sentence):
        PoaSettings(rescale=text)


def test_the_least_window_is_not_above_the_greatest() -> None:
    with pytest.raises(InvalidSetting, match="window_min_ms"):
        PoaSettings(window_min_ms=500, window_max_ms=400)


def answered(pings: Pings, pongs: int, of: int = 100, window_ms: int = 0) -> Report:
    statistics = statistics_of(of, [1_000] * pongs)
    return Report("gateway-0", 0, window_ms or pings.config.window_ms, {}, {}, statistics)


def window_after(settings: PoaSettings, *pongs: int) -> int:
    pings = Pings(settings)
    for count in pongs:
        pings.report(answered(pings, count))
        pings.rescaled({"gateway-0"}, 0)
    return pings.config.window_ms


def test_the_window_follows_the_ping_rate_within_its_bounds() -> None:
    settings = PoaSettings()
    assert window_after(settings, 50) == 4_000
    assert window_after(settings, 80) == 3_000
    assert window_after(settings, 98) == 2_000
    assert window_after(settings, 100, 100) == 1_620
    assert window_after(settings, *[100] * 40) == settings.window_min_ms
    assert window_after(settings, *[0] * 9) == 15_000, "the period is 20 s, over 5 s of which pings are spread"
    assert window_after(PoaSettings(rescale_enabled=False), 0) == 2_000
    assert window_after(PoaSettings(rescale="[[1, 3.0]]"), 100) == 6_000


def test_rounds_with_another_window_and_rounds_without_pings_change_nothing() -> None:
    pings = Pings(PoaSettings())
    pings.report(answered(pings, 0, window_ms=1_000))
    assert pings.rescaled({"gateway-0"}, 0) is None
    pings.report(answered(pings, 0, of=0))
    assert pings.rescaled({"gateway-0"}, 0) is None
    pings.report(answered(pings, 0))
    assert pings.rescaled({"gateway-1"}, 0) is None, "of a gateway that is not active"
