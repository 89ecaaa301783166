"""The system as drivers know it: simulated, recorded and replayed, with faults, and live."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import pytest

from overlay.core.errors import InvalidSetting
from overlay.journal.facts import Delivery, Row, Sample, Start, Tick
from overlay.journal.journal import read_journal
from overlay.plugins import VARIABLE
from overlay.runtime.calibrated import model_of, reference
from overlay.runtime.own_supervisor import document_of, own_supervisor
from overlay.sim.engine import simulate
from overlay.sim.replay import replay_all
from overlay.systems.radiator.measuring import Facts, measures
from tests.radiator.runs import deployed, ran
from tests.waiting import wait_for

pytestmark = pytest.mark.usefixtures("radiator")


def last(facts, process="server-0"):
    return [fact for fact in facts if isinstance(fact, Tick) and fact.process == process][-1].counters


def test_everyone_receives_everything_and_equal_seeds_give_equal_runs(tmp_path):
    first, facts = ran(tmp_path / "a")
    again, _ = ran(tmp_path / "b")
    other, _ = ran(tmp_path / "c", seed=6)
    assert first.digest == again.digest != other.digest
    assert [fact.process for fact in facts if isinstance(fact, Start)] == ["supervisor", "server-0", "clients-0"]
    assert Counter(fact.outcome for fact in facts if isinstance(fact, Sample)) == {"answered": 50}
    tables = Counter(fact.table for fact in facts if isinstance(fact, Row))
    assert tables == {"messages": 50, "propagations": 50, "queued": 1, "chains": 1}, "one message in 100 is traced"
    found = measures(facts)
    assert (found["pairs_due"], found["pairs_delivered"], found["duplicates"]) == (50 * 19, 50 * 19, 0)


@pytest.mark.parametrize("index", ["literal", "indexed", "classes"])
def test_all_forms_of_algorithm_1_give_the_same_run(tmp_path, index):
    settings = {"scenario": "3", "aggregability": "{volume: 2} if friend(s, r) else {people: 4}"}
    outcome, _ = ran(tmp_path / index, {**settings, "index": index}, {"moving": True})
    assert outcome.digest == ran(tmp_path / "again", settings, {"moving": True})[0].digest


def test_aggregation_and_chains_spare_the_server(tmp_path):
    workload = {"clients": 40, "arrivals": "poisson", "messages_per_s": 40}
    settings = {"echo": True, "accounting": "http"}
    plain = measures(ran(tmp_path / "a", settings, workload)[1])
    volume = measures(ran(tmp_path / "b", {**settings, "aggregability": "{volume: 20}"}, workload)[1])
    chained = measures(ran(tmp_path / "c", {**settings, "chain_percent": 25}, workload)[1])
    assert (plain["aggregation_factor"], volume["aggregation_factor"]) == (1, 20)
    assert volume["bytes_per_pair"] < plain["bytes_per_pair"] / 5
    assert volume["lag_retention_us"] > 0 == plain["lag_retention_us"]
    assert chained["pushes"] * 10 == plain["pushes"]
    assert chained["bytes_per_pair"] < plain["bytes_per_pair"] / 4
    assert chained["client_to_client_bytes"] > 0 == plain["client_to_client_bytes"]
    assert chained["lag_mean_us"] > plain["lag_mean_us"]


def test_links_of_clients_have_their_shape(tmp_path):
    found = measures(ran(tmp_path, {"server_link_delay_ms": 10, "peer_link_delay_ms": 5, "chain_percent": 100})[1])
    assert found["lag_acceptance_us"] == pytest.approx(10_000, rel=0.02)
    assert found["lag_transport_us"] == pytest.approx(10_000 + 9 * 5_000, rel=0.05), "18 hops after the first"


def test_a_simulated_run_ends_when_nothing_is_in_flight_and_no_deadline_is_set(tmp_path):
    workload = {"clients": 5, "duration_s": 3, "drain_s": 600}
    retaining, facts = ran(
        tmp_path / "a", {"aggregability": "{volume: 1000}", "flush": "arrival", "retain_max_s": 0}, workload
    )
    flushed, others = ran(tmp_path / "b", {"aggregability": "{volume: 1000}", "retain_max_s": 40}, workload)
    assert retaining.simulated_s < 10 < 40 < flushed.simulated_s < 60
    assert measures(facts)["pairs_retained"] == measures(facts)["pairs_due"] > 0
    assert measures(others)["pairs_delivered"] == measures(others)["pairs_due"] > 0


def test_ticks_are_whole_seconds_of_measuring(tmp_path):
    """Registrations are not part of the traffic of measuring, however late the last tick before it was."""
    _, facts = ran(tmp_path, {}, {"clients": 4, "stagger_ms": 33, "duration_s": 2.5, "messages_per_s": 0.001})
    phases = Facts.of(facts).phases
    begin, end = phases["measuring"], phases["draining"]
    times = [fact.at_us for fact in facts if isinstance(fact, Tick) and fact.process == "server-0"]
    assert {at - begin for at in times if begin <= at <= end} == {0, 1_000_000, 2_000_000, 2_500_000}


def test_a_saturated_uplink_delays_and_a_short_queue_refuses(tmp_path):
    workload = {"duration_s": 20, "drain_s": 60}
    free = measures(ran(tmp_path / "a", {}, workload)[1])
    slow = measures(ran(tmp_path / "b", {"uplink_share": 1.5}, workload)[1])
    full = measures(ran(tmp_path / "c", {"uplink_share": 1.5, "uplink_queue_bytes": 2_000}, workload)[1])
    assert slow["lag_transport_us"] > 1_000_000 > free["lag_transport_us"]
    assert (slow["refused"], slow["pairs_failed"]) == (0, 0)
    assert full["refused"] > 0
    assert full["lag_transport_us"] < slow["lag_transport_us"] / 3


def test_a_closed_loop_waits_for_its_answers(tmp_path):
    _, facts = ran(tmp_path, {}, {"clients": 4, "loop": "closed", "think_s": 1, "duration_s": 10})
    intended = sorted(fact.intended_us for fact in facts if isinstance(fact, Sample) and fact.client == 2)
    gaps = [later - earlier for earlier, later in itertools.pairwise(intended)]
    assert len(intended) == 10
    assert all(1_000_000 <= gap < 1_001_000 for gap in gaps)


def test_blocked_callers_take_turns_at_a_saturated_uplink(tmp_path):
    """Each needs 1,700 bytes for a push and two answers, half a second of the uplink, so a round of all takes 30 s."""
    saturated = {"accounting": "http", "uplink_bytes_per_s": 3_400, "uplink_queue_bytes": 1_300, "rto_ms": 60_000}
    workload = {"clients": 60, "audience": 1, "loop": "closed", "think_s": 0.001, "duration_s": 60, "stagger_ms": 400}
    found = measures(ran(tmp_path, {**saturated, "echo": True}, workload)[1])
    assert found["accepted"] > 95
    assert 20e6 < found["lag_mean_us"] < 50e6, "no caller has the turns of others"


def test_an_audience_gets_its_part(tmp_path):
    found = measures(ran(tmp_path, {"echo": True}, {"audience": 3})[1])
    assert found["pairs_due"] == 3 * found["messages"] == found["pairs_delivered"]


def test_recordings_replay_to_the_byte(tmp_path):
    faults = [{"what": "restart", "brokers": [0], "at_s": 2}, {"what": "cut", "brokers": [0], "at_s": 3, "until_s": 4}]
    ran(tmp_path, {"aggregability": "{volume: 3}", "chain_percent": 30}, record_mb=5, faults=faults)
    replayed = replay_all(tmp_path / "journal")
    assert [(one.begin.process, one.difference) for one in replayed] == [("server-0", None)] * 2
    assert all(one.datagrams > 30 for one in replayed)


def test_a_recorded_server_can_have_service_times(tmp_path):
    """Their meter reads the server's work, which is no input."""
    run = deployed(tmp_path, record_mb=5)
    simulate(run, model_of(reference(), run.system))
    (replayed,) = replay_all(tmp_path / "journal")
    assert replayed.difference is None


# ---- churn and faults


def test_clients_that_leave_are_not_waited_for_and_those_that_return_receive_again(tmp_path):
    schedule = "1 3 leave; 3 3 up; 1 4 crash; 3 4 up"
    workload = {"churn": "file", "churn_schedule": schedule, "duration_s": 10, "clients": 10}
    _, facts = ran(tmp_path, {"rto_ms": 50}, workload)
    found, times = measures(facts), {3: [], 4: []}
    for fact in facts:
        if isinstance(fact, Delivery) and fact.client in times:
            times[fact.client].append(fact.received_us / 1e6)
    begin = min(fact.intended_us for fact in facts if isinstance(fact, Sample)) / 1e6
    for received in times.values():
        assert not [at for at in received if begin + 1.01 < at < begin + 3]
        assert [at for at in received if at > begin + 5]
    assert (last(facts)["clients"], last(facts)["reachable"]) == (10, 10)
    assert found["pairs_failed"] + found["pairs_dropped"] > 0
    assert found["duplicates"] == 0


@pytest.mark.parametrize(
    ("fault", "least"),
    [
        ({"what": "crash", "clients": ["client-3", "client-7"]}, 1),
        ({"what": "crash_at_push", "clients": ["client-3"]}, 1),
        ({"what": "silent", "clients": 0.2}, 1),
        ({"what": "late", "clients": 0.2, "by_ms": 2_000}, 1),
        ({"what": "loss", "clients": 1.0, "share": 0.1}, 0),
        ({"what": "cut", "servers": ["server-0"]}, 0),
        ({"what": "restart", "brokers": [0]}, 0),
        ({"what": "kill", "brokers": [0]}, 0),
        ({"what": "restart", "clients": 0.2}, 1),
        ({"what": "slow", "links": "all", "delay_ms": 20}, 0),
        ({"what": "partition", "islands": [["server", 0, 1, 2, 3, 4], [5, 6, 7]]}, 1),
    ],
)
def test_after_a_fault_messages_reach_everyone_again(tmp_path, fault, least):
    ends = {} if fault["what"] == "restart" else {"until_s": 6}
    settings = {"chain_percent": 40, "rto_ms": 50, "chain_wait_s": 0.5, "alive_s": 1, "silence_s": 2}
    workload = {"duration_s": 20, "clients": 10, "messages_per_s": 5}
    _, facts = ran(tmp_path, settings, workload, faults=[{**fault, "at_s": 3, **ends}])
    found = measures(facts)
    assert found["duplicates"] == 0
    assert found["repairs"] + found["pairs_failed"] + found["pairs_dropped"] >= least
    assert last(facts)["reachable"] == 10
    end = max(fact.intended_us for fact in facts if isinstance(fact, Sample))
    receivers = {fact.client for fact in facts if isinstance(fact, Delivery) and fact.published_us > end - 3_000_000}
    assert receivers == set(range(10))
    states = [found[f"pairs_{state}"] for state in ("delivered", "retained", "dropped", "failed")]
    assert sum(states) == found["pairs_due"] and min(states) >= 0


@pytest.mark.parametrize(
    ("fault", "field"),
    [
        ({"what": "cut", "clients": 0.5, "at_s": 1}, "faults.0.clients"),
        ({"what": "crash", "clients": ["client-99"], "at_s": 1}, "faults.0.clients"),
        ({"what": "loss", "clients": 0.5, "share": 2, "at_s": 1}, "faults.0.share"),
    ],
)
def test_faults_that_cannot_be_are_refused(tmp_path, fault, field):
    with pytest.raises(InvalidSetting) as caught:
        deployed(tmp_path, faults=[fault])
    assert caught.value.field == field


# ---- for pages and drivers


def test_a_server_answers_a_ping(radiator):
    from overlay.core.chance import Chances
    from overlay.systems.roles import Place
    from overlay.topologies import Graph

    setup = radiator.setup({}, None, Graph(1, ()))
    address = ("127.0.0.1", 7000)
    place = Place("server-0", 0, address, (address,))
    server = radiator.make_server(radiator.config_of(setup), place, Chances.streams(1), 0)
    server.receive_datagrams([(radiator.ping(1_700_000_000_000), ("127.0.0.1", 9))], 5)
    ((answer, to),) = server.datagrams_to_send()
    assert (radiator.answers_ping(answer), to) == (True, ("127.0.0.1", 9))
    assert not radiator.answers_ping(b"RD")
    assert server.knows(("127.0.0.1", 9)) is False


def test_what_a_run_needs_is_estimated(radiator):
    configuration = {
        "settings": {"aggregability": "{volume: 20}"},
        "workload": {"clients": 2_500, "messages_per_s": 2, "duration_s": 100, "stagger_ms": 1},
    }
    found = radiator.expected(configuration)
    assert (found.servers, found.clients, found.processes) == (1, {"clients": 2_500}, 4)
    assert found.samples == 200 + 200 * 2_500 / 20


def test_live_everyone_receives_everything(tmp_path):
    """Real processes and UDP, under a supervisor that learns of the system by the environment."""
    root = str(Path(__file__).resolve().parents[2])
    with own_supervisor(**{VARIABLE: "overlay.systems.radiator.system:SYSTEM", "PYTHONPATH": root}) as client:
        workload = {"clients": 20, "duration_s": 3, "stagger_ms": 5, "drain_s": 3}
        settings = {"aggregability": "{volume: 5}", "chain_percent": 25, "echo": True}
        document = document_of(
            "r1", tmp_path, brokers=1, settings=settings, workload=workload, seed=5, system="radiator"
        )
        client.deploy({**document, "record_mb": 5})
        ended = ("finished", "failed", "stopped")
        status = wait_for(lambda: (s := client.status("r1"))["phase"] in ended and s, "the run ends")
        assert (status["phase"], status["reason"]) == ("finished", "")
    facts = [fact for path in sorted((tmp_path / "journal").glob("*.journal")) for fact in read_journal(path)]
    found = measures(facts)
    assert (found["messages"], found["accepted"], found["duplicates"]) == (30, 30, 0)
    assert found["pairs_delivered"] == found["pairs_due"] == 30 * 20
    assert found["client_to_client_bytes"] > 0
    (replayed,) = replay_all(tmp_path / "journal")
    assert replayed.difference is None


def test_what_a_cut_settles_is_in_the_journal_at_once(radiator):
    """When the uplink is mended, pushes for clients that are gone are passed over."""
    from overlay.core.chance import Chances
    from overlay.systems.radiator.chains.propagation import Settled
    from overlay.systems.radiator.wire import messages as m
    from overlay.systems.radiator.wire.codec import encode, parse
    from overlay.systems.roles import Place
    from overlay.topologies import Graph

    setup = radiator.setup({"echo": True}, {}, Graph(1, ()))
    address, home = ("127.0.0.1", 7000), ("127.0.0.1", 9)
    server = radiator.make_server(
        radiator.config_of(setup), Place("server-0", 0, address, (address,)), Chances.streams(1), 0
    )

    def tell(message):
        server.receive_datagrams([(encode(message), home)], 5)
        return [parse(data) for data, _ in server.datagrams_to_send()]

    (answer,) = tell(m.Register(1, 7, 0, 0, "a", {}))
    tell(m.Register(1, 7, answer.token, 0, "a", {}))
    server.fault({"what": "cut"}, True, 5)
    tell(m.Context(2, 7, 0, 0, b'{"a":{},"n":1,"p":["A"],"t":[0,0]}'))
    tell(m.Unregister(3, 7, "a"))
    server.traces()
    server.fault({"what": "cut"}, False, 6)
    assert [(at, event.missed) for at, event in server.traces() if isinstance(event, Settled)] == [
        (6, (("127.0.0.1", "a", "unregistered"),))
    ]
