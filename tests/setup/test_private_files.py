"""What lies under ``var/`` is its owner's alone, whatever the umask of who starts Waxwing."""

import os
import socket
import stat
import subprocess

import pytest

from brokerweb.secret import keep_private, tighten
from brokerweb.up.home import Home
from brokerweb.up.parts import preparations

OTHERS = 0o077


def open_to_others(var):
    """Everything in it, and itself, that others may read, write or pass; a link says nothing of what it leads to."""
    paths = [var, *(path for path in var.rglob("*") if not path.is_symlink())]
    return [str(path.relative_to(var)) for path in paths if stat.S_IMODE(path.stat().st_mode) & OTHERS]


@pytest.fixture
def careless():
    before = os.umask(0)
    yield
    os.umask(before)


def test_rows_secrets_and_the_log_in_are_private_from_their_first_moment(tmp_path):
    var = tmp_path / "var"
    environment = {**os.environ, "WAXWING_VAR": str(var)}
    environment.pop("REDIS_URL", None)
    for part in preparations():
        done = subprocess.run(part.command, env=environment, umask=0, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
    assert {"waxwing.sqlite3", "secret_key", "operator.json"} <= {path.name for path in var.iterdir()}
    assert open_to_others(var) == []


def test_what_an_older_version_left_open_is_closed(tmp_path, careless, monkeypatch):
    var = tmp_path / "var"
    for name in ("waxwing.sqlite3", "waxwing.sqlite3-wal", "operator.json", "log/web.log", "redis/redis.conf",
                 "redis/appendonlydir/appendonly.aof.1.incr.aof"):  # fmt: skip
        (var / name).parent.mkdir(parents=True, exist_ok=True)
        (var / name).write_text("hush")
    with socket.socket(socket.AF_UNIX) as door:
        monkeypatch.chdir(var)  # a socket's path has room for 107 bytes
        door.bind("supervisor.sock")
    assert len(open_to_others(var)) > 8
    with Home(var).claim():
        assert open_to_others(var) == []
        assert stat.S_IMODE(var.stat().st_mode) == 0o700


def test_what_is_made_from_then_on_is_private(tmp_path, careless):
    keep_private(tmp_path / "var")
    (tmp_path / "var" / "runs").mkdir()
    (tmp_path / "var" / "runs" / "journal").write_text("facts")
    assert open_to_others(tmp_path / "var") == []
    tighten(tmp_path / "nowhere")
