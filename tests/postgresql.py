"""A PostgreSQL server of one's own, and what runs on it: ``python -m tests.postgresql pytest tests/brokerweb``.

The server is Debian's, in a temporary directory, reached by a Unix socket that only this user can open, and gone when
the command ends. It refuses to run as root, so it runs as the user ``postgres`` then.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from brokerweb.up.environment import ROOT, find_postgresql
from overlay.runtime.lifeline import LIFELINE_FD
from tests.waiting import BOUND_S, wait_for

INITDB = ("--encoding=UTF8", "--locale=C.UTF-8")
"""Names in the order of their characters, as SQLite has them; the compose file makes its database by the same words."""
# What is lost with the machine is a test's.
FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


class NoServer(Exception):
    """There is no PostgreSQL server here, and why."""


@contextmanager
def server() -> Iterator[str]:
    """The ``DATABASE_URL`` of a server that runs until the block ends. Raises ``NoServer``."""
    programs = find_postgresql()
    if programs is None:
        raise NoServer("PostgreSQL's server is not installed (Debian and Ubuntu: apt-get install postgresql)")
    with tempfile.TemporaryDirectory(prefix="waxwing-pg-", ignore_cleanup_errors=True) as name:
        directory = Path(name)
        with running(programs, directory):
            yield f"postgresql://waxwing@/waxwing?host={directory}"


@contextmanager
def running(programs: Path, directory: Path) -> Iterator[None]:
    become = _somebody_else(directory)
    data = directory / "data"
    made = [programs / "initdb", "-D", data, "-U", "waxwing", "--auth=trust", "--no-sync", *INITDB]
    _run([*become, *made])
    settings = [word for setting in FAST for word in ("-c", setting)]
    command = [programs / "postgres", "-D", data, "-k", directory, "-h", "", *settings]
    lifeline, held = os.pipe()  # it ends with this process, however that ends
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "overlay.runtime.lifeline", "--", *map(str, become), *map(str, command)],
            cwd=ROOT,
            env={**os.environ, LIFELINE_FD: str(lifeline)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=[lifeline],
        )
        try:
            ready = [programs / "pg_isready", "-q", "-h", directory, "-U", "waxwing"]
            wait_for(lambda: subprocess.run(ready, check=False).returncode == 0, "PostgreSQL answers")
            _run([programs / "createdb", "-h", directory, "-U", "waxwing", "waxwing"])
            yield
        finally:
            process.send_signal(2)  # SIGINT: it ends without waiting for its clients
            process.wait(BOUND_S)
    finally:
        os.close(lifeline)
        os.close(held)


def _somebody_else(directory: Path) -> list[str]:
    """The words before a command that must not run as root; ``directory`` is theirs then."""
    if os.geteuid() != 0:
        return []
    try:
        user = pwd.getpwnam("postgres")
    except KeyError:
        raise NoServer("PostgreSQL refuses to run as root, and there is no user postgres") from None
    if not shutil.which("setpriv"):
        raise NoServer("PostgreSQL refuses to run as root, and setpriv (util-linux) is missing")
    os.chown(directory, user.pw_uid, user.pw_gid)
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--"]


def _run(command: Sequence[str | Path]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", timeout=BOUND_S, check=False)
    if done.returncode != 0:
        raise NoServer(f"{Path(command[0]).name} failed: {done.stderr.strip()[-500:]}")


def main(arguments: Sequence[str]) -> int:
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        with server() as url:
            return subprocess.run(
                [sys.executable, "-m", *arguments], env={**os.environ, "DATABASE_URL": url}
            ).returncode
    except NoServer as error:
        print(f"postgresql: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
