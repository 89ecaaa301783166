"""One house at a time, its port, and logs that stay small."""

import os
import signal
import socket
import subprocess
import sys

import pytest

from brokerweb.up.__main__ import check_port
from brokerweb.up.home import LOG_BYTES, AlreadyRunning, Home, PartLog, take_down
from overlay.core.errors import WaxwingError
from tests.disks import small_disk

HOLD = """
import sys, time
from pathlib import Path
from brokerweb.up.home import Home
with Home(Path(sys.argv[1])).claim():
    print("mine", flush=True)
    time.sleep(1000)
"""


@pytest.fixture
def holder(tmp_path):
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "mine\n"
    yield holder
    holder.kill()
    holder.communicate()


def test_a_second_one_says_who_is_there(tmp_path, holder):
    home = Home(tmp_path)
    with pytest.raises(AlreadyRunning, match=rf"pid {holder.pid}\); stop it with `make down`"), home.claim():
        pass
    assert home.owner() == holder.pid


def test_a_killed_one_is_in_nobodys_way(tmp_path, holder):
    holder.send_signal(signal.SIGKILL)
    holder.wait(10)
    home = Home(tmp_path)
    assert home.owner() is None
    with home.claim():
        assert home.pid_file.read_text() == str(os.getpid())
    assert home.owner() is None


def test_taking_down_says_what_it_did_and_may_be_done_twice(tmp_path, holder):
    assert take_down(Home(tmp_path)) == f"stopped pid {holder.pid} and all its processes"
    assert take_down(Home(tmp_path)) == "nothing was running here"


def test_where_nothing_ever_ran_there_is_nothing_to_take_down(tmp_path):
    assert take_down(Home(tmp_path / "nowhere")) == "nothing was running here"
    assert not (tmp_path / "nowhere").exists()


def test_a_port_in_use_is_said_with_a_way_out():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(WaxwingError, match=rf"port {port} is in use by another program. .*make up PORT={port + 1}"):
            check_port(port)
    assert check_port(0) > 0


def test_a_log_is_bounded_however_much_is_said(tmp_path):
    log = PartLog(tmp_path / "web.log")
    for _ in range(60):
        log.add(b"x" * 250_000)
    log.close()
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert set(sizes) == {"web.log", "web.log.1"}
    assert all(size <= LOG_BYTES for size in sizes.values())


def test_a_line_that_comes_in_pieces_is_shown_once_and_whole(tmp_path):
    log = PartLog(tmp_path / "web.log")
    assert log.add(b"12:00 ERR") == []
    assert log.add(b"OR disk full\nfine") == ["12:00 ERROR disk full"]
    assert log.last_line == "12:00 ERROR disk full"
    log.close()


def test_a_log_on_a_full_disk_loses_what_is_said_and_says_how_much_once_there_is_room(tmp_path):
    with small_disk(tmp_path / "disk", 1) as disk:
        log, other = (PartLog(disk.path / f"{name}.log") for name in ("web", "worker"))
        log.add(b"before\n")
        disk.fill()
        assert log.add(b"x" * 100_000 + b"\n12:00 ERROR seen by whoever looks\n") == [
            "12:00 ERROR seen by whoever looks"
        ]
        other.add(b"it could not even be made\n")
        disk.make_room()
        for one in (log, other):
            one.add(b"after\n")
            one.close()
        lines = log._path.read_bytes().splitlines()
        assert lines[0] == b"before"
        assert lines[-1] == b"after"
        assert b"bytes could not be written here]" in lines[-2]
        assert other._path.read_bytes().endswith(b"[26 bytes could not be written here]\nafter\n")


def test_a_log_that_was_to_be_turned_over_on_a_full_disk_stays_bounded(tmp_path):
    with small_disk(tmp_path / "disk", 16) as disk:
        log = PartLog(disk.path / "web.log")
        for _ in range(19):
            log.add(b"x" * 250_000 + b"\n")
        disk.fill()
        for _ in range(40):
            log.add(b"y" * 250_000 + b"\n")
        disk.make_room()
        log.add(b"after\n")
        log.close()
        assert (disk.path / "web.log").read_bytes().endswith(b"bytes could not be written here]\nafter\n")
        assert all(path.stat().st_size <= LOG_BYTES for path in disk.path.iterdir())
