"""The command: its arguments, its file of settings, its end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from select import select
from typing import Any

import pytest

from brokerweb.up.environment import find_mosquitto
from overlay.core.errors import InvalidSetting
from overlay.programs.context_broker.mqtt import command
from overlay.programs.context_broker.mqtt.options import PASSWORD, PASSWORD_FILE, USERNAME, read_options
from tests.mqtt import mosquitto
from tests.mqtt.mosquitto import Mosquitto
from tests.runtime.daemons import Daemon
from tests.thorough import thoroughly
from tests.waiting import BOUND_S

GOOD = {"mqtt": "mqtt://127.0.0.1", "brokers": "127.0.0.1:4000", "in": "c/{type}/{entity}/{scope}"}


def test_options() -> None:
    found = read_options(GOOD, {}, "host")
    assert found.server.url == "mqtt://127.0.0.1:1883" and found.brokers.read().brokers == (("127.0.0.1", 4000),)
    assert found.server.client_id.startswith("waxwing-host-")
    assert found.server.client_id == read_options(GOOD, {}, "host").server.client_id
    assert (
        found.server.client_id
        != read_options({**GOOD, "out": "c/{type}/{entity}/{scope}"}, {}, "host").server.client_id
    )
    assert read_options({**GOOD, "mqtt": "mqtts://h"}, {}, "host").server.url == "mqtts://h:8883"


def test_secrets_come_from_the_environment_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("from a file\n")
    one = read_options(GOOD, {USERNAME: "u", PASSWORD: "p"}, "host").server
    assert (one.username, one.password) == ("u", "p")
    one = read_options(GOOD, {USERNAME: "u", PASSWORD_FILE: str(tmp_path / "secret")}, "host").server
    assert one.password == "from a file"


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"mqtt": None}, "mqtt"),
        ({"mqtt": "http://h"}, "mqtt"),
        ({"mqtt": "mqtt://h:99999"}, "mqtt"),
        ({"mqtt": "mqtt://u:p@h"}, "mqtt"),
        ({"brokers": "nowhere"}, "brokers"),
        ({"brokers": None}, "brokers"),
        ({"bootstrap": "x.txt"}, "brokers"),
        ({"brokers": None, "bootstrap": "not a list"}, "bootstrap"),
        ({"protocol": 4}, "protocol"),
        ({"keepalive_s": 0}, "keepalive_s"),
        ({"client_id": "x" * 300}, "client_id"),
        ({"status_topic": "a/#"}, "status_topic"),
        ({"tls": {"ca": "/nowhere"}}, "tls"),
        ({"mqtt": "mqtts://h", "tls": {"ca": "/nowhere"}}, "tls.ca"),
        ({"mqtt": "mqtts://h", "tls": {"key": "k"}}, "tls.certificate"),
        ({"mqtt": "mqtts://h", "tls": ["k"]}, "tls"),
        ({"password_file": "/nowhere"}, "password_file"),
        ({"in": "c/{type}"}, "in.pattern"),
        ({"unknown": 1}, "unknown"),
    ],
)
def test_wrong_options_are_refused_with_their_field(document: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        read_options({**GOOD, **document}, {}, "host")
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "mqtt: must be mqtt://HOST:PORT"),
        (["--config", "/nowhere"], "config: /nowhere: No such file"),
        (["--mqtt", "mqtt://h", "--brokers", "127.0.0.1:1"], "in: a bridge needs a pattern"),
        (["--mqtt", "mqtt://h", "--brokers", "127.0.0.1:1", "--in", "a/{entity}", "--type", "t"], "needs {scope}"),
        (["--status-s", "0"], "--status-s must be from"),
    ],
)
def test_wrong_usage_is_one_line(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        command.main(arguments)
    error = capsys.readouterr().err
    assert caught.value.code == 2 and said in error and error.count("\n") == 1


def test_flags_override_the_file_and_constants_fill_patterns(tmp_path: Path) -> None:
    file = tmp_path / "bridge.yaml"
    file.write_text("mqtt: mqtt://one\nbootstrap: http://h/list\nin: a/{type}/{entity}/{scope}\nvalid_ms: 5\n")
    arguments = ["--config", str(file), "--mqtt", "mqtt://two", "--brokers", "127.0.0.1:1", "--valid-ms", "7"]
    arguments += ["--in", "x/{entity}", "--in", "y/{scope}/{entity}", "--type", "room", "--scope", "temp"]
    document = command._document(command.make_parser().parse_args(arguments))
    assert document == {
        "mqtt": "mqtt://two",
        "brokers": "127.0.0.1:1",
        "valid_ms": 7,
        "in": [
            {"pattern": "x/{entity}", "type": "room", "scope": "temp"},
            {"pattern": "y/{scope}/{entity}", "type": "room"},
        ],
    }


@thoroughly
@pytest.mark.skipif(find_mosquitto() is None, reason="Mosquitto is missing and could not be installed")
def test_a_process_is_ready_reports_and_ends(tmp_path: Path) -> None:
    server, broker = Mosquitto(tmp_path), Daemon()
    server.start()
    document = {"mqtt": server.url, "tls": server.tls, "brokers": [broker.text], "in": GOOD["in"], "out": GOOD["in"]}
    (tmp_path / "bridge.yaml").write_text(json.dumps(document))
    arguments = [sys.executable, "-m", "overlay", "mqtt-bridge", "--config", str(tmp_path / "bridge.yaml"), "--json"]
    secrets = {USERNAME: mosquitto.USER, PASSWORD: mosquitto.PASSWORD}
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env={"PATH": "/usr/bin", **secrets}) as bridge:
        try:
            assert bridge.stdout is not None and select([bridge.stdout], [], [], BOUND_S)[0]
            assert bridge.stdout.readline().startswith("ready waxwing-")
            bridge.send_signal(signal.SIGTERM)
            rest = bridge.stdout.read()
            assert bridge.wait(BOUND_S) == 0
            assert json.loads(rest.splitlines()[-1])["state"] == "offline"
        finally:
            bridge.kill()
            broker.end()
            server.stop()
