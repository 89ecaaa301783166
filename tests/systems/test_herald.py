"""A system without requests: servers and clients get the whole setup, and its deliveries are measured."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from dataclasses import dataclass

import pytest

from overlay.core.engines import SIMULATED
from overlay.core.errors import InvalidSetting
from overlay.core.settings import setting
from overlay.deployment.deployment import Deployment, run_document
from overlay.experiment.definition import estimate_s, schedule_of
from overlay.experiment.inline import simulated
from overlay.faults.kinds import FaultKind
from overlay.journal.facts import Delivery, Event, Sample, Start
from overlay.journal.journal import read_journal
from overlay.load.windows import OVERHEAD_S
from overlay.sim import engine
from overlay.sim.engine import journal_path, simulate
from overlay.sim.replay import replay_all
from overlay.systems.registry import FIRST, SYSTEMS
from telemetry.lake.runs import RunFiles
from telemetry.live.window import LiveWindow
from tests.systems.herald import SYSTEM, Herald

DEFINITION = b"system: herald\nsettings: {relays: [1, 3], copies: 2}\nworkload: {listeners: 6, seconds: 2}\n"


@pytest.fixture(autouse=True)
def herald(monkeypatch):
    monkeypatch.setitem(SYSTEMS, SYSTEM.name, SYSTEM)


def test_a_definition_may_leave_out_the_topology_if_its_system_has_a_default():
    definition, configurations = simulated(DEFINITION, "news.yaml")
    assert definition["topology"] is None
    assert [one["topology"]["brokers"] for one in configurations] == [1, 1]
    assert {one["topology"]["name"] for one in configurations} == {"Herald"}
    with pytest.raises(InvalidSetting) as caught:
        simulated(b"system: context-broker\n", "walks.yaml")
    assert (caught.value.field, caught.value.sentence) == ("topology", "is required")


def test_the_estimate_of_a_live_run_includes_the_drain_that_receivers_wait_for():
    herald = {"system": "herald", "topology": {"brokers": 1, "links": []}, "settings": {}, "workload": {}}
    assert estimate_s(herald) == pytest.approx(0.2 + 2.0 + OVERHEAD_S + 0.5)
    broker = {**herald, "system": FIRST}
    schedule = schedule_of(broker)
    assert estimate_s(broker) == schedule.ramp_s + schedule.duration_s + OVERHEAD_S


def run(configuration, directory, **more):
    document = run_document({**configuration, **more}, run="r1", seed=3, directory=str(directory))
    deployment = Deployment.from_json(document, SIMULATED)
    return deployment, simulate(deployment)


def test_its_relays_follow_a_setting_and_its_news_the_workload(tmp_path):
    for configuration in simulated(DEFINITION, "news.yaml")[1]:
        relays = configuration["settings"]["relays"]
        deployment, _ = run(configuration, tmp_path / str(relays))
        assert deployment.server_names == ("herald-0", *(f"relay-{number}" for number in range(relays)))
        facts = list(read_journal(journal_path(tmp_path / str(relays))))
        assert {"herald-0", "relay-0", "listeners-0"} < {fact.process for fact in facts if isinstance(fact, Start)}
        assert not [fact for fact in facts if isinstance(fact, Sample)]
        measured = [fact for fact in facts if isinstance(fact, Delivery) and fact.phase == "measuring"]
        assert set(Counter((one.client, one.publication) for one in measured).values()) == {2}
        assert len({one.publication for one in measured}) == pytest.approx(20, abs=1)
        assert {one.server for one in measured} == set(range(1, 1 + relays))


def test_a_run_waits_as_long_as_its_schedule_says(tmp_path):
    run(simulated(DEFINITION, "news.yaml")[1][0], tmp_path)
    facts = read_journal(journal_path(tmp_path))
    at = {fact.detail["phase"]: fact.at_us for fact in facts if isinstance(fact, Event) and fact.name == "phase"}
    assert (at["draining"] - at["measuring"], at["finished"] - at["draining"]) == (2_000_000, 500_000)


def test_its_own_series_are_delays_of_deliveries_and_counters_of_its_servers(tmp_path):
    configuration = simulated(DEFINITION, "news.yaml")[1][1]
    run(configuration, tmp_path)
    (tmp_path / "manifest.json").write_text(json.dumps(configuration))
    shown = LiveWindow(RunFiles(tmp_path)).advance()
    series, times = shown["series"], shown["histograms"]["deliveries"]
    delays = [
        fact.received_us - fact.published_us
        for fact in read_journal(journal_path(tmp_path))
        if isinstance(fact, Delivery) and fact.copy == 1 and fact.phase == "measuring"
    ]
    assert times["n"] == pytest.approx(len(delays), abs=18)  # ticks are a second apart
    assert times["p50"] == pytest.approx(statistics.median(delays), rel=0.02)
    assert all(
        low <= high for low, high in zip(series["delay_p50"], series["delay_p95"], strict=True) if low is not None
    )
    assert max(filter(None, series["pushed"])) == pytest.approx(10 * 3 + 10 * 6 * 2, rel=0.1), "news to relays, and on"
    assert series["subscribers"][-1] == 3 + 6


def test_recordings_of_both_roles_replay_to_the_byte(tmp_path):
    run(simulated(DEFINITION, "news.yaml")[1][0], tmp_path, record_mb=1)
    replayed = {one.begin.process: one.difference for one in replay_all(tmp_path / "journal")}
    assert replayed == {"herald-0": None, "relay-0": None}


def test_the_limit_of_recordings_counts_servers_that_are_no_nodes(tmp_path, monkeypatch):
    monkeypatch.setattr("overlay.systems.registry.MOST_RECORDED", 1)
    with pytest.raises(InvalidSetting, match="must be 0 for more than 1 servers; there are 2"):
        run(simulated(DEFINITION, "news.yaml")[1][0], tmp_path, record_mb=1)


def test_a_topology_with_more_nodes_than_servers_is_refused_before_the_launch(tmp_path):
    configuration = simulated(DEFINITION, "news.yaml")[1][0]
    too_large = {**configuration, "topology": {"brokers": 10, "links": []}}
    with pytest.raises(InvalidSetting) as caught:
        run(too_large, tmp_path)
    assert (caught.value.field, caught.value.sentence) == (
        "topology",
        "has 10 nodes, more than the number of servers (2)",
    )


def test_a_default_topology_is_made_of_checked_settings():
    with pytest.raises(InvalidSetting) as caught:
        simulated(b"system: herald\nsettings: {relays: many}\n", "news.yaml")
    assert caught.value.field == "settings.relays"


def test_a_process_without_clients_is_not_started(tmp_path, monkeypatch):
    planned = Herald.plan_clients
    monkeypatch.setattr(Herald, "plan_clients", lambda self, setup: {**planned(self, setup), "listeners-1": []})
    deployment, _ = run(simulated(DEFINITION, "news.yaml")[1][0], tmp_path)
    assert deployment.fleet_names == ("listeners-0",)


def test_a_fault_needs_targets_and_names_of_its_own():
    with pytest.raises(ValueError, match="no targets"):
        FaultKind("Deaf")

    @dataclass(frozen=True)
    class Fields:
        at_s: float = setting(1.0, low=0, high=9, help="Taken.")

    with pytest.raises(ValueError, match="at_s"):
        FaultKind("Deaf", servers=("relay",), Fields=Fields)


class Introduced:
    """Heralds and relays need no introduction; only their number is counted."""

    settling_ns = 0

    def __init__(self):
        self.introduced = 0

    def introduce(self, server, neighbours, controller, now):
        self.introduced += 1


@pytest.mark.parametrize(("most", "introduced"), [(2, 1), (3, 0)])
def test_many_servers_are_introduced_however_few_are_nodes(tmp_path, monkeypatch, most, introduced):
    introduction = Introduced()
    monkeypatch.setattr(engine, "ORDERED", most)
    monkeypatch.setattr(Herald, "introduction", lambda self, setup: introduction)
    herald_and_two_relays = {**simulated(DEFINITION, "news.yaml")[1][0], "settings": {"relays": 2, "copies": 1}}
    _, outcome = run(herald_and_two_relays, tmp_path)
    assert (outcome.were_introduced, introduction.introduced) == (bool(introduced), introduced), (
        "one node, three servers"
    )
