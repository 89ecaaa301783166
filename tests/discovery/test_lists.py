"""Bootstrap lists as arguments of commands, and brokers that join by one; with real processes."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from email.message import Message
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.error import HTTPError

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.cli import commands
from overlay.core.addresses import format_address
from overlay.programs import Command, bootstrap_lists
from overlay.programs.bootstrap_lists import RENEW_S, BadList, Listed, parse_list, source_of
from tests.broker.strategies import addresses
from tests.runtime.daemons import Daemon
from tests.thorough import examples
from tests.waiting import wait_for

R1 = ("--type", "room", "--id", "r1", "--scope", "climate")
DEAD = "127.0.0.1:9"


@pytest.fixture
def overlay(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """``python -m overlay ARGUMENTS`` in this process: exit code, standard output, standard error."""

    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            code = commands.main(list(arguments))
        except SystemExit as end:
            code = int(end.code or 0)
        return code, *capsys.readouterr()

    return run


Overlay = Callable[..., tuple[int, str, str]]


@pytest.fixture
def start_daemon() -> Iterator[Callable[..., Daemon]]:
    daemons: list[Daemon] = []

    def start(*flags: str) -> Daemon:
        daemons.append(Daemon(*flags))
        return daemons[-1]

    yield start
    for daemon in daemons:
        daemon.end()


@settings(max_examples=examples(100))
@given(st.lists(addresses, unique=True, max_size=5))
def test_what_is_written_as_text_or_json_is_read(brokers: list[tuple[str, int]]) -> None:
    lines = list(map(format_address, brokers))
    assert parse_list("".join(f"{line}\n" for line in lines).encode()) == Listed(tuple(brokers))
    rows = [{"address": line, "health": "healthy"} for line in lines]
    rows.append({"address": DEAD, "health": "silent"})
    told = json.dumps({"renew_after_s": 5, "brokers": rows}).encode()
    assert parse_list(told) == Listed(tuple(brokers), 5.0)


@settings(max_examples=examples(200))
@given(st.binary(max_size=60) | st.text('{}[]":,0127.addresbrokl\n', max_size=40).map(str.encode))
def test_anything_else_is_refused_with_a_sentence(data: bytes) -> None:
    try:
        found = parse_list(data)
    except BadList as error:
        assert str(error)
    else:
        assert found.renew_after_s == RENEW_S or b"renew" in data


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"# brokers\n", "line 1: address '# brokers' is not host:port"),
        (b"127.0.0.1:7000\n\nhost:7000\n", "line 3: host 'host' is not a numeric address"),
        (b'{"brokers": 1}', "the list is not the JSON of a bootstrap list"),
        (b"\xff", "the list is not UTF-8 text"),
        (b"1" * 1_000_001, "the list has more than 1,000,000 bytes"),
    ],
)
def test_the_place_of_an_error_is_named(data: bytes, sentence: str) -> None:
    with pytest.raises(BadList, match=sentence.replace("'", ".")):
        parse_list(data)


def test_commands_use_the_live_brokers_of_a_list(
    start_daemon: Callable[..., Daemon], overlay: Overlay, tmp_path: Path
) -> None:
    daemon, path = start_daemon(), tmp_path / "brokers.txt"
    path.write_text(f"{DEAD}\n{daemon.text}\n")
    put = overlay("put", "--bootstrap", str(path), "--provider", "p1", *R1, "--payload", "degC=21.5")
    assert put[0] == 0, put
    code, output, _ = overlay("get", f"--bootstrap={DEAD},{daemon.text}", *R1, "--json")
    assert (code, json.loads(output)["broker"]) == (0, daemon.text)
    assert json.loads(overlay("list", "--bootstrap", str(path), "--json")[1])["broker"] == daemon.text
    code, _, error = overlay("ping", "--bootstrap", DEAD, "--timeout", "0.2")
    assert (code, error) == (3, f"overlay ping: none of the 1 brokers of {DEAD} has answered\n")
    code, _, error = overlay("ping", "--bootstrap", "nothere.txt")
    assert (code, error.startswith("overlay ping: --bootstrap: 'nothere.txt' is no file, no URL")) == (2, True)
    assert overlay("ping", "--bootstrap", DEAD, daemon.text)[0] == 2, "both"


def test_brokers_join_by_a_list_from_a_url_and_find_each_other(
    start_daemon: Callable[..., Daemon], overlay: Overlay
) -> None:
    listed: list[str] = []

    class Lists(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if listed else 503)
            self.end_headers()
            self.wfile.write("".join(f"{one}\n" for one in listed).encode())

        def log_message(self, *_: object) -> None:
            """Not on standard error."""

    with HTTPServer(("127.0.0.1", 0), Lists) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/bootstrap.txt"
        first = start_daemon()
        listed += [DEAD, first.text]
        others = [start_daemon("--bootstrap", url), start_daemon("--bootstrap", first.text)]

        def neighbours(daemon: Daemon) -> list[str]:
            found: list[str] = json.loads(overlay("neighbors", daemon.text, "--json")[1])["neighbors"]
            return found

        wait_for(lambda: sorted(neighbours(first)) == sorted(one.text for one in others), "both have joined")
        assert overlay("put", others[0].text, "--provider", "p1", *R1, "--payload", "degC=21.5")[0] == 0
        assert overlay("get", others[1].text, *R1)[0] == 0
        assert others[1].stop() == 0
        wait_for(lambda: others[1].text not in neighbours(first), "one has left")
        server.shutdown()
        thread.join()


def test_a_list_that_is_none_is_wrong_usage(overlay: Overlay) -> None:
    code, _, error = overlay("broker", "--bind", "127.0.0.1:0", "--bootstrap", "brokers")
    assert (code, error.startswith("overlay broker: --bootstrap: 'brokers' is no file, no URL")) == (2, True)
    with pytest.raises(BadList):
        source_of(" ")


def test_a_list_that_needs_a_token_says_where_to_put_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise HTTPError("http://w/bootstrap.txt", 401, "Unauthorized", Message(), None)

    monkeypatch.setattr(bootstrap_lists, "urlopen", refused)
    with pytest.raises(BadList, match="Unauthorized; set WAXWING_TOKEN to a token that may read the network"):
        source_of("http://w/bootstrap.txt").read()


def test_a_command_whose_package_is_missing_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def load() -> Callable[[list[str]], int]:
        raise ModuleNotFoundError("No module named 'paho'", name="paho")

    monkeypatch.setattr(commands, "find", lambda _: (Command("bridges", load), []))
    with pytest.raises(SystemExit, match="the package paho is missing"):
        commands.main(["mqtt-bridge"])


def test_a_command_of_every_system_whose_package_is_missing_names_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(_: str) -> Callable[[list[str]], int]:
        raise ModuleNotFoundError("No module named 'defusedxml'", name="defusedxml")

    monkeypatch.setattr(commands, "_own", load)
    with pytest.raises(SystemExit, match="the package defusedxml is missing"):
        commands.main(["simulate"])
