"""A network as its users have it: servers and clients run the compiled hot paths. Other tests run plain Python."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from overlay.compiled.build import build, is_built, obstacle
from overlay.compiled.finder import SWITCH, place
from tests.conftest import ROOT
from tests.runtime.hosts import Host, pids
from tests.thorough import thoroughly
from tests.waiting import BOUND_S, wait_for

COMPILED = {**os.environ, SWITCH: "1"}
CHAIN = {"brokers": 3, "links": [{"a": 0, "b": 1}, {"a": 1, "b": 2}]}


@pytest.fixture
def host(tmp_path):
    if not is_built():
        build()
    host = Host(tmp_path).start(env=COMPILED)
    yield host
    host.process.kill()
    host.process.communicate()


def command(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "overlay", "federation", *arguments],
        cwd=ROOT,
        env=COMPILED,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@thoroughly
@pytest.mark.skipif(bool(obstacle()), reason=obstacle() or "none")
def test_a_compiled_federation_starts_notifies_and_stops(host):
    status = host.deploy(host.network(system="federation", topology=CHAIN, settings={}))
    assert [one["name"] for one in status["brokers"]] == ["broker-0", "broker-1", "broker-2", "bdrs-0"]
    assert all(str(place()) in Path(f"/proc/{pid}/maps").read_text() for pid in pids(status))
    *_, last, service = [one["address"] for one in status["brokers"]]

    with command("provide", service, "--service", "climate", "--entity", "r17") as provider:  # at the first broker
        provider.stdin.write('{"t": 26.5}\n')
        provider.stdin.flush()
        assert provider.stdout.readline().startswith("accepted")
        with command("subscribe", last, "climate", "--where", "t > 20", "--once", "--count", "1", "--json") as consumer:
            found, _ = consumer.communicate(timeout=BOUND_S)
        provider.send_signal(signal.SIGINT)
    assert json.loads(found)["data"] == {"t": 26.5}

    host.client.stop("net", 1, "done")
    stopped = host.phase("net", "stopped")
    wait_for(lambda: not pids(host.client.status("net")), "no process is left")
    assert {(one["state"], one["restarts"], one["reason"]) for one in stopped["brokers"]} == {("stopped", 0, "exit 0")}
    assert host.end() == 0
