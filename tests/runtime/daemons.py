"""Real broker daemons for tests: started as a user starts them, waited for by their ``ready`` line, surely ended."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from select import select

from overlay.core.addresses import Address, parse_address
from tests.waiting import BOUND_S


class Daemon:
    """``python -m overlay broker`` on a port of its own."""

    def __init__(self, *flags: str, bind: str = "127.0.0.1:0", lifeline_fd: int | None = None) -> None:
        environment = dict(os.environ)
        environment.pop("WAXWING_LIFELINE_FD", None)
        if lifeline_fd is not None:
            environment["WAXWING_LIFELINE_FD"] = str(lifeline_fd)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "overlay", "broker", "--bind", bind, *flags],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            pass_fds=[] if lifeline_fd is None else [lifeline_fd],
        )
        assert self.process.stdout is not None
        assert select([self.process.stdout], [], [], BOUND_S)[0], "the broker did not say that it is ready"
        word, address = self.process.stdout.readline().split()
        assert word == "ready"
        self.text = address
        self.address: Address = parse_address(address)

    def uss_bytes(self) -> int:
        """Memory that only this process has."""
        lines = Path(f"/proc/{self.process.pid}/smaps_rollup").read_text().splitlines()
        return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith(("Private_C", "Private_D")))

    def stop(self) -> int:
        """SIGTERM; the exit code."""
        self.process.terminate()
        return self.process.wait(BOUND_S)

    def end(self) -> None:
        """For a fixture: whatever became of it, it is gone afterwards."""
        self.process.kill()
        self.process.wait(BOUND_S)
        assert self.process.stdout is not None
        self.process.stdout.close()


def overlay(*arguments: str | bytes, stdin: str = "") -> tuple[int, str, str]:
    """``python -m overlay ARGUMENTS``: exit code, standard output, standard error."""
    done = subprocess.run(
        [sys.executable, "-m", "overlay", *arguments], input=stdin, capture_output=True, text=True, timeout=BOUND_S
    )
    return done.returncode, done.stdout, done.stderr


def ring(daemons: Sequence[Daemon]) -> None:
    """Join each to the next."""
    for daemon, following in zip(daemons, [*daemons[1:], daemons[0]], strict=True):
        code, _, error = overlay("join", daemon.text, following.text)
        assert code == 0, error
