"""``python -m overlay keep`` with real brokers: it moves when its broker dies, and withdraws at the end."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from select import select

import pytest

from overlay.cli import commands
from overlay.core.addresses import parse_address
from overlay.programs.context_broker.client import ContextClient, NotFound
from tests.runtime.daemons import Daemon
from tests.thorough import thoroughly
from tests.waiting import BOUND_S

WHAT = ("--provider", "p1", "--type", "room", "--id", "r1", "--scope", "climate", "--payload", "degC=21.5")


@pytest.fixture
def daemons() -> Iterator[list[Daemon]]:
    found = [Daemon(), Daemon()]
    yield found
    for daemon in found:
        daemon.end()


def stored_at(process: subprocess.Popen[str]) -> str:
    """The next broker that it tells of."""
    assert process.stdout is not None
    assert select([process.stdout], [], [], BOUND_S)[0]
    return process.stdout.readline().removeprefix("stored at ").strip()


@thoroughly
def test_data_are_stored_at_another_broker_when_theirs_dies_and_withdrawn_at_the_end(daemons: list[Daemon]) -> None:
    listed = ",".join(daemon.text for daemon in daemons)
    command = [sys.executable, "-m", "overlay", "keep", "--bootstrap", listed, "--valid-ms", "60000", *WHAT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            first = stored_at(process)
            (other,) = [daemon.text for daemon in daemons if daemon.text != first]
            next(daemon for daemon in daemons if daemon.text == first).end()
            assert stored_at(process) == other
            client = ContextClient([parse_address(other)])
            assert client.ask(("room", "r1", "climate")).text == "degC=21.5"
            process.terminate()
            assert process.wait(BOUND_S) == 0
            with pytest.raises(NotFound):
                client.ask(("room", "r1", "climate"))
        finally:
            process.kill()


def test_without_a_live_broker_it_ends_with_3(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.main(["keep", "--bootstrap", "127.0.0.1:9", "--timeout", "0.2", *WHAT]) == 3
    assert capsys.readouterr().err == "overlay keep: no broker of the list has stored it in time\n"
    for wrong in (["--timeout", "0"], ["--valid-ms", "1"], ["--bootstrap", "nothere"], ["--by", "place"]):
        with pytest.raises(SystemExit, match="2"):
            commands.main(["keep", "--bootstrap", "127.0.0.1:9", *WHAT, *wrong])
