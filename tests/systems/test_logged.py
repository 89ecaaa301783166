"""A system with a log in virtual time: its servers and clients are served, and its log fails."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from redis import Redis

from brokerweb.builder import fault_forms
from overlay.core.curves import constant
from overlay.core.engines import SIMULATED
from overlay.core.errors import InvalidSetting
from overlay.core.node import SECOND
from overlay.deployment.deployment import Deployment, run_document
from overlay.faults.faults import timeline
from overlay.journal.facts import Delivery, Event, Sample, Tick
from overlay.journal.journal import read_journal
from overlay.journal.recording import BadRecording, Recording, What, recordings_in
from overlay.load.windows import Windows
from overlay.plugins import VARIABLE
from overlay.runtime.calibrated import model_of, reference
from overlay.runtime.logs import engines
from overlay.runtime.logs.valkey import instance
from overlay.runtime.own_supervisor import own_supervisor
from overlay.sim.engine import journal_path, simulate
from overlay.sim.replay import replay, replay_all
from overlay.sim.world import World, server_address
from overlay.systems.recordings import recorder_of
from overlay.systems.registry import SYSTEMS
from overlay.systems.roles import Place
from overlay.topologies import Graph
from tests.systems.logged import SYSTEM, LoggedServer
from tests.waiting import wait_for

CONFIGURATION = {
    "system": SYSTEM.name,
    "topology": {"brokers": 2, "links": []},
    "settings": {},
    "workload": {"callers": 6, "duration_s": 4.0, "interval_ms": 50},
}
DOWN = {"what": "log_down", "at_s": 1, "until_s": 1.5}
SLOW = {"what": "log_slow", "delay_ms": 100, "at_s": 1, "until_s": 2}
RESTART = {"what": "log_restart", "at_s": 1, "down_s": 0.3}
CUT = {"what": "log_cut", "servers": ["echo-1"], "clients": ["caller-0"], "at_s": 1, "until_s": 3}


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setitem(SYSTEMS, SYSTEM.name, SYSTEM)


def document(directory: Path, *faults, seed=5, **more):
    configuration = {**CONFIGURATION, "faults": list(faults), **more}
    return run_document(configuration, run="r1", seed=seed, directory=str(directory))


def simulated(directory: Path, *faults, services=None, **more):
    outcome = simulate(Deployment.from_json(document(directory, *faults, **more), SIMULATED), services)
    return outcome.digest, list(read_journal(journal_path(directory)))


def outcomes(facts):
    return Counter(fact.outcome for fact in facts if isinstance(fact, Sample))


def last_counters(facts, process):
    return [fact.counters for fact in facts if isinstance(fact, Tick) and fact.process == process][-1]


def times_ms(facts, begin_s=0.0, end_s=4.0):
    measuring = next(
        fact.at_us for fact in facts if isinstance(fact, Event) and fact.detail.get("phase") == "measuring"
    )
    return [
        (fact.ended_us - fact.intended_us) / 1000
        for fact in facts
        if isinstance(fact, Sample) and begin_s * 1e6 <= fact.intended_us - measuring < end_s * 1e6
    ]


@pytest.mark.parametrize("services", [None, model_of(reference(), SYSTEM)])
def test_what_callers_append_is_read_by_one_server_each_and_answered(tmp_path, services):
    digest, facts = simulated(tmp_path / "a", services=services)
    calls = outcomes(facts)["answered"]
    assert outcomes(facts) == {"answered": calls}
    first, second = (last_counters(facts, f"echo-{index}") for index in range(2))
    assert first["read"] + second["read"] == calls
    assert min(first["read"], second["read"]) > 50
    assert {first["owned"], second["owned"]} == {1, 2}
    assert 0.6 <= min(times_ms(facts)) < 5, "two appends take 0.3 ms each"
    assert simulated(tmp_path / "again", services=services)[0] == digest
    assert simulated(tmp_path / "other", services=services, seed=6)[0] != digest
    assert simulated(tmp_path / "slow", SLOW, services=services)[0] != digest, "records count in it"


def test_work_with_the_log_takes_its_measured_time(tmp_path):
    base = model_of(reference(), SYSTEM)
    costs = base.server("echo")
    slow = replace(base, roles={"echo": replace(costs, work_us={"read": constant(3_000.0)})})
    cheap, dear = (simulated(tmp_path / name, services=model)[1] for name, model in (("a", base), ("b", slow)))
    assert min(times_ms(dear)) > min(times_ms(cheap)) + 2.9


def test_a_killed_server_leaves_its_partitions_after_the_time_out_and_nothing_is_lost(tmp_path):
    kill = {"what": "kill", "servers": ["echo-0"], "at_s": 1, "until_s": 3}
    facts = simulated(tmp_path, kill)[1]
    assert last_counters(facts, "echo-0")["owned"] + last_counters(facts, "echo-1")["owned"] == 3
    assert max(times_ms(facts, 1, 2)) > 200, "what the dead server had to read waits"
    assert max(times_ms(facts, 2.3, 2.9)) < 5
    assert max(times_ms(facts, 3, 4)) < 300, "what changes hands waits for a heartbeat"
    heard = {fact.publication for fact in facts if isinstance(fact, Delivery)}
    said = sum(outcomes(facts).values())
    assert len(heard) == said, "each call is answered, though some too late"


def test_a_server_restarted_at_once_goes_on_where_it_was(tmp_path):
    facts = simulated(tmp_path, {"what": "restart", "servers": ["echo-0"], "at_s": 1})[1]
    assert outcomes(facts).keys() == {"answered"}
    assert max(times_ms(facts)) < 50


def test_faults_of_the_log_are_seen_in_answers_and_are_over_when_they_end(tmp_path):
    usual = max(times_ms(simulated(tmp_path / "usual")[1]))
    for fault, least, most in ((DOWN, 400, 510), (RESTART, 200, 310), (SLOW, 200, 210)):
        facts = simulated(tmp_path / fault["what"], fault)[1]
        assert least < max(times_ms(facts, 0.9, 2)) < most, fault
        assert max(times_ms(facts, 2.1, 4)) == usual
        assert outcomes(facts).keys() == {"answered"}


def test_a_process_cut_off_from_the_log_is_replaced_and_comes_back(tmp_path):
    facts = simulated(tmp_path, CUT)[1]
    assert outcomes(facts)["timed_out"] > 10, "caller-0 can say nothing"
    assert max(times_ms(facts, 3.2, 4)) < 5
    assert last_counters(facts, "echo-0")["owned"] + last_counters(facts, "echo-1")["owned"] == 3
    heard = {fact.publication for fact in facts if isinstance(fact, Delivery)}
    assert len(heard) == sum(outcomes(facts).values())


def test_documents_of_faults_are_read_written_back_and_said(tmp_path):
    deployment = Deployment.from_json(document(tmp_path, DOWN, SLOW, RESTART, CUT), SIMULATED)
    assert Deployment.from_json(deployment.to_json(), SIMULATED) == deployment
    assert [mark["label"] for mark in timeline(deployment.faults)] == [
        "log down",
        "slow log",
        "log restarted",
        "echo-1, caller-0: cut off from the log",
    ]


def test_forms_show_faults_of_the_log_and_read_them_again(tmp_path):
    documents = [DOWN, SLOW, RESTART, CUT]
    rows = fault_forms.shown(documents, SYSTEM.faults)
    assert rows.documents() == documents
    assert [row.where for row in rows.rows] == ["", "", "", "echo-1, caller-0"]
    assert {choice.what: choice.example for choice in rows.empty.kinds}["log_down"] == "no targets"


@pytest.mark.parametrize(
    ("fault", "field", "sentence"),
    [
        ({**DOWN, "servers": ["echo-0"]}, "servers", "is unknown; “log_down” has at_s, until_s, what"),
        ({**RESTART, "until_s": 2}, "until_s", "is unknown"),
        ({**SLOW, "delay_ms": 0}, "delay_ms", "must be at least 0.1 ms"),
        ({"what": "log_cut", "at_s": 1}, "brokers", "is missing"),
        ({**CUT, "servers": ["log-0"]}, "servers", "has no 'log-0'"),
    ],
)
def test_what_is_wrong_in_a_fault_of_the_log_is_named(tmp_path, fault, field, sentence):
    with pytest.raises(InvalidSetting, match=sentence) as caught:
        Deployment.from_json(document(tmp_path, fault), SIMULATED)
    assert caught.value.field == f"faults.0.{field}"


def test_a_stopped_server_is_replaced_and_has_no_partition_of_its_heir_when_it_goes_on():
    setup = SYSTEM.setup({}, {"callers": 6, "duration_s": 8.0}, Graph(3, ()))
    world = World(SYSTEM, setup)
    world.start()
    windows = Windows.of(SYSTEM.schedule(setup), 0, world.simulator.now)
    for process, plans in SYSTEM.plan_clients(setup).items():
        servers = [server_address(index) for index in range(3)]
        fleet = SYSTEM.make_fleet(plans, servers, setup, windows, wall_offset_ns=0, most_lanes=9)
        world.add_fleet(process, fleet)
    world.run_for(2 * SECOND)
    assert world.statistics("owned") == [1, 1, 1]
    world.stop(0)
    world.run_for(3 * SECOND)
    assert sorted(world.statistics("owned")) == [1, 1, 2], "the stopped one does not know yet"
    assert sum(world.statistics("owned")[1:]) == 3
    world.resume(0)
    world.run_for(2 * SECOND)
    assert world.statistics("owned") == [1, 1, 1]
    world.leave(1)
    world.run_for(SECOND)
    assert sum(world.statistics("owned")) == 3


def recorded(directory: Path, *faults):
    simulated(directory, *faults, record_mb=4)
    return directory / "journal"


def test_what_servers_read_and_append_is_recorded_and_replayed_byte_for_byte(tmp_path):
    found = replay_all(recorded(tmp_path, CUT, DOWN, {"what": "restart", "servers": ["echo-0"], "at_s": 2}))
    assert [(one.begin.name, one.difference) for one in found] == [
        ("echo-0", None),
        ("echo-0, life 2", None),
        ("echo-1", None),
    ]
    assert min(one.appends for one in found) > 10
    kinds = {record[0] for path in recordings_in(tmp_path / "journal") for record in Recording(path)}
    assert {What.ASSIGNED, What.REVOKED, What.READ, What.DURABLE, What.APPENDED, What.COMMITTED} <= kinds


def test_another_answer_or_commit_is_a_difference_in_words(tmp_path, monkeypatch):
    directory = recorded(tmp_path)
    monkeypatch.setattr(LoggedServer, "records_to_append", lambda self: [])
    told = str(replay_all(directory)[-1].difference)
    assert re.search(r"recorded b'\d+' with the key b'\d' appended to answers\.\d\n  replayed nothing", told)
    assert re.search(r"records were read: words \d 17", told)
    monkeypatch.undo()
    monkeypatch.setitem(SYSTEMS, SYSTEM.name, SYSTEM)
    monkeypatch.setattr(LoggedServer, "positions_to_commit", lambda self: [])
    told = str(replay_all(directory)[-1].difference)
    assert re.search(r"recorded position \d+ of words, partition \d, committed for servers\n  replayed nothing", told)
    assert "appends were durable: 0" in told


@pytest.mark.parametrize(
    "record",
    [
        (What.ASSIGNED, 1, (("words", "servers", 0),)),
        (What.READ, 1, (("words", 0, 1, b"", "text", 1),)),
        (What.READ, 1, b""),
        (What.DURABLE, 1, (("a",),)),
        (What.DURABLE, 1, ((10**6,),)),
        (What.APPENDED, 1, "words", b"", 3),
        (What.COMMITTED, 1, "words", "servers", 0, "1"),
    ],
)
def test_a_recording_with_a_wrong_record_of_the_log_is_refused(tmp_path, record):
    place = Place("echo-0", 0, ("127.0.0.1", 7000), (("127.0.0.1", 7000),))
    path = tmp_path / "echo-0.1.recording"
    config = SYSTEM.config_of(SYSTEM.setup({}, None, Graph(1, ())))
    recorder = recorder_of(SYSTEM, config, place, ("streams", 1), 0, path=path, most_mb=1)
    recorder.write(*record)
    recorder.write(What.TIMER, 2)
    recorder.close()
    with pytest.raises(BadRecording):
        replay(path)


def live(directory, url, *faults):
    root = str(Path(__file__).resolve().parents[2])
    environment = {VARIABLE: "tests.systems.logged:SYSTEM", "PYTHONPATH": root, engines.VARIABLE: url}
    with own_supervisor(**environment) as client:
        client.deploy(document(directory, *faults, record_mb=4))
        ended = ("finished", "failed", "stopped")
        status = wait_for(lambda: (s := client.status("r1"))["phase"] in ended and s, "the run ends")
        wait_for(lambda: not any(one["pid"] for one in client.status("r1")["brokers"]), "all processes have ended")
        if url:
            with Redis.from_url(url) as engine:
                wait_for(lambda: engine.dbsize() == 0, "its records are erased")
    facts = [fact for path in (directory / "journal").glob("*.journal") for fact in read_journal(path)]
    return status, facts


def test_live_servers_and_clients_share_a_log_and_what_a_killed_one_had_is_answered_by_another(tmp_path):
    kill = {"what": "kill", "servers": ["echo-0"], "at_s": 1, "until_s": 3}
    with instance.own_instance() as url:
        status, facts = live(tmp_path, url, kill)
        assert (status["phase"], status["reason"]) == ("finished", "")
    heard = {fact.publication for fact in facts if isinstance(fact, Delivery)}
    said = sum(outcomes(facts).values())
    assert said > 100
    assert said - len(heard) <= 6, "but for what was under way at the end"
    assert last_counters(facts, "echo-1")["read"] > last_counters(facts, "echo-0")["read"] > 0
    assert all(one.difference is None for one in replay_all(tmp_path / "journal"))


def test_live_processes_are_cut_off_from_the_log_or_slow_and_go_on_when_that_ends(tmp_path):
    slow = {**SLOW, "at_s": 2, "until_s": 2.5}
    restart = {**RESTART, "at_s": 3, "down_s": 0.4}
    cut = {"what": "log_cut", "servers": ["echo-1"], "at_s": 0.5, "until_s": 3.5}
    with instance.own_instance() as url:
        status, facts = live(tmp_path, url, DOWN, slow, restart, cut)
    assert (status["phase"], status["reason"]) == ("finished", "")
    for begin_s, end_s in ((0.9, 1.5), (1.9, 2.5), (2.9, 3.4)):
        assert max(times_ms(facts, begin_s, end_s)) > 200, "half of an outage, or both appends 0.1 s late"
    lost = [last_counters(facts, process)["log_lost"] for process in ("echo-0", "echo-1")]
    assert lost == [3, 2], "the last one at its end; for echo-1 the others are one outage"
    said, heard = sum(outcomes(facts).values()), {fact.publication for fact in facts if isinstance(fact, Delivery)}
    assert said - len(heard) <= 6, "but for what was under way at the end"
    assert all(one.difference is None for one in replay_all(tmp_path / "journal"))


def test_live_without_an_engine_or_with_one_that_cannot_run_it_says_what_to_do(tmp_path):
    assert "Set WAXWING_LOG_URL=redis://" in live(tmp_path / "none", "")[0]["reason"]
