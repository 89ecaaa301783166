"""A client for programs and its commands, with a real server: registered, told, told of, gone."""

from __future__ import annotations

import json
import queue
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from overlay.core.addresses import format_address
from overlay.programs.radiator import commands
from overlay.programs.radiator.client import NoAnswer, RadiatorClient, Refused
from overlay.systems.radiator.context import MalformedContext
from overlay.systems.radiator.middleware.middleware import Misuse
from tests.waiting import BOUND_S, wait_for

ROOT = Path(__file__).resolve().parents[2]


def started(server, *options):
    """A process of ``receive`` that has registered as printer. It ends if its test does not end it."""
    receive = ["receive", format_address(server), "--id", "printer", "--seconds", str(BOUND_S), *options]
    receiving = subprocess.Popen(
        [sys.executable, "-m", "overlay", "radiator", *receive],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert receiving.stderr.readline() == "registered as printer\n"
    return receiving


def test_two_contexts_arrive_as_one_at_another_client(server):
    arrived = queue.Queue()
    with (
        RadiatorClient(server, "bob", arrived.put, {"floor": 2}, is_p2p=True),
        RadiatorClient(server, "alice") as alice,
    ):
        alice.propagate(["alice"], {"location": "Joe's Pub"}, 1_000, 2_000)
        alice.propagate(["alice", "eve"], {"location": "The Bar"}, 3_000)
        found = arrived.get(timeout=BOUND_S)
    assert (found.n, found.people, (found.start, found.end)) == (2, ("alice", "eve"), (1_000, 3_000))
    assert found.attributes == {"location": ["Joe's Pub", "The Bar"]}


def test_an_id_is_taken_while_its_client_is_registered(server):
    with RadiatorClient(server, "carol"), pytest.raises(Refused, match="at this address has this id"):  # noqa: SIM117
        with RadiatorClient(server, "carol"):
            pass
    with RadiatorClient(server, "carol") as again:
        again.propagate(["carol"], {})


def test_what_is_malformed_is_not_sent(server):
    with RadiatorClient(server, "dave") as dave:
        for people, attributes in (([], {}), (["dave"], {"x": float("nan")})):
            with pytest.raises(MalformedContext):
                dave.propagate(people, attributes)
    with pytest.raises(Misuse), RadiatorClient(server, "d" * 300):
        pass


def test_a_silent_server_is_named():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        address = silent.getsockname()
        with pytest.raises(NoAnswer, match=format_address(address)), RadiatorClient(address, "alice", deadline_s=0.3):
            pass
        told = ["propagate", [format_address(address), "--deadline", "0.3"]]
        assert commands.main(*told) == commands.UNANSWERED


def test_the_commands_send_and_print_contexts(server, capsys):
    receiving = started(server, "--count", "1")
    for speed in (50, 60):
        sent = [format_address(server), "--people", "alice", "--attributes", json.dumps({"speed": speed})]
        assert commands.main("propagate", [*sent, "--from", "5", "--to", "9"]) == 0
    out, _ = receiving.communicate(timeout=BOUND_S)
    assert capsys.readouterr().out == "accepted\n" * 2
    assert json.loads(out) == {"a": {"speed": [50, 60]}, "n": 2, "p": ["alice"], "t": [5, 9]}
    assert receiving.returncode == 0


def test_a_receiver_that_is_stopped_or_no_longer_read_gives_its_id_back(server):
    stopped = started(server)
    stopped.terminate()
    stopped.communicate(timeout=BOUND_S)
    assert stopped.returncode == commands.STOPPED
    unread = started(server)
    unread.stdout.close()
    with RadiatorClient(server, "alice") as alice:
        wait_for(lambda: alice.propagate(["alice"], {}) or unread.poll() is not None, "the receiver did not end")
    assert unread.returncode == commands.DONE
    with unread, RadiatorClient(server, "printer"):
        assert unread.stderr.read() == ""


def test_answers_and_errors_are_json_for_machines(server, capsys):
    address = format_address(server)
    assert commands.main("propagate", [address, "--json"]) == commands.DONE
    assert json.loads(capsys.readouterr().out) == {"result": "accepted"}
    with RadiatorClient(server, "cli"):
        for command in ("propagate", "receive"):
            assert commands.main(command, [address, "--json"]) == commands.FAILED
            error = json.loads(capsys.readouterr().out)["error"]
            assert (error["code"], "has this id" in error["sentence"]) == ("refused", True)
    assert commands.main("clients", ["127.0.0.1:1", "--json", "--deadline", "1"]) == commands.UNANSWERED
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "no_answer"


@pytest.mark.parametrize(
    ("command", "arguments", "sentence"),
    [
        ("propagate", ["nowhere"], "ADDRESS"),
        ("propagate", ["127.0.0.1:1", "--attributes", "[1]"], "must be a JSON object"),
        ("propagate", ["127.0.0.1:1", "--attributes", "{"], "is no JSON"),
        ("receive", ["127.0.0.1:1", "--count", "0"], "whole number from 1"),
        ("receive", ["127.0.0.1:1", "--seconds", "-1"], "seconds above 0"),
        ("gateway", ["127.0.0.1:1", "--per-address", "0"], "whole number from 1"),
    ],
)
def test_wrong_usage_is_said_in_one_line(command, arguments, sentence, capsys):
    with pytest.raises(SystemExit) as ended:
        commands.main(command, arguments)
    assert ended.value.code == commands.WRONG_USAGE
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1
