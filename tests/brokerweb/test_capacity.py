"""What runs need of a machine: what does not fit is said with what would, and the settings that a choice uses."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from brokerweb.experiments import capacity
from brokerweb.experiments.capacity import Machine
from overlay.core.engines import ENGINES
from overlay.core.errors import InvalidSetting
from overlay.core.settings import ENGINE
from overlay.experiment.definition import FIELDS, MAX_RUNS
from overlay.systems import relevance
from overlay.systems.context_broker.uses import USES
from overlay.systems.registry import SYSTEMS

ROOMY = Machine(memory_bytes=8 * 10**9, free_bytes=10**11, open_files=20_000, client_ports=28_000, broker_ports=12_000)
SYSTEM = SYSTEMS["context-broker"]
INFOS = (*SYSTEM.settings, *SYSTEM.workload)


def configuration(engine: str = "live", brokers: int = 10, **workload: Any) -> dict[str, Any]:
    chosen = {info.name: info.default for info in SYSTEM.workload} | workload
    topology = {"brokers": brokers, "links": []}
    return {"system": SYSTEM.name, "engine": engine, "topology": topology, "workload": chosen, "settings": {}}


@pytest.mark.parametrize(
    ("wanted", "machine", "field", "sentence"),
    [
        (configuration(brokers=50), {"broker_ports": 40}, "topology", "only 40 broker ports are free"),
        (configuration(consumers=30_000), {}, "workload.consumers", "27,950 fit"),
        (configuration(providers=30_000), {}, "workload.providers", "27,950 fit"),
        (configuration(consumers=900), {"open_files": 512}, "workload.consumers", "412 fit"),
        (configuration(brokers=1_000), {"memory_bytes": 10**9}, "topology", "would fit"),
        (
            configuration("simulated", entities=100_000, providers=100_000, payload_bytes=60_000),
            {},
            "workload.entities",
            "2 concurrent runs",
        ),
    ],
)
def test_what_the_machine_does_not_hold_is_refused_with_what_would_fit(
    wanted: dict, machine: dict, field: str, sentence: str
) -> None:
    small = Machine(**{one.name: getattr(ROOMY, one.name) for one in fields(Machine)} | machine)
    with pytest.raises(InvalidSetting) as refused:
        capacity.check([wanted, wanted], small, at_a_time=2)
    assert refused.value.field == field
    assert sentence in refused.value.sentence


def test_as_many_as_is_said_would_fit_do() -> None:
    with pytest.raises(InvalidSetting) as refused:
        capacity.check([configuration(consumers=30_000)], ROOMY, 1)
    assert "27,950 fit" in refused.value.sentence
    capacity.check([configuration(consumers=27_950)], ROOMY, 1)
    small = Machine(**{one.name: getattr(ROOMY, one.name) for one in fields(Machine)} | {"memory_bytes": 10**9})
    with pytest.raises(InvalidSetting) as large:
        capacity.check([configuration(brokers=1_000)], small, 1)
    fits = int(large.value.sentence.split(". ")[-1].split(" ")[0].replace(",", ""))
    capacity.check([configuration(brokers=fits)], small, 1)
    with pytest.raises(InvalidSetting):
        capacity.check([configuration(brokers=fits + 1)], small, 1)


def test_the_published_loads_fit_a_small_machine() -> None:
    small = Machine(2 * 10**9, 10**10, 4_096, 28_000, 12_000)
    capacity.check([configuration(providers=1_000, consumers=1_000), configuration("simulated", 1_000)], small, 2)


@pytest.mark.parametrize(
    ("swept", "replicates", "field", "most"),
    [
        ({"consumers": list(range(1, 11))}, 600, "replicates", 500),
        ({"consumers": list(range(1, 6_001))}, 1, "workload.consumers", 5_000),
        ({"consumers": list(range(1, 3_001)), "providers": [1, 2]}, 2, "workload.consumers", 1_250),
    ],
)
def test_too_many_runs_are_explained_by_what_is_longest(swept: dict, replicates: int, field: str, most: int) -> None:
    definition = {**FIELDS, "topology": "ring", "workload": swept, "replicates": replicates}
    with pytest.raises(InvalidSetting) as refused:
        capacity.check_count(definition)
    assert refused.value.field == field
    assert f"{most:,} would fit" in refused.value.sentence
    if field == "replicates":
        definition["replicates"] = most
    else:
        definition["workload"] = {**swept, "consumers": swept["consumers"][:most]}
    capacity.check_count(definition)
    assert most <= MAX_RUNS


def test_the_disk_is_warned_of_before_it_is_full() -> None:
    needed = capacity.needs(configuration(consumers=1_000, request_interval_s=1, duration_s=3_600)).disk
    assert needed > 3_600 * 1_000 * 100
    assert capacity.warning(needed, ROOMY) == ""
    full = Machine(8 * 10**9, 10**8, 20_000, 28_000, 12_000)
    assert "100\u202fMB are left" in capacity.warning(needed, full)


def test_rules_are_about_settings_that_there_are() -> None:
    names = {info.name: info for info in INFOS}
    for name, use in USES.items():
        assert name in names
        if use.by == ENGINE:
            assert set(use.values) < set(ENGINES), name
            continue
        assert use.by in names
        assert set(use.values) <= set(names[use.by].choices), name


@pytest.mark.parametrize(
    ("values", "used", "unused"),
    [
        ({}, {"walk_policy", "replication_index", "ping_misses"}, {"walkers", "flood_ttl", "dht_bucket", "hop_tries"}),
        ({"search": "flood"}, {"flood_ttl"}, {"walk_policy", "walk_ttl", "flood_degree"}),
        ({"search": ["walk", "flood"]}, {"flood_ttl", "walk_policy"}, {"walkers"}),
        ({"arm": "structured"}, {"dht_replicas"}, {"search", "walk_policy", "replication", "replication_index"}),
        ({"profile": ["plain", "structured"]}, {"dht_replicas", "search", "walk_policy"}, {"walkers"}),
        ({"profile": "structured", "arm": "unstructured"}, {"search"}, {"dht_replicas"}),
        ({"replication": "none"}, set(), {"replication_index", "replication_threshold_ms", "replica_refresh"}),
        ({"monitoring": False}, set(), {"ping_interval_ms", "indirect_probes", "suspicion_rounds"}),
        ({"indirect_probes": [0, 3]}, {"suspicion_rounds"}, set()),
        ({"entities": 5}, {"popularity"}, set()),
        ({"entities": 1}, set(), {"popularity"}),
        ({"providers": 0}, set(), {"update_interval_s", "entities", "popularity"}),
        ({"hop_ack": True}, {"hop_tries"}, set()),
        ({"engine": "live"}, {"trusted_networks", "controller_networks"}, set()),
        ({"engine": "simulated"}, {"trace_steps"}, {"trusted_networks", "controller_networks"}),
        ({"engine": "simulated", "trusted_networks": "10.0.0.0/8"}, {"trusted_networks"}, {"controller_networks"}),
    ],
)
def test_a_setting_is_shown_where_something_chosen_uses_it(values: dict, used: set, unused: set) -> None:
    found = relevance.unused(SYSTEMS["context-broker"], INFOS, values)
    assert not used & found.keys()
    assert unused <= found.keys()
