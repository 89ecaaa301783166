"""The command line against real brokers: what is printed, and with which code it ends."""

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable

import pytest

from overlay.core.addresses import parse_address
from overlay.programs.context_broker.client import ContextClient
from tests.runtime.daemons import Daemon, overlay, ring
from tests.waiting import BOUND_S

R1 = ("--type", "room", "--id", "r1", "--scope", "climate")
PUT = ("--provider", "p1", *R1)


def test_what_is_put_into_one_broker_is_got_from_its_neighbour(start_daemon: Callable[..., Daemon]) -> None:
    a, b = start_daemon("--seed", "1"), start_daemon("--brokers", "2")
    ring([a, b])
    assert overlay("put", a.text, *PUT, "--payload", "degC=21.5;humidity=40")[0] == 0
    code, output, _ = overlay("get", b.text, *R1, "--json")
    answer = json.loads(output)
    assert code == 0
    assert (answer["provider"], answer["text"]) == ("p1", "degC=21.5;humidity=40")
    assert answer["payload"] == {"degC": "21.5", "humidity": "40"}
    assert answer["broker"] == b.text
    assert answer["age_ms"] >= 0
    assert overlay("neighbors", a.text) == (0, f"neighbors      {b.text}\n", "")
    code, output, _ = overlay("stats", a.text, "--json")
    assert json.loads(output)["hits"] == 1


def test_a_payload_comes_from_standard_input_and_may_hold_the_separator(daemon: Daemon) -> None:
    assert overlay("put", daemon.text, *PUT, "--valid-ms", "60000", stdin="a|b|*|c\n")[0] == 0
    code, output, _ = overlay("get", daemon.text, *R1)
    assert code == 0
    assert "text           a|b|*|c\n" in output


def test_a_control_character_never_reaches_the_terminal(daemon: Daemon) -> None:
    overlay("put", daemon.text, *PUT, "--payload", "a=\x1b[31mred")
    assert "a=\\x1b[31mred" in overlay("get", daemon.text, *R1)[1]


def test_ping_leave_and_monitor_are_answered(daemon: Daemon) -> None:
    code, output, _ = overlay("ping", daemon.text, "--json")
    assert code == 0
    assert json.loads(output)["broker"] == daemon.text
    assert overlay("monitor", daemon.text) == (0, "monitoring     True\n", "")
    assert overlay("leave", daemon.text) == (0, "left           True\n", "")


def test_not_found_and_refused_end_with_1(daemon: Daemon) -> None:
    code, _, error = overlay("get", daemon.text, *R1)
    assert (code, error) == (1, f"overlay get: {daemon.text} found no valid data\n")
    code, output, _ = overlay("join", daemon.text, daemon.text, "--json")
    assert code == 1
    assert json.loads(output)["error"]["status"] == 201


def test_what_a_broker_holds_is_listed_watched_and_withdrawn(daemon: Daemon) -> None:
    overlay("put", daemon.text, *PUT, "--payload", "degC=21.5")
    overlay("put", daemon.text, *PUT, "--id", "r2", "--scope", "light", "--payload", "on\x1b")
    changes = ContextClient([parse_address(daemon.text)], BOUND_S).feed(wait_s=BOUND_S)
    assert {one.key[1] for one in next(changes)} == {"r1", "r2"}
    assert overlay("list", daemon.text) == (
        0,
        "p1         room       r1         climate    degC=21.5\np1         room       r2         light      on\\x1b\n",
        "",
    )
    code, output, _ = overlay("list", daemon.text, "--scope", "climate", "--type", "room", "--json")
    (entry,) = json.loads(output)["entries"]
    assert (code, entry["id"], entry["payload"], entry["is_replica"]) == (0, "r1", {"degC": "21.5"}, False)
    assert overlay("withdraw", daemon.text, *PUT) == (0, f"withdrawn      True\nbroker         {daemon.text}\n", "")
    assert [(one.change.name, one.key[1]) for one in next(changes)] == [("WITHDRAWN", "r1")]
    assert overlay("get", daemon.text, *R1)[0] == 1
    assert overlay("list", daemon.text, "--type", "room", "--scope", "climate") == (0, "", "")


def test_watching_ends_by_ctrl_c(daemon: Daemon) -> None:
    overlay("put", daemon.text, *PUT, "--payload", "degC=21.5")
    command = [sys.executable, "-m", "overlay", "watch", daemon.text, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as watch:
        assert watch.stdout is not None
        first = json.loads(watch.stdout.readline())
        watch.send_signal(signal.SIGINT)
        assert watch.wait(BOUND_S) == 0
    assert (first["change"], first["id"], first["text"]) == ("stored", "r1", "degC=21.5")


def test_no_answer_in_time_ends_with_3() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        code, _, error = overlay("ping", address, "--timeout", "0.3")
    assert (code, error) == (3, f"overlay ping: no answer from {address} within 0.3 s\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["ping", "nonsense"], "is not host:port"),
        (["ping", "127.0.0.1:9", "--timeout", "0"], "--timeout must be more than 0"),
        (["put", "127.0.0.1:9", *PUT, "--provider", "a|b", "--payload", "x"], "'a|b' is not a name"),
        (["put", "127.0.0.1:9", *PUT, "--payload", ""], "a payload has 1 to 60000 bytes"),
        (["put", "127.0.0.1:9", *PUT, "--payload", "x", "--valid-ms", "9" * 19], "a validity of 1e+19 ms ends after"),
        (["put", "127.0.0.1:9", *PUT, "--payload", b"a=\xff"], "byte 2 of this one is not"),
        (["get", "127.0.0.1:9", *R1, "--id", b"r\xff"], "is no character of UTF-8 text"),
        (["get", "127.0.0.1:9", "--type", "room"], "--id, --scope"),
        (["list", "127.0.0.1:9", "--timeout", "0"], "--timeout must be more than 0"),
        (["watch", "nonsense"], "is not host:port"),
        (["withdraw", "127.0.0.1:9", *R1], "--provider"),
        (["withdraw", "127.0.0.1:9", *PUT, "--provider", "a|b"], "'a|b' is not a name"),
        (["fly"], "'fly' is not a command"),
        (["broker"], "--bind"),
        (["broker", "--bind", "127.0.0.1:70000"], "is not a number from 1 to 65535"),
        (["broker", "--bind", "127.0.0.1:0", "--walk-ttl", "9999"], "--walk-ttl: must be at most 4000 hops, not 9999"),
        (["broker", "--bind", "127.0.0.1:0", "--walk-policy", "drunk"], "invalid choice: 'drunk'"),
        (["broker", "--bind", "127.0.0.1:0", "--trusted-networks", "all"], "--trusted-networks:"),
        (["broker", "--bind", "192.0.2.1:0"], "--bind: 192.0.2.1 can be reached from other machines"),
        (["broker", "--bind", "0.0.0.0:0", "--open"], "--address: required for a broker bound to 0.0.0.0"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what_was_wrong(arguments: list[str | bytes], sentence: str) -> None:
    code, output, error = overlay(*arguments)
    assert code == 2
    assert output == ""
    assert sentence in error


def test_the_usage_of_one_system_has_its_commands_only() -> None:
    code, output, error = overlay("silbops", "--help")
    assert (code, error) == (0, "")
    assert output.startswith("usage: python -m overlay silbops COMMAND ...\n\nsilbops:\n  subscribe ")
    assert output.endswith("\n\nFor details: python -m overlay silbops COMMAND --help\n")
    assert "contextnet" not in output
    code, nothing, error = overlay("silbops", "fly")
    assert (code, nothing, error) == (2, "", f"overlay: 'fly' is not a command\n{output}")


def test_a_port_in_use_ends_with_1_in_one_line(daemon: Daemon) -> None:
    code, output, error = overlay("broker", "--bind", daemon.text)
    assert (code, output) == (1, "")
    assert error == f"overlay broker: cannot bind {daemon.text}: Address already in use\n"
