"""A system that common code has never heard of: checked, run in virtual time and live, recorded and replayed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from overlay.cli import simulate as simulate_command
from overlay.core.engines import SIMULATED
from overlay.core.errors import InvalidSetting
from overlay.deployment.deployment import Deployment, run_document
from overlay.journal.facts import Sample, Start, Tick
from overlay.journal.journal import read_journal
from overlay.plugins import VARIABLE, register_systems
from overlay.runtime.calibrated import model_of, reference
from overlay.runtime.own_supervisor import document_of, own_supervisor
from overlay.runtime.warm_up import rehearse
from overlay.sim.engine import journal_path, simulate
from overlay.sim.replay import replay_all
from overlay.topologies import Graph
from tests.systems.echo import SYSTEM, Echo
from tests.waiting import wait_for

CONFIGURATION = {
    "system": "echo",
    "topology": {"brokers": 1, "links": []},
    "settings": {"echoes": 2},
    "workload": {"callers": 3, "duration_s": 2.0},
}


def deployed(directory: Path, **more):
    document = run_document({**CONFIGURATION, **more}, run="r1", seed=5, directory=str(directory))
    return Deployment.from_json(document, SIMULATED)


def asked(facts):
    return [fact for fact in facts if isinstance(fact, Sample) and fact.phase == "measuring"]


def test_it_says_of_itself_what_can_be_set_and_refuses_what_cannot(echo):
    assert [info.name for info in echo.settings] == ["echoes"]
    assert echo.whole({}) == {"echoes": 1}
    echo.check(echo.setup({"echoes": 3}, {"callers": 9}, Graph(1, ())))
    for settings, workload, brokers, field in (
        ({"echoes": 10}, None, 1, "settings.echoes"),
        ({"walk_ttl": 4}, None, 1, "settings.walk_ttl"),
        ({}, {"callers": 0}, 1, "workload.callers"),
        ({}, {}, 4, "workload.callers"),
    ):
        with pytest.raises(InvalidSetting) as caught:
            echo.check(echo.setup(settings, workload, Graph(brokers, ())))
        assert caught.value.field == field


@pytest.mark.parametrize("services", [None, model_of(reference(), SYSTEM)])
def test_in_virtual_time_every_call_is_answered_and_equal_seeds_give_equal_runs(tmp_path, services):
    first = simulate(deployed(tmp_path / "a"), services)
    assert first.digest == simulate(deployed(tmp_path / "b"), services).digest
    facts = list(read_journal(journal_path(tmp_path / "a")))
    assert [fact.process for fact in facts if isinstance(fact, Start)] == ["supervisor", "echo-0", "callers-0"]
    calls = asked(facts)
    assert len(calls) == pytest.approx(3 * 20, abs=3)
    assert {call.outcome for call in calls} == {"answered"}
    assert len({call.ended_us - call.intended_us for call in calls}) > 1 or services is None
    last = [fact for fact in facts if isinstance(fact, Tick) and fact.process == "echo-0"][-1]
    assert last.counters["said"] == 2 * last.counters["heard"]


def test_its_recording_replays_to_the_byte(tmp_path):
    simulate(deployed(tmp_path, record_mb=1))
    (replayed,) = replay_all(tmp_path / "journal")
    assert (replayed.begin.system, replayed.begin.process, replayed.difference) == ("echo", "echo-0", None)
    assert replayed.datagrams > 2 * 3 * 20


def test_the_command_simulates_it(tmp_path, capsys):
    spec = tmp_path / "echo.yaml"
    spec.write_text(json.dumps({"name": "hello", **CONFIGURATION, "topology": {"kind": "line", "brokers": 2}}))
    assert simulate_command.main([str(spec), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["answer_ratio"] == 1
    assert "hops" not in found
    assert found["measures"]["repeated"] > 0, "a measure of its own, from its deliveries"
    assert (found["service_times"], found["unmeasured"]) == ("default", ["echo", "callers"])
    assert simulate_command.main([str(spec)]) == 0
    assert "No measured service times for echo, callers: default costs are used." in capsys.readouterr().out


def test_callers_answer_at_once_if_only_servers_take_time(tmp_path, capsys):
    spec = tmp_path / "echo.yaml"
    line = {"topology": {"kind": "line", "brokers": 2}}

    def found(times):
        spec.write_text(json.dumps({"name": times, **CONFIGURATION, **line, "simulation": {"service_times": times}}))
        assert simulate_command.main([str(spec), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    both, of_servers = found("calibrated"), found("servers")
    assert (of_servers["unmeasured"], of_servers["answer_ratio"]) == (["echo"], 1)
    assert of_servers["p50_us"] < both["p50_us"]


def test_live_its_processes_are_launched_measured_and_gone(tmp_path):
    """Under a real supervisor, which learns of it by the environment."""
    root = str(Path(__file__).resolve().parents[2])
    with own_supervisor(**{VARIABLE: "tests.systems.echo:SYSTEM", "PYTHONPATH": root}) as client:
        document = document_of(
            "r1",
            tmp_path,
            brokers=1,
            settings={"echoes": 2},
            workload=CONFIGURATION["workload"],
            seed=5,
            system="echo",
        )
        client.deploy(document)
        ended = ("finished", "failed", "stopped")
        status = wait_for(lambda: (s := client.status("r1"))["phase"] in ended and s, "the run ends")
        assert (status["phase"], status["reason"]) == ("finished", "")
        assert [client["name"] for client in status["clients"]] == ["callers-0"]
    calls = asked(read_journal(tmp_path / "journal" / "callers-0.journal"))
    assert len(calls) == pytest.approx(3 * 20, abs=3)
    assert {call.outcome for call in calls} == {"answered"}
    ticks = [fact for fact in read_journal(tmp_path / "journal" / "echo-0.journal") if isinstance(fact, Tick)]
    assert ticks[-1].counters["said"] == 2 * ticks[-1].counters["heard"] >= 2 * len(calls)


def test_a_network_of_it_stays_up_and_is_pinged(tmp_path):
    root = str(Path(__file__).resolve().parents[2])
    with own_supervisor(**{VARIABLE: "tests.systems.echo:SYSTEM", "PYTHONPATH": root}) as client:
        document = document_of("n1", tmp_path, brokers=1, settings={}, workload={}, seed=5, system="echo")
        client.deploy({**document, "kind": "network", "workload": None, "lease_s": None})
        status = wait_for(lambda: (s := client.status("n1"))["phase"] == "running" and s, "the network runs")
        assert [broker["state"] for broker in status["brokers"]] == ["up"]
        told = overlay("echo", "call", status["brokers"][0]["address"], "--json")
        assert (told.returncode, json.loads(told.stdout)) == (0, {"said": "1"}), told.stderr


def overlay(*arguments, systems="tests.systems.echo:SYSTEM"):
    command = [sys.executable, "-m", "overlay", *arguments]
    environment = {**os.environ, VARIABLE: systems}
    root = Path(__file__).resolve().parents[2]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_its_commands_are_listed_with_those_of_other_systems():
    told = overlay("--help")
    assert "\necho:\n  call        call a server, and print its echo\n" in told.stdout
    assert "  put " in told.stdout
    wrong = overlay("echo", "shout")
    assert (wrong.returncode, wrong.stderr.splitlines()[0]) == (2, "overlay: 'shout' is not a command")


def test_commands_that_cannot_be_imported_are_named():
    told = overlay("echo", "call", systems="tests.systems.test_echo:WRONG")
    assert (told.returncode, told.stderr) == (
        2,
        "overlay: echo.programs: 'tests.systems.nowhere:COMMANDS' cannot be imported: "
        "No module named 'tests.systems.nowhere'\n",
    )


class WrongEcho(Echo):
    programs = "tests.systems.nowhere:COMMANDS"


WRONG = WrongEcho()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("tests.systems.echo", "must be MODULE:NAME"),
        ("tests.systems.nowhere:SYSTEM", "cannot be imported"),
        ("tests.systems.echo:Server", "is not a System"),
    ],
)
def test_an_environment_that_names_no_system_is_refused(text, sentence):
    with pytest.raises(InvalidSetting, match=sentence):
        register_systems({VARIABLE: text})


UNFINISHED = """
from overlay.systems.contract import System

class Unfinished(System):
    name = "unfinished"

SYSTEM = Unfinished()
"""


def test_an_unfinished_system_is_refused_with_what_it_lacks(monkeypatch, tmp_path):
    (tmp_path / "unfinished.py").write_text(UNFINISHED)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InvalidSetting, match=r"cannot be imported: .* abstract method.*\banswers_ping\b"):
        register_systems({VARIABLE: "unfinished:SYSTEM"})
    monkeypatch.delattr(Echo, "title")
    monkeypatch.delattr(Echo, "Workload")
    with pytest.raises(InvalidSetting, match=r"'tests\.systems\.echo:SYSTEM' has no title, Workload"):
        register_systems({VARIABLE: "tests.systems.echo:SYSTEM"})


def test_a_bug_in_a_system_does_not_end_the_supervisor_that_warms_it_up(echo, monkeypatch, tmp_path, capsys):
    def fails(*_, **__):
        raise ZeroDivisionError("a bug of a plug-in")

    monkeypatch.setattr(type(echo), "make_server", fails)
    rehearse(tmp_path)
    assert "a bug of a plug-in" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
