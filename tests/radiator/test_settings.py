"""Settings and workload: what can be set, what is refused and where, and what is computed from them."""

from __future__ import annotations

import zlib
from datetime import UTC, datetime

import pytest

from overlay.core.errors import InvalidSetting
from overlay.systems.radiator.language.scenarios import SCENARIOS
from overlay.systems.radiator.load.share import uplink_bytes_per_s
from overlay.systems.radiator.settings import Settings
from overlay.systems.radiator.system import SYSTEM
from overlay.systems.radiator.workload import Workload
from overlay.systems.relevance import unused
from overlay.topologies import Graph
from telemetry.lake.manifest import make_manifest


def setup(settings=None, workload=None, brokers=1):
    return SYSTEM.setup(settings or {}, workload or {}, Graph(brokers, ()), seed=3)


def test_all_settings_of_the_contract_are_there_with_its_defaults():
    found = {info.name: info.default for info in (*SYSTEM.settings, *SYSTEM.workload)}
    assert (found["scenario"], found["aggregability"], found["index"], found["flush"]) == (
        "custom",
        "auto",
        "classes",
        "deadline",
    )
    assert (found["retain_max_s"], found["codec"], found["report_every"], found["rto_ms"]) == (300, "gzip", 64, 200)
    assert (found["clients"], found["messages_per_s"], found["drain_s"], found["p2p_share"]) == (200, 10, 30, 1)
    assert all(info.help.endswith(".") for info in (*SYSTEM.settings, *SYSTEM.workload))


def test_auto_is_what_the_scenario_says():
    for name, scenario in SCENARIOS.items():
        settings = Settings(scenario=name)
        assert (settings.aggregability_text, settings.aggregation_text) == (
            scenario.aggregability,
            scenario.aggregation,
        )
    assert Settings(scenario="2", aggregability="{volume: 9}").aggregability_text == "{volume: 9}"
    assert Settings(scenario="5").options().is_per_recipient


@pytest.mark.parametrize(
    ("settings", "workload", "field", "sentence"),
    [
        ({"aggregability": "{volume: s.a.b}"}, {}, "settings.aggregability", "line 1, column"),
        ({"aggregation": "median(x)"}, {}, "settings.aggregation", "no aggregate"),
        ({"on_error": "{volume: s.x}"}, {}, "settings.on_error", "a constant threshold"),
        ({"chainability": "a.x +"}, {}, "settings.chainability", "not an expression"),
        ({"server_link_jitter_ms": 5}, {}, "settings.server_link_jitter_ms", "more than the delay"),
        ({"uplink_share": 1, "uplink_bytes_per_s": 9}, {}, "settings.uplink_share", "must be 0"),
        ({"uplink_share": 1}, {"loop": "closed"}, "settings.uplink_share", "needs an open loop"),
        ({"retain_max_s": -1}, {}, "settings.retain_max_s", "at least 0"),
        ({}, {"bytes_low": 600}, "workload.bytes_low", "more than bytes_high"),
        ({}, {"churn": "file", "churn_schedule": "1 9000 crash"}, "workload.churn_schedule", ""),
        ({}, {"clients": 1}, "workload.clients", "at least 2"),
    ],
)
def test_what_is_wrong_is_named(settings, workload, field, sentence):
    with pytest.raises(InvalidSetting) as caught:
        SYSTEM.check(setup(settings, workload))
    assert caught.value.field == field
    assert sentence in caught.value.sentence


def test_it_has_one_server():
    assert SYSTEM.default_topology(None, None) == Graph(1, ())
    assert SYSTEM.check(setup()) == 1
    with pytest.raises(InvalidSetting, match="has 2 nodes, more than the number of servers"):
        SYSTEM.check(setup(brokers=2))


def test_words_for_zero_are_read():
    read = setup(
        {"retain_max_s": "off", "chain_percent": "off", "uplink_bytes_per_s": "unlimited"}, {"audience": "all"}
    )
    assert (read.settings.retain_max_s, read.settings.chain_percent, read.workload.audience) == (0, 0, 0)


def test_a_scenario_may_be_written_as_a_number():
    assert (SYSTEM.whole({"scenario": 3})["scenario"], setup({"scenario": 3}).settings.scenario) == ("3", "3")
    with pytest.raises(InvalidSetting, match="must be text, not 7"):
        setup({"scenario": 7})


def test_settings_that_make_no_difference_are_unused():
    infos = (*SYSTEM.settings, *SYSTEM.workload)
    found = unused(SYSTEM, infos, {"engine": "live", "loop": "closed"})
    assert {"messages_per_s", "arrivals", "chainability", "peer_link_loss", "session_mean_s"} <= found.keys()
    assert not {"think_s", "codec", "clients"} & found.keys()


def test_documents_are_read_as_they_were_written():
    before = setup({"aggregability": "{time: 3}", "uplink_share": 1.5}, {"clients": 30, "audience": 4})
    assert SYSTEM.read_settings(SYSTEM.settings_document(before.settings)) == before.settings
    assert SYSTEM.read_workload(SYSTEM.workload_document(before.workload)) == before.workload
    config = SYSTEM.config_of(before)
    assert SYSTEM.read_config(SYSTEM.config_document(config)) == config
    assert (config.audience, config.settings.uplink_share) == (4, 0)


# ---- the share of the uplink


def test_the_uplink_is_what_the_load_needs_divided_by_the_share():
    workload = Workload(clients=50, messages_per_s=20)
    whole = uplink_bytes_per_s(Settings(uplink_share=1.0, accounting="http"), workload, 1)
    half = uplink_bytes_per_s(Settings(uplink_share=2.0, accounting="http"), workload, 1)
    assert whole == pytest.approx(2 * half, abs=2)
    assert whole / (20 * 49) == pytest.approx(883, rel=0.05), "bytes of a push of a message with gzip, by HTTP"


def test_the_uplink_is_the_same_for_all_volumes_and_codecs():
    workload = Workload(clients=50)
    rates = {
        uplink_bytes_per_s(Settings(uplink_share=1.1, codec=codec, aggregability=text), workload, 1)
        for codec in ("none", "gzip")
        for text in ("auto", "{volume: 50}")
    }
    assert len(rates) == 1


def test_the_manifest_says_what_the_uplink_is_and_which_library_compressed():
    read = setup({"uplink_share": 1.5}, {"clients": 50})
    configuration = {
        "settings": SYSTEM.settings_document(read.settings),
        "workload": SYSTEM.workload_document(read.workload),
        "topology": {"name": "one", "kind": "custom", "brokers": 1, "links": []},
    }
    found = make_manifest("r1", seed=3, system="radiator", now=datetime.now(UTC), **configuration)
    assert found["derived"] == {"uplink_bytes_per_s": uplink_bytes_per_s(read.settings, read.workload, 3)}
    assert found["libraries"]["zlib"] == zlib.ZLIB_RUNTIME_VERSION
    assert SYSTEM.derived(setup()) == {}


def test_an_uplink_of_a_huge_load_is_as_fast_as_one_may_be():
    assert uplink_bytes_per_s(Settings(uplink_share=0.001), Workload(clients=50, messages_per_s=90_000), 1) == 1 << 32


def test_chains_need_less():
    workload = Workload(clients=50)
    direct, chained = (
        uplink_bytes_per_s(Settings(uplink_share=1.0, uplink_share_of=of, chain_percent=20), workload, 1)
        for of in ("unchained", "chained")
    )
    assert chained < direct / 2
