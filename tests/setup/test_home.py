"""One house at a time, its port, and logs that stay small."""

import os
import signal
import socket
import subprocess
import sys

import pytest

from brokerweb.up.__main__ import check_port
from brokerweb.up.home import LOG_BYTES, AlreadyRunning, Home, PartLog, take_down
from overlay.errors import WaxwingError

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
    with pytest.raises(AlreadyRunning, match=rf"pid {holder.pid}\); `make down` ends it"), home.claim():
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
    assert take_down(Home(tmp_path)) == f"ended everything that pid {holder.pid} ran"
    assert take_down(Home(tmp_path)) == "nothing was running here"


def test_where_nothing_ever_ran_there_is_nothing_to_take_down(tmp_path):
    assert take_down(Home(tmp_path / "nowhere")) == "nothing was running here"
    assert not (tmp_path / "nowhere").exists()


def test_a_port_in_use_is_said_with_a_way_out():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(WaxwingError, match=rf"port {port} is in use by another program; .*make up PORT={port + 1}"):
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
