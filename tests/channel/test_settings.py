"""Each setting is checked when it is built, and those of both systems are possible."""

from __future__ import annotations

import pytest

from overlay.channel import ChannelSettings
from overlay.channel.limits import Limits
from overlay.core.errors import InvalidSetting
from overlay.core.node import NEVER, SECOND
from overlay.core.settings import describe

RANGES = {
    "window": (1, 65_535),
    "queue": (1, 10**6),
    "frame": (200, 60_000),
    "give_up_s": (0, 60),
    "tries": (0, 30),
    "probe_s": (0, 3_600),
}


@pytest.mark.parametrize(("name", "low", "high"), [(name, *bounds) for name, bounds in RANGES.items()])
def test_the_bounds_of_a_setting(name, low, high):
    for value in (low, high):
        assert getattr(ChannelSettings(**{name: value}), name) == value
    for value in (low - 1, high + 1, "many", None, float("nan")):
        with pytest.raises(InvalidSetting, match=name):
            ChannelSettings(**{name: value})


def test_all_are_described_with_their_unit():
    assert {info.name: (info.low, info.high) for info in describe(ChannelSettings)} == RANGES
    assert all(info.unit and info.help for info in describe(ChannelSettings))


def test_the_defaults_are_those_of_brokers():
    assert ChannelSettings() == ChannelSettings(256, 10_000, 1_200, 5, 0, 5)


def test_the_units_of_the_code():
    limits = Limits(ChannelSettings(give_up_s=0, probe_s=0.5, frame=60_000), 16)
    assert (limits.give_up, limits.probe, limits.record) == (NEVER, SECOND // 2, 32_767)
    assert Limits(ChannelSettings(), 16).record == 1_200 - 16 - 30
