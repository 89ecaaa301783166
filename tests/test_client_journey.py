"""The first five minutes of docs/clients.md with the real command and real processes: data in and out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT, Stack
from tests.thorough import thoroughly
from tests.waiting import BOUND_S
from waxwing import Client
from waxwing.udp import BrokerClient

pytestmark = [pytest.mark.stack, thoroughly]

Typed = Callable[..., str]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    source = str(ROOT / "clients" / "python" / "src")
    return {**os.environ, "PYTHONPATH": source, "WAXWING_CONFIG": str(tmp_path / "config.toml")}


@pytest.fixture
def typed(stack: Stack, environment: dict[str, str]) -> Typed:
    """``waxwing ARGUMENTS`` in a process; its output."""

    def typed(*arguments: str, code: int = 0, stdin: str = "") -> str:
        command = [sys.executable, "-m", "waxwing", *arguments]
        done = subprocess.run(
            command, env=environment, input=stdin, capture_output=True, text=True, timeout=BOUND_S, check=False
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    typed("login", "--url", stack.url, stdin=f"{stack.username}\n{stack.password}\n")
    return typed


def test_data_goes_in_and_out_by_every_way(
    typed: Typed, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ring = json.loads(typed("topologies", "create", "-f", "name=five", "-f", "kind=ring", "-f", "brokers=5", "--json"))
    typed("networks", "create", "-f", "name=plant", "-f", f"topology={ring['id']}")
    assert "running" in typed("networks", "wait", "plant")
    at = ("--network", "plant")
    typed("put", "room", "r1", "temp", "degC=21.5", *at, "--provider", "sensor-1")
    watching = subprocess.Popen(
        [sys.executable, "-m", "waxwing", "watch", *at, "--snapshot", "--q", "degC > 20", "--count", "2"],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert watching.stdout is not None
    assert watching.stdout.readline().split()[:3] == ["snapshot", "room", "r1"]
    assert json.loads(typed("get", "room", "r1", "temp", *at, "--json"))["payload"] == {"degC": "21.5"}
    assert [one["entity"] for one in json.loads(typed("list", *at, "--json"))] == ["r1"]
    monkeypatch.setenv("WAXWING_CONFIG", environment["WAXWING_CONFIG"])
    with Client() as waxwing:
        network = waxwing.networks.find("plant")
        with BrokerClient(waxwing.networks.bootstrap(network.id)) as brokers:
            assert brokers.ask("room", "r1", "temp").payload == {"degC": "21.5"}
            brokers.provide("sensor-2", "room", "r2", "temp", {"degC": 30})
        assert waxwing.context(network.id).get("room", "r2", "temp", wait_s=60).payload == {"degC": "30"}
    rest, _ = watching.communicate(timeout=BOUND_S)
    assert [line.split()[:3] for line in rest.splitlines()] == [["stored", "room", "r2"]]
    typed("delete", "room", "r1", "temp", *at)
    typed("get", "room", "r1", "temp", *at, code=1)
    typed("networks", "stop", "plant")
    typed("networks", "--url", "http://127.0.0.1:1", code=4)
