"""Faults of any server by name, and of a system's own: read, applied in both engines, recorded and replayed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from overlay.core.engines import SIMULATED
from overlay.core.errors import InvalidSetting
from overlay.core.service_times import ServiceModel
from overlay.deployment.deployment import Deployment, run_document
from overlay.faults.faults import timeline
from overlay.journal.facts import Event, Sample, Tick
from overlay.journal.journal import read_journal
from overlay.journal.recorded import RecordedServer
from overlay.journal.recording import Recording, What, recordings_in
from overlay.load.windows import Windows
from overlay.plugins import VARIABLE
from overlay.runtime.calibrated import model_of, reference
from overlay.runtime.own_supervisor import own_supervisor
from overlay.sim.engine import journal_path, simulate
from overlay.sim.replay import replay_all
from overlay.sim.world import World, server_address
from overlay.systems.registry import SYSTEMS
from overlay.topologies import Graph
from telemetry.collect import collect
from telemetry.lake.manifest import make_manifest
from telemetry.lake.runs import Lake, RunFiles
from telemetry.live.window import LiveWindow
from tests.systems.echo_directory import SYSTEM
from tests.waiting import wait_for

CONFIGURATION = {
    "system": SYSTEM.name,
    "topology": {"brokers": 2, "links": []},
    "settings": {},
    "workload": {"callers": 4, "duration_s": 4.0, "interval_ms": 50},
}
KILL = {"what": "kill", "servers": ["directory-0"], "at_s": 1, "until_s": 2}
CUT = {"what": "partition", "islands": [[0], ["directory-0"]], "at_s": 1, "until_s": 3}
SLOW = {"what": "slow", "links": [["echo-0", "directory-0"]], "delay_ms": 80, "at_s": 1, "until_s": 3}
DEAF = {"what": "deaf", "brokers": [0], "servers": ["directory-0"], "every": 1, "at_s": 1, "until_s": 2}
SILENT = {"what": "silent", "clients": ["caller-1"], "at_s": 1, "until_s": 2}
MOVED = {"what": "moved", "clients": ["caller-0", "caller-3"], "at_s": 1}
REBOUND = {"what": "rebound", "brokers": [1], "at_s": 3}


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setitem(SYSTEMS, SYSTEM.name, SYSTEM)


def document(directory: Path, *faults, **more):
    configuration = {**CONFIGURATION, "faults": list(faults), **more}
    return run_document(configuration, run="r1", seed=5, directory=str(directory))


def simulated(directory: Path, *faults, services: ServiceModel | None = None, **more):
    simulate(Deployment.from_json(document(directory, *faults, **more), SIMULATED), services)
    return list(read_journal(journal_path(directory)))


def last_counters(facts, process):
    return [fact.counters for fact in facts if isinstance(fact, Tick) and fact.process == process][-1]


def calls_of(facts, client, begin_s, end_s):
    """The outcomes of a client's calls that were intended in this part of measuring."""
    measuring = next(
        fact.at_us for fact in facts if isinstance(fact, Event) and fact.detail.get("phase") == "measuring"
    )
    return {
        fact.outcome
        for fact in facts
        if isinstance(fact, Sample)
        and fact.client == client
        and begin_s * 1e6 <= fact.intended_us - measuring < end_s * 1e6
    }


def test_documents_with_names_are_read_written_back_equal_and_said(tmp_path):
    deployment = Deployment.from_json(document(tmp_path, KILL, CUT, SLOW, DEAF, SILENT, MOVED), SIMULATED)
    assert Deployment.from_json(deployment.to_json(), SIMULATED) == deployment
    assert [mark["label"] for mark in timeline(deployment.faults)] == [
        "directory-0 killed",
        "partition into 2 islands",
        "1 link +80 ms",
        "broker 0, directory-0: deaf",
        "caller-1: silent",
        "caller-0, caller-3: moved to another port",
    ]


def test_a_share_of_clients_is_drawn_by_the_seed_of_the_run(tmp_path):
    def drawn(seed, share, callers=40):
        workload = {**CONFIGURATION["workload"], "callers": callers}
        written = document(tmp_path, {**SILENT, "clients": share}, workload=workload) | {"seed": seed}
        deployment = Deployment.from_json(written, SIMULATED)
        assert Deployment.from_json(deployment.to_json(), SIMULATED) == deployment
        return deployment.faults[0].clients

    assert len(drawn(1, 0.1)) == 4
    assert drawn(1, 0.1) == drawn(1, 0.1) != drawn(2, 0.1)
    assert len(drawn(1, 1)) == 40
    assert len(drawn(1, 0.001)) == 1


@pytest.mark.parametrize(
    ("fault", "field", "sentence"),
    [
        ({**KILL, "servers": ["gateway-0"]}, "servers", "has no 'gateway-0'; known are echo-0 to echo-1, directory-0"),
        ({**KILL, "servers": []}, "servers", "must be a list of names of servers"),
        ({**KILL, "servers": ["directory-0", "directory-0"]}, "servers", "twice"),
        ({**KILL, "brokers": [0], "servers": ["echo-0"]}, "servers", "twice"),
        ({**KILL, "servers": [0]}, "servers", "must be a list of names of servers"),
        ({**KILL, "brokers": [2]}, "brokers", "from 0 to 1"),
        ({**CUT, "islands": [["log-0"], [1]]}, "islands.0", "has no 'log-0'"),
        ({**CUT, "islands": [["echo-1"], [1]]}, "islands", "two islands"),
        ({**SLOW, "links": [[0, 1]]}, "links.0", "are not linked"),
        ({**SLOW, "links": [["echo-0", "echo-0"]]}, "links.0", "are not linked"),
        ({**SLOW, "links": [["echo-0", "log-0"]]}, "links.0", "has no 'log-0'"),
        ({"what": "deaf", "at_s": 1}, "brokers", "is missing"),
        ({**DEAF, "every": 0}, "every", "must be at least 1"),
        ({**DEAF, "loud": 1}, "loud", "is unknown; “deaf” has at_s, brokers, every, servers, until_s, what"),
        ({**DEAF, "clients": ["caller-0"]}, "clients", "is unknown"),
        ({**SILENT, "clients": ["caller-4"]}, "clients", "has no 'caller-4'; known are caller-0 to caller-3"),
        ({**SILENT, "clients": "caller-1"}, "clients", "must be a list of names"),
        ({**SILENT, "clients": 0}, "clients", "must be a share above 0 and at most 1, not 0"),
        ({**SILENT, "clients": True}, "clients", "or a share, not true"),
        ({**MOVED, "until_s": 2}, "until_s", "is unknown"),
        ({**KILL, "what": "explode"}, "what", "must be one of kill, restart, partition, slow, lossy, impaired, deaf"),
        ({**REBOUND, "servers": ["directory-0"]}, "servers", "cannot be directory-0; this fault is of echo"),
    ],
)
def test_what_is_wrong_is_named_with_what_is_known(tmp_path, fault, field, sentence):
    with pytest.raises(InvalidSetting, match=sentence) as caught:
        Deployment.from_json(document(tmp_path, fault), SIMULATED)
    assert caught.value.field == f"faults.0.{field}"


def test_in_virtual_time_any_server_is_killed_cut_off_and_slowed(tmp_path):
    usual = last_counters(simulated(tmp_path / "usual"), "echo-0")
    assert usual["answers"] == usual["reports"] > 20
    assert usual["late"] == 0
    killed = last_counters(simulated(tmp_path / "killed", KILL), "echo-0")
    assert killed["reports"] - killed["answers"] == 5
    facts = simulated(tmp_path / "cut", CUT)
    cut, spared = last_counters(facts, "echo-0"), last_counters(facts, "echo-1")
    assert (cut["reports"] - cut["answers"], spared["reports"] - spared["answers"]) == (10, 0)
    facts = simulated(tmp_path / "slow", SLOW)
    assert (last_counters(facts, "echo-0")["late"], last_counters(facts, "echo-1")["late"]) == (10, 0)


@pytest.mark.parametrize("services", [None, model_of(reference(), SYSTEM)])
def test_in_virtual_time_servers_and_clients_see_the_faults_of_their_system(tmp_path, services):
    facts = simulated(tmp_path, DEAF, SILENT, MOVED, services=services)
    assert [fact.detail for fact in facts if isinstance(fact, Event) and fact.name == "Deafened"] == [
        {"every": 1},
        {"every": 1},
        {"every": 0},
        {"every": 0},
    ]
    assert calls_of(facts, 0, 0, 0.9) == calls_of(facts, 0, 2.1, 4) == {"answered"}
    assert calls_of(facts, 0, 1.1, 1.9) == {"timed_out"}, "its server is deaf"
    assert calls_of(facts, 1, 1.1, 1.9) == {"timed_out"}, "it is silent"
    assert calls_of(facts, 3, 0, 4) == {"answered"}, "it has another port"
    assert last_counters(facts, "echo-0")["answers"] < last_counters(facts, "echo-0")["reports"] - 3


def test_in_virtual_time_a_server_that_moves_keeps_its_links_until_it_restarts(tmp_path):
    slow = {**SLOW, "links": [["echo-1", "directory-0"]], "at_s": 2, "until_s": None}
    facts = simulated(tmp_path, REBOUND, slow, {**CUT, "islands": [[1], ["directory-0"]], "at_s": 3.5, "until_s": None})
    assert calls_of(facts, 1, 0, 2.9) == {"answered"}
    assert calls_of(facts, 1, 3.1, 4) == {"timed_out"}, "nobody is at its first port"
    second = last_counters(facts, "echo-1")
    assert second["late"] == 6, "slow before and after; one answer came to its first port"
    assert second["reports"] - second["answers"] >= 3, "it is cut off at its new port"
    facts = simulated(tmp_path / "back", REBOUND, {"what": "restart", "brokers": [1], "at_s": 3.3})
    assert calls_of(facts, 1, 3.4, 4) == {"answered"}


def test_a_server_that_starts_during_a_fault_sees_it_and_its_replay_is_exact(tmp_path):
    restart = {"what": "restart", "brokers": [0], "at_s": 1.5}
    facts = simulated(tmp_path, DEAF, restart, record_mb=1)
    assert last_counters(facts, "echo-0")["faults"] == 2
    replayed = replay_all(tmp_path / "journal")
    assert [(one.begin.name, one.difference) for one in replayed] == [
        ("directory-0", None),
        ("echo-0", None),
        ("echo-0, life 2", None),
        ("echo-1", None),
    ]
    seen = [
        (path.stem, json.loads(record[2])["what"], record[3])
        for path in recordings_in(tmp_path / "journal")
        for record in Recording(path)
        if record[0] == What.FAULT
    ]
    assert seen == [
        ("directory-0.1", "deaf", True),
        ("directory-0.1", "deaf", False),
        ("echo-0.1", "deaf", True),
        ("echo-0.2", "deaf", True),
        ("echo-0.2", "deaf", False),
    ]


def test_a_recorded_server_refuses_an_input_that_recordings_do_not_know():
    class Settable:
        next_timer = events = peers = None
        address = ("127.0.0.1", 1)

        def knows(self, address):
            return True

        def rename(self, name): ...
        def names(self): ...

    server = RecordedServer(Settable(), None, int, frozenset({"names"}))
    assert server.address == ("127.0.0.1", 1)
    assert server.knows(server.address)
    assert server.names() is None
    with pytest.raises(TypeError, match="do not know the input 'rename'"):
        server.rename("a")


def test_clients_can_be_far_from_servers_and_from_each_other(tmp_path):
    """Only the way there and back takes longer; servers are as close to each other as before."""
    near, far = (
        simulated(tmp_path / str(ms), workload={**CONFIGURATION["workload"], "access_ms": ms}) for ms in (0, 30)
    )
    for facts, least, most in ((near, 0, 1_000), (far, 60_000, 61_000)):
        times = [fact.ended_us - fact.sent_us for fact in facts if isinstance(fact, Sample)]
        assert least <= min(times) <= max(times) < most
        assert last_counters(facts, "echo-0")["late"] == 0
    setup = SYSTEM.setup({}, {"access_ms": 30}, Graph(2, ()))
    world = World(SYSTEM, setup)
    servers, windows = [server_address(index) for index in range(3)], Windows(0, 0, 0, 0, 0)
    fleet = SYSTEM.make_fleet([(0, 0), (1, 1)], servers, setup, windows, wall_offset_ns=0, most_lanes=1)
    world.add_fleet("callers-0", fleet)
    hosts = [(actor.host, 1025) for actor in world.clients]
    arrivals = {
        (source, to): world.simulator.network.transmit(b"hello", source, to, 0)[0][0] // 1000
        for source, to in ((hosts[0], hosts[1]), (server_address(0), hosts[1]), (server_address(0), server_address(1)))
    }
    assert list(arrivals.values()) == [30_050, 30_050, 50]


def test_a_run_without_its_directory_is_valid_and_shows_why(tmp_path):
    files = RunFiles(tmp_path / "run-1")
    written = document(files.directory, {**KILL, "until_s": None}, SILENT)
    simulate(Deployment.from_json(written, SIMULATED))
    of_run = {name: written[name] for name in ("seed", "system", "topology", "settings", "workload")}
    files.write_manifest(make_manifest("run-1", engine=SIMULATED, now=datetime.now(UTC), **of_run))
    summary = collect(files, Lake(tmp_path / "lake"))
    assert (summary["verdict"], summary["verdict_reasons"]) == ("valid", [])
    marks = {mark["label"]: mark for mark in LiveWindow(files).advance()["marks"]}
    assert marks["caller-1: silent"]["until_s"] - marks["caller-1: silent"]["at_s"] == pytest.approx(1)
    assert marks["directory-0 killed"]["kind"] == "fault"


def test_live_servers_and_clients_have_the_same_faults(tmp_path):
    faults = [KILL, {**SLOW, "at_s": 2.4, "until_s": 3.4}, {**DEAF, "servers": ["echo-1"]}, SILENT, MOVED, REBOUND]
    faults[2].pop("brokers")
    root = str(Path(__file__).resolve().parents[2])
    environment = {VARIABLE: "tests.systems.echo_directory:SYSTEM", "PYTHONPATH": root}
    with own_supervisor(**environment) as client:
        client.deploy(document(tmp_path, *faults, record_mb=4))
        ended = ("finished", "failed", "stopped")
        status = wait_for(lambda: (s := client.status("r1"))["phase"] in ended and s, "the run ends")
        assert (status["phase"], status["reason"]) == ("finished", "")
        wait_for(lambda: not any(one["pid"] for one in client.status("r1")["brokers"]), "all processes have ended")
    facts = [fact for path in (tmp_path / "journal").glob("*.journal") for fact in read_journal(path)]
    first, second = last_counters(facts, "echo-0"), last_counters(facts, "echo-1")
    assert first["reports"] - first["answers"] >= 3, "the directory was down"
    assert 3 <= first["late"] <= 6
    assert (first["faults"], second["faults"], second["late"]) == (0, 2, 0)
    assert calls_of(facts, 0, 0, 4) == calls_of(facts, 2, 0, 4) == {"answered"}, "one of them has another port"
    assert calls_of(facts, 1, 1.2, 1.8) == {"timed_out"}, "it is silent, and its server is deaf"
    assert "answered" not in calls_of(facts, 3, 1.2, 1.8)
    assert calls_of(facts, 3, 3.7, 4) == {"timed_out"}, "its server has another port"
    assert [(one.begin.name, one.difference) for one in replay_all(tmp_path / "journal")] == [
        ("directory-0", None),
        ("directory-0, life 2", None),
        ("echo-0", None),
        ("echo-1", None),
    ]
