"""Settings, profiles and workload: the values and ranges of the contract."""

from __future__ import annotations

import pytest

from overlay.core.errors import InvalidSetting
from overlay.core.settings import build, describe
from overlay.systems.federation.profiles import PROFILE, PROFILES, SUMMARIES
from overlay.systems.federation.settings import USES, Settings
from overlay.systems.federation.workload import Workload, check_together, home_of

CONTRACT = {
    "keepalive_s": (20, 20, 0.1, 3_600),
    "broker_keepalive_s": (20, 20, 0.1, 3_600),
    "keepalive_share": (0.9, 0.5, 0.1, 1),
    "exchange_s": (10, 10, 0.1, 3_600),
    "out_of_turn": (True, True, None, None),
    "routing": ("advertisements", "advertisements", None, None),
    "cycles": ("tree", "tree", None, None),
    "covering": ("off", "covering", None, None),
    "merging": ("perfect", "perfect", None, None),
    "cache_cap": (0.15, 1, 0, 1),
    "cache_validity_s": (60, 60, 0, 86_400),
    "implicit_keepalive": (False, True, None, None),
    "grace_from": ("last_heard", "last_heard", None, None),
    "encoding": ("contextml", "msgpack", None, None),
    "give_up_s": (5, 5, 0.5, 60),
    "bulk": ("off", "off", None, None),
    "bulk_deadline": ("postponed", "earliest", None, None),
    "omega": (12, 12, 1, 1_000),
    "discovery": ("bdrs", "bdrs", None, None),
    "mobile_brokers": ("", "", None, None),
    "service_ms": (0, 0, 0, 1_000),
    "service_cv": (1, 1, 0, 4),
    "mobile_factor": (1, 1, 1, 50),
    "processors": (1, 1, 1, 64),
    "device": ("none", "none", None, None),
    "local_interface": ("http", "http", None, None),
    "energy_model": ("none", "none", None, None),
    "http_ms": (4, 4, 0, 1_000),
    "ipc_ms": (0.4, 0.4, 0, 1_000),
    "domain": ("", "", None, None),
    "exports": ("", "", None, None),
    "trace_one_in": (100, 100, 0, 1_000_000),
}
"""By setting: published, improved, lowest, highest."""
LOAD = {
    "providers": 12,
    "consumers": 6,
    "scopes": 12,
    "kind": "once",
    "queries": 2_000,
    "subscriptions": 0,
    "notifications": 0,
    "rate_per_s": 10,
    "expiry_s": 30,
    "payload_bytes": 400,
    "priority_low_share": 0,
    "provider_ms": 0,
    "client_delay_ms": 0,
    "client_jitter_ms": 0,
    "client_loss": 0,
}


def test_the_profiles_and_ranges_are_those_of_the_contract():
    infos = {info.name: info for info in describe(Settings)}
    assert infos.keys() == CONTRACT.keys()
    for name, (published, improved, low, high) in CONTRACT.items():
        assert getattr(build(Settings, PROFILES["published"]), name) == published
        assert getattr(build(Settings, PROFILES["improved"]), name) == improved
        assert (infos[name].low, infos[name].high) == (low, high)
    assert PROFILE.default == "improved"
    assert PROFILES.keys() == SUMMARIES.keys() == set(PROFILE.choices)


def test_the_default_workload_is_that_of_the_contract():
    assert {name: getattr(Workload(), name) for name in LOAD} == LOAD


def test_each_setting_is_described_and_used_where_it_is_known():
    infos = {info.name: info for info in (*describe(Settings), *describe(Workload))}
    assert len(infos) == len(describe(Settings)) + len(describe(Workload))
    assert all(info.help.endswith(".") for info in infos.values())
    assert USES.keys() <= infos.keys()
    for use in USES.values():
        assert use.by == "engine" or use.by in infos
        assert use.by == "engine" or set(use.values) <= set(infos[use.by].choices)


@pytest.mark.parametrize(
    ("values", "field", "sentence"),
    [
        ({"keepalive_s": 0.05}, "keepalive_s", "at least 0.1 s"),
        ({"cache_cap": 1.5}, "cache_cap", "at most 1"),
        ({"bulk": 1}, "bulk", "must be text"),
        ({"routing": "walks"}, "routing", "one of notifications, flooding, advertisements"),
        ({"mobile_brokers": "0,x"}, "mobile_brokers", "'x' is none"),
        ({"mobile_brokers": "0,,1"}, "mobile_brokers", "'' is none"),
        ({"mobile_brokers": "²"}, "mobile_brokers", "separated by commas"),
        ({"mobile_brokers": "1000000"}, "mobile_brokers", "separated by commas"),
        ({"hops": 1}, "hops", "is not a setting"),
    ],
)
def test_what_is_wrong_is_named(values, field, sentence):
    with pytest.raises(InvalidSetting) as refused:
        build(Settings, values)
    assert refused.value.field == field
    assert sentence in refused.value.sentence


def test_lists_in_texts_are_read():
    settings = build(Settings, {"mobile_brokers": "2, 0,2", "exports": "climate, light,", "cache_cap": "off"})
    assert settings.mobile_indices == (0, 2)
    assert settings.exported == {"climate", "light"}
    assert settings.cache_cap == 0
    assert build(Settings, {"mobile_brokers": "none"}).mobile_indices == ()


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"scopes": 13}, "scopes"),
        ({"payload_bytes": 1_025}, "payload_bytes"),
        ({"client_jitter_ms": 1}, "client_jitter_ms"),
        ({"rate_per_s": 0.001}, "rate_per_s"),
        ({"assignment": "far"}, "assignment"),
    ],
)
def test_a_load_that_cannot_be_is_refused(values, field):
    with pytest.raises(InvalidSetting) as refused:
        build(Workload, values)
    assert refused.value.field == field


def test_queries_need_providers_that_are_asked():
    flooded = build(Settings, {"routing": "notifications"})
    with pytest.raises(InvalidSetting, match="asks no providers"):
        check_together(flooded, Workload())
    check_together(flooded, build(Workload, {"kind": "stream", "subscriptions": 1}))
    check_together(flooded, build(Workload, {"queries": 0}))
    check_together(Settings(), Workload())


def test_clients_are_assigned_in_blocks():
    assert [home_of(i, 12, 3) for i in range(12)] == [0] * 4 + [1] * 4 + [2] * 4
    assert [home_of(i, 2, 3) for i in range(2)] == [0, 1]
