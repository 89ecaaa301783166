"""The supervisor as an operator meets it: real processes, real signals, its socket."""

import json
import os
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
from contextlib import suppress
from itertools import combinations
from pathlib import Path

import pytest

from overlay.core.addresses import parse_address
from overlay.faults.churn import CRASHED
from overlay.journal.facts import Event, Tick
from overlay.journal.journal import read_journal
from overlay.programs.context_broker.client import ContextClient
from overlay.runtime.supervisor_client import SupervisorClient, SupervisorRefused, SupervisorUnavailable
from telemetry.collect import collect
from telemetry.lake.runs import Lake, RunFiles
from tests.runtime.hosts import Host, pids
from tests.waiting import BOUND_S, is_alive, wait_for


def ask(address):
    return ContextClient([parse_address(address)], deadline_s=BOUND_S)


def test_a_deployed_network_answers_through_any_broker_and_ends_when_it_is_stopped(host):
    status = host.deploy(host.network())
    first, last = status["brokers"][0]["address"], status["brokers"][-1]["address"]
    ask(first).provide("p1", ("room", "r1", "temp"), b"degC=21.5", valid_ms=60_000)
    assert ask(last).ask(("room", "r1", "temp")).text == "degC=21.5"

    host.client.stop("net", 1, "no longer needed")
    stopped = host.phase("net", "stopped")
    assert stopped["reason"] == "no longer needed"
    assert [broker["state"] for broker in stopped["brokers"]] == ["stopped"] * 3
    assert not any(map(is_alive, pids(status)))
    assert host.client.forget("net", 1)["forgotten"]
    with pytest.raises(SupervisorRefused, match="no deployment 'net' on this host"):
        host.client.status("net")


@pytest.mark.parametrize("membership", ["greedy", "random"])
def test_brokers_that_choose_their_neighbours_assemble_and_one_that_was_killed_finds_some_again(host, membership):
    links = [{"a": a, "b": b} for a, b in combinations(range(8), 2)]
    settings = {"monitoring": True, "membership": membership, "neighbours_wanted": 3}
    document = host.network(brokers=8, topology={"brokers": 8, "links": links}, settings=settings)
    before = host.deploy(document)["brokers"]
    neighbours = [ask(broker["address"]).neighbors() for broker in before]
    assert min(map(len, neighbours)) >= 3
    assert sum(map(len, neighbours)) < 8 * 7
    os.kill(before[1]["pid"], signal.SIGKILL)

    def is_back():
        status = host.client.status("net")
        return status["phase"] == "running" and status["brokers"][1]["restarts"] == 1

    wait_for(is_back, "the overlay is whole again")
    assert len(ask(before[1]["address"]).neighbors()) >= 3


def test_a_killed_broker_comes_back_on_its_port_with_its_neighbours_and_says_why(host):
    before = host.deploy(host.network())["brokers"][1]
    os.kill(before["pid"], signal.SIGKILL)

    def is_back():
        status = host.client.status("net")
        broker = status["brokers"][1]
        return status["phase"] == "running" and broker["state"] == "up" and broker["restarts"] == 1 and status

    status = wait_for(is_back, "the broker is back")
    after = status["brokers"][1]
    assert after["reason"] == "killed by SIGKILL"
    assert status["reason"] == "broker-1: killed by SIGKILL"
    assert after["address"] == before["address"]
    others = {parse_address(status["brokers"][index]["address"]) for index in (0, 2)}
    assert set(ask(after["address"]).neighbors()) == others


def test_a_fault_is_a_kill_by_order(host):
    host.deploy(host.network())
    host.client.fault("net", 1, 2)
    wait_for(lambda: host.client.status("net")["brokers"][2]["restarts"] == 1, "broker 2 was started again")
    with pytest.raises(SupervisorRefused, match="broker must be from 0 to 2, not 9"):
        host.client.fault("net", 1, 9)
    with pytest.raises(SupervisorRefused, match="kind must be kill, not 'melt'"):
        host.client.fault("net", 1, 0, "melt")


def test_when_the_supervisor_is_killed_nothing_is_left_and_its_networks_come_back(host):
    before = host.deploy(host.network())
    host.process.kill()
    host.process.wait()
    wait_for(lambda: not any(map(is_alive, pids(before))), "all brokers are gone")

    host.process.stderr.close()
    host.start()
    after = host.phase("net", "running")
    assert after["reason"] == "deployed again: the supervisor was restarted"
    assert [broker["address"] for broker in after["brokers"]] == [broker["address"] for broker in before["brokers"]]


def test_a_stopped_network_does_not_come_back(host):
    host.deploy(host.network())
    host.client.stop("net", 1, "enough")
    assert host.end() == 0
    host.process.stderr.close()
    assert host.start().client.hello()["deployments"] == []


def test_sigterm_ends_every_child_and_exits_0_but_networks_stay_desired(host):
    status = host.deploy(host.network())
    assert host.end() == 0
    assert not any(map(is_alive, pids(status)))
    assert not host.socket.exists()
    host.process.stderr.close()
    host.start().phase("net", "running")


def test_while_it_shuts_down_it_is_unavailable_so_that_no_run_fails_by_its_refusals(host):
    status = host.deploy(host.network())
    os.kill(pids(status)[0], signal.SIGSTOP)  # so that it takes a while
    host.client.shutdown()
    with pytest.raises(SupervisorUnavailable, match="is shutting down"):
        host.client.hello()


def test_it_ends_when_its_lifeline_does(tmp_path):
    lifeline, held = os.pipe()
    host = Host(tmp_path).start(pass_fds=[lifeline], env=os.environ | {"WAXWING_LIFELINE_FD": str(lifeline)})
    os.close(lifeline)
    status = host.deploy(host.network())
    os.close(held)
    assert host.process.wait(BOUND_S) == 0
    assert not any(map(is_alive, pids(status)))
    host.process.stderr.close()


def test_a_run_goes_through_its_phases_and_leaves_its_journals(host):
    host.client.deploy(host.run())
    measuring = host.phase("run", "measuring")
    assert {client["name"] for client in measuring["clients"]} == {"providers-0", "consumers-0"}
    assert measuring["warming_unix_ms"] < measuring["measuring_unix_ms"] < measuring["ends_unix_ms"]

    finished = host.phase("run", "finished")
    wait_for(lambda: not pids(host.client.status("run")), "its processes are gone")
    assert [client["reason"] for client in finished["clients"]] == ["exit 0", "exit 0"]
    journals = {path.stem for path in (host.directory / "run" / "journal").iterdir()}
    assert journals == {"supervisor", "broker-0", "broker-1", "broker-2", "providers-0", "consumers-0"}
    facts = read_journal(host.directory / "run" / "journal" / "supervisor.journal")
    phases = [fact.detail["phase"] for fact in facts if isinstance(fact, Event) and fact.name == "phase"]
    assert phases == ["warming", "measuring", "draining", "finished"]


def test_brokers_that_churn_sends_away_come_back_on_their_ports_and_the_run_finishes(host):
    document = host.run(lease_s=60)
    document["topology"] = {"brokers": 4, "links": [{"a": i, "b": (i + 1) % 4} for i in range(4)]}
    document["workload"] |= {"duration_s": 4, "churn": "file"}
    document["workload"]["churn_schedule"] = "0.5 1 leave; 0.5 2 crash; 2 1 up; 2 2 up; 3.5 0 crash"
    host.client.deploy(document)
    before = host.phase("run", "measuring")["brokers"]

    def brokers(*shown):
        status = host.client.status("run")
        assert status["phase"] != "failed", status["reason"]
        told = tuple((broker["state"], broker["restarts"]) for broker in status["brokers"])
        return told == shown and status["brokers"]

    again = ("up", 1), ("up", 1), ("up", 0)
    after = wait_for(lambda: brokers(("away", 0), *again), "two brokers were away and are back, a third one is away")
    wait_for(lambda: not any(is_alive(broker["pid"]) for broker in before[:3]), "their former processes are gone")
    assert [broker["address"] for broker in after] == [broker["address"] for broker in before]
    assert after[2]["reason"] == CRASHED
    ring = {parse_address(after[broker]["address"]) for broker in (1, 3)}
    wait_for(lambda: set(ask(after[2]["address"]).neighbors()) == ring, "broker 2 has its neighbours again")

    finished = host.phase("run", "finished")
    assert [client["reason"] for client in finished["clients"]] == ["exit 0", "exit 0"]
    facts = list(read_journal(host.directory / "run" / "journal" / "supervisor.journal"))
    events = [fact for fact in facts if isinstance(fact, Event)]
    churned = [(event.name, event.detail["broker"]) for event in events if event.name.startswith("churn_")]
    away = [("churn_left", 1), ("churn_crashed", 2)]
    assert churned == [*away, ("churn_returned", 1), ("churn_returned", 2), ("churn_crashed", 0)]
    assert not [event for event in events if event.name == "process_started" and event.detail["after"]]
    journals = host.directory / "run" / "journal"
    watching = [
        fact
        for broker in (1, 2)
        for fact in read_journal(journals / f"broker-{broker}.journal")
        if isinstance(fact, Event) and fact.name == "MonitoringStarted"
    ]
    assert len(watching) == 4
    summary = collect(RunFiles(host.directory / "run"), Lake(host.directory / "lake"))
    reasons = " ".join(summary["verdict_reasons"])
    assert "restarted" not in reasons
    assert "Samples lost" not in reasons


def test_one_run_at_a_time(host):
    host.client.deploy(host.run())
    with pytest.raises(SupervisorRefused, match="run run is active on this host") as refusal:
        host.client.deploy(host.run("second"))
    assert refusal.value.code == "busy"
    host.client.stop("run", 1, "cancelled")
    wait_for(lambda: not pids(host.client.status("run")), "its processes are gone")
    assert host.phase("run", "stopped")["reason"] == "cancelled"
    host.client.deploy(host.run("second"))


def test_a_run_that_nobody_renews_is_stopped(host):
    host.client.deploy(host.run(lease_s=1))
    status = wait_for(
        lambda: (status := host.client.status("run"))["phase"] == "failed" and not pids(status) and status, "it failed"
    )
    assert status["reason"] == "lease expired: not renewed for 1 s"


def test_a_broker_whose_port_was_taken_meanwhile_fails_in_words_and_is_not_moved(host):
    host.deploy(host.network())
    taken = host.client.status("net")["brokers"][0]["address"]
    host.process.kill()
    host.process.wait()
    state = host.directory / "state" / "networks.json"
    kept = json.loads(state.read_text())
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as thief:

        def stolen():
            try:
                thief.bind(parse_address(taken))
            except OSError:
                return False
            return True

        wait_for(stolen, "the port of the dead broker is free")
        assert kept[0]["addresses"][0] == taken
        host.process.stderr.close()
        host.start()
        status = host.phase("net", "degraded")
    assert status["reason"].startswith("broker-0: ")
    assert f"cannot bind {taken}: Address already in use" in status["reason"]
    assert [(one["state"], one["address"] == taken) for one in status["brokers"]] == [
        ("failed", True),
        ("up", False),
        ("up", False),
    ]


def test_a_deployment_whose_directory_vanished_fails_alone(host):
    host.deploy(host.network("other"))
    host.deploy(host.network())
    shutil.rmtree(host.directory / "net")
    host.client.fault("net", 1, 0)
    failed = wait_for(
        lambda: (status := host.client.status("net"))["phase"] == "failed" and not pids(status) and status, "it failed"
    )
    assert "No such file or directory" in failed["reason"]
    assert host.client.status("other")["phase"] == "running"


def test_epochs_fence(host):
    host.deploy(host.network(epoch=5))
    assert host.client.deploy(host.network(epoch=5))["epoch"] == 5
    for late in (lambda: host.client.deploy(host.network(epoch=4)), lambda: host.client.stop("net", 4, "late")):
        with pytest.raises(SupervisorRefused, match="epoch 4 is stale; net is at 5") as refusal:
            late()
        assert refusal.value.code == "stale-epoch"
    adopted = host.client.deploy(host.network(epoch=6))
    assert (adopted["epoch"], adopted["phase"]) == (6, "running")
    with pytest.raises(SupervisorRefused, match="runs here with another configuration") as refusal:
        host.client.deploy(host.network(epoch=7, seed=8))
    assert refusal.value.code == "conflict"


def test_a_second_supervisor_says_that_there_is_one(host):
    second = subprocess.run(host.command("other"), capture_output=True, text=True, timeout=BOUND_S, check=False)
    assert second.returncode == 1
    assert second.stderr == f"supervisor: another supervisor listens on {host.socket}\n"
    assert host.answers()


def test_without_options_it_keeps_its_things_in_var(tmp_path):
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-m", "overlay", "supervise"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment) as process:
        try:
            supervisor = SupervisorClient(tmp_path / "var" / "supervisor.sock")
            assert wait_for(lambda: says_hello(supervisor), "it listens")["pid"] == process.pid
        finally:
            process.terminate()


def says_hello(supervisor):
    """Its answer; nothing while it has no socket, or does not listen there yet."""
    with suppress(SupervisorUnavailable):
        return supervisor.hello()


def test_only_the_owner_may_connect(host):
    assert stat.S_IMODE(host.socket.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"hello\n", "bad-request"),
        (b"[]\n", "bad-request"),
        (b'{"do":"dance"}\n', "bad-request"),
        (b'{"do":["hello"]}\n', "bad-request"),
        (b'{"do":"deploy"}\n', "invalid"),
        (b'{"do":"status","id":7}\n', "unknown"),
        (b'{"do":"stop","id":"nobody","epoch":1}\n', "unknown"),
        pytest.param(b"[" * 100_000 + b"\n", "bad-request", id="very deep"),
        pytest.param(b"x" * 4_100_000, "too-long", id="very long"),  # a name as long fits into no environment
    ],
)
def test_what_cannot_be_read_is_refused_in_words_and_changes_nothing(host, line, code):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(BOUND_S)
        client.connect(str(host.socket))
        client.sendall(line)
        error = json.loads(client.makefile("rb").readline())["error"]
    assert error["code"] == code
    assert error["sentence"]
    assert host.client.hello()["deployments"] == []


def test_a_client_that_says_half_a_line_keeps_nobody_waiting(host):
    with socket.socket(socket.AF_UNIX) as slow:
        slow.connect(str(host.socket))
        slow.sendall(b'{"do":"hel')
        assert host.answers()
        slow.sendall(b'lo"}\n{"do":"hello"}\n')
        answers = slow.makefile("rb")
        assert json.loads(answers.readline())["pid"] == json.loads(answers.readline())["pid"] == host.process.pid


def test_a_network_that_cannot_be_read_back_is_said_and_harms_no_other(tmp_path):
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "networks.json").write_text("[{")
    host = Host(tmp_path).start()
    assert host.client.hello()["deployments"] == []
    assert host.end() == 0
    assert "networks.json cannot be read" in host.process.stderr.read()
    host.process.stderr.close()


def test_a_supervisor_that_was_stopped_itself_lets_no_lease_expire(host):
    host.client.deploy(host.run(lease_s=2, workload=LONG))
    wait_for(lambda: host.client.renew("run", 1)["phase"] == "measuring", "it measures")
    host.process.send_signal(signal.SIGSTOP)
    before = ticks(host)
    wait_for(lambda: ticks(host) >= before + 4, "brokers went on for twice the lease")
    host.process.send_signal(signal.SIGCONT)
    assert host.client.renew("run", 1)["phase"] == "measuring"


def ticks(host):
    """How often the first broker has said what it looks like, once a second."""
    return sum(isinstance(fact, Tick) for fact in read_journal(host.directory / "run" / "journal" / "broker-0.journal"))


@pytest.mark.parametrize("kind", ["network", "run"])
def test_a_broker_that_is_stopped_does_not_answer_and_does_again_once_it_goes_on(host, kind):
    document = host.network() if kind == "network" else host.run(lease_s=60, workload=LONG)
    status = host.deploy(document, "running" if kind == "network" else "measuring")
    pid = status["brokers"][1]["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        silent = wait_for(lambda: shown(host, document["id"], "not answering"), "it is shown")
        assert [broker["state"] for broker in silent["brokers"]] == ["up", "not answering", "up"]
        if kind == "network":
            assert (silent["phase"], silent["reason"]) == ("degraded", "broker-1: does not answer")
    finally:
        os.kill(pid, signal.SIGCONT)
    back = wait_for(lambda: shown(host, document["id"], "up"), "it answers again")
    assert back["brokers"][1]["pid"] == pid
    host.phase(document["id"], "running" if kind == "network" else "measuring")


LONG = {"providers": 2, "consumers": 4, "update_interval_s": 0.5, "request_interval_s": 0.2, "duration_s": 600}


def shown(host, id, state):
    status = host.client.status(id)
    return status if status["brokers"][1]["state"] == state else None


def test_a_network_outlives_a_full_disk_and_its_broker_comes_back_on_it(host):
    status = host.deploy(host.network())
    filled(host.process.pid, 0)
    before = status["brokers"][1]["pid"]
    os.kill(before, signal.SIGKILL)
    wait_for(lambda: (one := shown(host, "net", "up")) and one["brokers"][1]["pid"] != before, "it is back")
    assert host.phase("net", "running")["reason"] == "broker-1: killed by SIGKILL"
    assert host.client.stop("net", 1, "stopped by hand")["phase"] in ("stopping", "running")
    host.phase("net", "stopped")


def test_a_run_on_a_full_disk_fails_at_once_and_names_the_file(host):
    host.deploy(host.run(lease_s=60, workload=LONG), "measuring")
    for process in (*host.client.status("run")["brokers"], *host.client.status("run")["clients"]):
        filled(process["pid"], 0)
    status = wait_for(lambda: (it := host.client.status("run"))["phase"] == "failed" and it, "it failed")
    assert status["reason"].startswith(f"Disk full: {host.directory}/run/journal/")
    assert "Free some space and try again." in status["reason"]


def filled(pid, most):
    """A process that can make no file longer than ``most`` bytes: to it the disk is full."""
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))


def test_one_broker_is_restarted_by_order_on_its_port_with_its_neighbours(host):
    before = host.deploy(host.network())["brokers"][1]
    host.client.restart("net", 1, 1, 0, "olga")
    host.client.restart("net", 1, 1, 0, "olga")  # said twice, done once

    def is_back():
        status = host.client.status("net")
        broker = status["brokers"][1]
        return status["phase"] == "running" and broker["state"] == "up" and broker["restarts"] == 1 and status

    status = wait_for(is_back, "the broker is back")
    after = status["brokers"][1]
    assert (after["address"], after["reason"]) == (before["address"], "restarted by olga")
    assert after["pid"] != before["pid"]
    others = {parse_address(status["brokers"][index]["address"]) for index in (0, 2)}
    assert set(ask(after["address"]).neighbors()) == others
    assert host.client.restart("net", 1, 1, 0, "olga")["brokers"][1]["pid"] == after["pid"], "an old order"
    with pytest.raises(SupervisorRefused, match="broker must be from 0 to 2, not 3"):
        host.client.restart("net", 1, 3, 0, "olga")
    with pytest.raises(SupervisorRefused, match="restarts must be a whole number, not null"):
        host.client.restart("net", 1, 1, None, "olga")


def test_a_broker_that_hangs_is_restarted_too(host):
    before = host.deploy(host.network())["brokers"][0]
    os.kill(before["pid"], signal.SIGSTOP)
    host.client.restart("net", 1, 0, 0, "olga")

    def is_back():
        broker = host.client.status("net")["brokers"][0]
        return broker["state"] == "up" and broker["restarts"] == 1 and broker

    assert wait_for(is_back, "the broker is back")["reason"] == "restarted by olga; did not end within 3 s of SIGTERM"


def test_nothing_of_a_stopped_network_is_restarted(host):
    host.deploy(host.network())
    host.client.stop("net", 1, "enough")
    with pytest.raises(SupervisorRefused, match="so its brokers cannot be restarted"):
        host.client.restart("net", 1, 0, 0, "olga")
