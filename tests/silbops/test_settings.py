"""Settings and profiles: the values and ranges of the contract."""

from __future__ import annotations

import pytest

from overlay.core.errors import InvalidSetting
from overlay.core.settings import build, describe
from overlay.systems.silbops.profiles import PROFILE, PROFILES, SUMMARIES, resolved
from overlay.systems.silbops.settings import USES, Settings

CONTRACT = {
    "arm": ("silbops", "silbops", None, None),
    "index": ("counting", "access", None, None),
    "scope_batch": (0, 48, 0, 100_000),
    "siena_change": ("remove-first", "remove-first", None, None),
    "covering": (True, True, None, None),
    "publisher_scope": (False, False, None, None),
    "publisher_context": ("with-publish", "with-publish", None, None),
    "prune": ("never", "never", None, None),
    "prune_after_s": (10, 10, 0.1, 3_600),
    "ttl_s": (0, 0, 0, 86_400),
    "keep_messages": (100, 100, 0, 100_000),
    "keep_s": (30, 30, 0, 3_600),
    "handover_s": (5, 5, 0, 3_600),
    "channel_window": (256, 256, 1, 65_535),
    "channel_queue": (10_000, 10_000, 1, 1_000_000),
    "channel_frame": (1_200, 1_200, 200, 60_000),
    "channel_tries": (8, 8, 1, 30),
    "oracle_every": (1, 1, 1, 1_000_000),
}
"""By setting: seed, improved, lowest, highest."""
OURS = {"trace_one_in"}


def test_defaults_and_ranges_are_those_of_the_contract():
    infos = {info.name: info for info in describe(Settings)}
    assert infos.keys() - OURS == CONTRACT.keys()
    for name, (_, default, low, high) in CONTRACT.items():
        info = infos[name]
        assert (info.default, info.low, info.high) == (default, low, high), name


def test_a_profile_only_changes_defaults():
    for profile, place in (("seed", 0), ("improved", 1)):
        settings = build(Settings, resolved({"profile": profile}))
        assert {name: getattr(settings, name) for name in CONTRACT} == {
            n: values[place] for n, values in CONTRACT.items()
        }
    assert build(Settings, resolved({"profile": "seed", "index": "leaf"})).index == "leaf"
    assert build(Settings, resolved({})) == Settings()
    assert PROFILES.keys() == SUMMARIES.keys() == set(PROFILE.choices)


@pytest.mark.parametrize(
    ("values", "field", "sentence"),
    [
        ({"index": "cells"}, "index", "cells is for the siena arm only"),
        ({"prune": "timed"}, "prune", "timed needs publisher_context forwarded"),
        ({"arm": "both"}, "arm", "must be one of silbops, siena"),
        ({"covering": "on"}, "covering", "must be true or false"),
        ({"keep_messages": -1}, "keep_messages", "must be at least 0 messages"),
        ({"channel_frame": 100}, "channel_frame", "must be at least 200 bytes"),
        ({"profile": "published"}, "profile", "must be one of improved, seed"),
        ({"indexes": "scan"}, "indexes", "is not a setting"),
    ],
)
def test_what_does_not_fit_is_refused(values, field, sentence):
    with pytest.raises(InvalidSetting) as caught:
        build(Settings, resolved(values))
    assert caught.value.field == field
    assert sentence in caught.value.sentence


def test_what_goes_together_is_accepted():
    assert build(Settings, {"arm": "siena", "index": "cells"}).is_siena
    assert build(Settings, {"prune": "timed", "publisher_context": "forwarded"}).prune == "timed"
    assert build(Settings, {"scope_batch": "never", "ttl_s": "none"}).scope_batch == 0
    channel = build(Settings, {"channel_tries": 3}).channel
    assert (channel.tries, channel.give_up_s, channel.probe_s) == (3, 0, 5)


def test_conditions_name_settings():
    names = {info.name for info in describe(Settings)}
    assert USES.keys() <= names
    assert {use.by for use in USES.values()} <= names
