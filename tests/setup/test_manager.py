"""The process manager of ``make up``, with toy parts: what dies comes back, and at the end nothing is left."""

import os
import signal
import subprocess
import sys

import pytest

from tests.waiting import BOUND_S, is_alive, wait_for

STAYS = "echo $$ >> {pids}; exec sleep 1000"
STUBBORN = "trap '' TERM; echo $$ >> {pids}; while :; do sleep 1; done"
WITH_OFFSPRING = "sleep 1000 & echo $! >> {pids}; echo $$ >> {pids}; wait"


class Toy:
    """A house of toy parts."""

    def __init__(self, directory):
        self.directory = directory
        self.pid_file = directory / "pids"
        self.process = None

    def start(self, **parts):
        commands = [f"{name}={command.format(pids=self.pid_file)}" for name, command in parts.items()]
        command = [sys.executable, "-m", "tests.setup.toy", str(self.directory), *commands]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        return self

    def pids(self, count):
        """What the parts said they are, once there are so many of them."""

        def read():
            found = self.pid_file.read_text().split() if self.pid_file.exists() else []
            return [int(pid) for pid in found] if len(found) >= count else None

        return wait_for(read, f"{count} processes have started")

    def said(self):
        return self.process.communicate(timeout=BOUND_S)[1]


@pytest.fixture
def toy(tmp_path):
    toy = Toy(tmp_path)
    yield toy
    if toy.process.poll() is None:
        toy.process.terminate()
        toy.said()


def test_a_part_that_was_killed_comes_back_and_the_reason_is_said(toy):
    toy.start(web=STAYS)
    os.kill(toy.pids(1)[0], signal.SIGKILL)
    first, second = toy.pids(2)
    assert not is_alive(first)
    assert is_alive(second)
    toy.process.terminate()
    assert "web: killed by SIGKILL; started again" in toy.said()
    assert toy.process.returncode == 0
    assert not is_alive(second)


def test_a_part_that_keeps_dying_ends_the_house_with_its_name_and_last_words(toy):
    toy.start(web=STAYS, worker="echo no queue here; exit 3")
    assert toy.said().splitlines()[-1] == (
        "worker failed: restarted 5 times within 10 s, the last time it ended by: exit 3; its last words: no queue here"
    )
    assert toy.process.returncode == 1
    assert not is_alive(toy.pids(1)[0])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_asked_to_end_it_takes_parts_and_their_offspring_with_it(toy, number):
    toy.start(web=STAYS, worker=WITH_OFFSPRING)
    pids = toy.pids(3)
    toy.process.send_signal(number)
    assert toy.process.wait(BOUND_S) == 0
    toy.said()
    assert not any(map(is_alive, pids))


def test_a_part_that_ignores_sigterm_is_killed(toy):
    toy.start(web=STUBBORN)
    pids = toy.pids(1)
    toy.process.terminate()
    assert toy.process.wait(BOUND_S) == 0
    toy.said()
    assert not any(map(is_alive, pids))


@pytest.mark.parametrize("command", [STAYS, STUBBORN])
def test_killed_outright_it_leaves_nothing_behind(toy, command):
    toy.start(web=command, worker=WITH_OFFSPRING)
    pids = toy.pids(3)
    toy.process.kill()
    toy.said()
    wait_for(lambda: not any(map(is_alive, pids)), "every part is gone")


def test_what_a_part_says_is_kept_and_its_warnings_are_shown(toy):
    toy.start(web="echo all well; echo 12:00 WARNING disk is nearly full; " + STAYS)
    toy.pids(1)
    log = toy.directory / "log" / "web.log"
    wait_for(lambda: log.read_text().count("\n") == 2, "the log has both lines")
    toy.process.terminate()
    said = toy.said()
    assert "web: 12:00 WARNING disk is nearly full" in said
    assert "all well" not in said


def test_a_part_that_runs_once_and_fails_is_named_with_its_last_words(toy):
    toy.start(web=STAYS, migrate="once:echo no such table; exit 2")
    assert toy.said().splitlines()[-1] == "migrate failed: exit 2; its last words: no such table"
    assert toy.process.returncode == 1
