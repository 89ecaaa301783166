"""Starts, restarts and stops parts by ``overlay.deployment.fleet.plan``; all effects are here.

One thread with one selector handles output, exits (SIGCHLD), SIGTERM and Ctrl-C. Each part runs under
``overlay.runtime.lifeline`` as the leader of its own session, so that Ctrl-C reaches this process only, and a part and
its children can be stopped as a group. Only this process holds the write end of the lifeline.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from brokerweb.up.home import PartLog
from brokerweb.up.parts import ROOT, Part
from overlay.core.errors import WaxwingError
from overlay.core.node import SECOND
from overlay.deployment import fleet
from overlay.runtime.lifeline import LIFELINE_FD
from overlay.runtime.processes import describe_exit_code

TURN_S = 1.0
"""Maximum duration of a turn of the loop."""


class PartFailed(WaxwingError):
    """A part failed permanently."""

    def __init__(self, name: str, reason: str, last_line: str) -> None:
        said = f"; its last words: {last_line}" if last_line else ""
        super().__init__(f"{name} failed: {reason}{said}")
        self.name = name


class AskedToEnd(Exception):
    """SIGTERM or Ctrl-C was received."""


def say(text: str) -> None:
    """Print a message; lost if the output is a file on a full disk or a closed terminal."""
    with suppress(OSError):
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


class Manager:
    """The desired parts and their processes."""

    def __init__(self, logs: Path, environment: Mapping[str, str], log: Callable[[str], None] = say) -> None:
        self._logs = logs
        self._say = log
        self._wanted: dict[str, Part] = {}
        self._observed: dict[str, fleet.Process] = {}
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._said: dict[str, PartLog] = {}
        self._selector = selectors.DefaultSelector()
        self._asked_to_end = False
        self._lifeline, self._lifeline_held = os.pipe()
        self._environment = {**environment, LIFELINE_FD: str(self._lifeline), "PYTHONUNBUFFERED": "1"}
        self._listen_to_signals()

    def _listen_to_signals(self) -> None:
        self._woken, wake = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end_soon)
        self._selector.register(self._woken, selectors.EVENT_READ)

    def _end_soon(self, *_: object) -> None:
        self._asked_to_end = True

    # --- desired parts ------------------------------------------------------------------------------------------------

    def want(self, *parts: Part) -> None:
        """Add parts to run."""
        self._wanted |= {part.name: part for part in parts}

    def run_until(self, condition: Callable[[], bool], seconds: float, what: str, every: float = TURN_S) -> None:
        """Run the loop until ``condition``, checked ``every`` so many seconds.

        Raises ``PartFailed``, ``AskedToEnd`` and, after a timeout, ``WaxwingError`` with ``what``.
        """
        now = time.monotonic()
        deadline, ask = now + seconds, now
        while True:
            if now >= ask:
                if condition():
                    return
                ask = now + every
            if now > deadline:
                raise WaxwingError(f"{what} after {seconds:.0f} s; the logs are in {self._logs}")
            self._turn(ask - now)
            now = time.monotonic()

    def run_for_ever(self, look: Callable[[], None] = lambda: None) -> NoReturn:
        """Run the loop until an exception, calling ``look`` once every ``TURN_S``."""
        looked = -TURN_S
        while True:
            self._turn(TURN_S)
            if time.monotonic() >= looked + TURN_S:
                look()
                looked = time.monotonic()

    def is_done(self, name: str) -> bool:
        """Whether a one-time part has succeeded."""
        return self._observed.get(name, fleet.Process()).ended_well

    def forget(self, name: str) -> None:
        """Reset a part that has failed or finished."""
        self._wanted.pop(name, None)
        self._observed.pop(name, None)

    def end(self, keep: tuple[str, ...] = ()) -> None:
        """Stop all parts except ``keep``; returns when they have exited, within seconds."""
        self._wanted = {name: part for name, part in self._wanted.items() if name in keep}
        while any(process.lives for name, process in self._observed.items() if name not in keep):
            self._act(ending=True)
            self._wait(0.1)

    # --- the loop -----------------------------------------------------------------------------------------------------

    def _turn(self, seconds: float) -> None:
        if self._asked_to_end:
            raise AskedToEnd
        self._wait(max(min(seconds, self._act()), 0))

    def _act(self, ending: bool = False) -> float:
        """Execute the plan; returns the seconds until the next step."""
        now = time.monotonic_ns()
        until = now + SECOND
        desired = {name: part.lifetime for name, part in self._wanted.items()}
        for action in fleet.plan(desired, self._observed, now):
            process = self._observed.get(action.name, fleet.Process())
            match action:
                case fleet.Start(name):
                    self._start(self._wanted[name], process, now)
                case fleet.Stop(name):
                    self._running[name].terminate()
                    self._observed[name] = process.stop_sent(now)
                case fleet.Kill(name, reason):
                    self._kill_group(name)
                    self._observed[name] = process.kill_sent(now, reason)
                case fleet.GiveUp(name, reason):
                    self._observed[name] = process.gave_up(now, reason)
                    if not ending:
                        raise PartFailed(name, reason, self._said[name].last_line if name in self._said else "")
                case fleet.Wait():
                    until = min(until, action.until)
        return max(until - now, 0) / SECOND

    def _start(self, part: Part, process: fleet.Process, now: int) -> None:
        log = self._said.get(part.name) or PartLog(self._logs / f"{part.name}.log")
        self._said[part.name] = log
        started = process.started(now)
        try:
            child = subprocess.Popen(
                (sys.executable, "-m", "overlay.runtime.lifeline", "--", *part.command),
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=(self._lifeline,),
            )
        except OSError as error:
            self._observed[part.name] = started.ended(now, f"cannot be started: {error}")
            return
        if process.launches:
            self._say(f"{part.name}: {process.reason}; started again")
        assert child.stdout is not None
        os.set_blocking(child.stdout.fileno(), False)
        self._selector.register(child.stdout, selectors.EVENT_READ, part.name)
        self._running[part.name] = child
        # /readyz tells whether the installation is ready; a part counts as up once it runs.
        self._observed[part.name] = started.ready(now)

    def _kill_group(self, name: str) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._running[name].pid, signal.SIGKILL)

    def _wait(self, seconds: float) -> None:
        for key, _ in self._selector.select(seconds):
            if key.fd == self._woken:
                with suppress(BlockingIOError):
                    os.read(self._woken, 512)
            else:
                self._listen(key)
        for name, child in list(self._running.items()):
            if child.poll() is not None:
                self._ended(name, child.returncode)

    def _listen(self, key: selectors.SelectorKey) -> bool:
        """Read a part's output; returns whether there was any."""
        try:
            data = os.read(key.fd, 65_536)
        except BlockingIOError:
            return False
        for line in self._said[key.data].add(data):
            self._say(f"{key.data}: {line}")
        if not data:
            self._selector.unregister(key.fileobj)
        return bool(data)

    def _ended(self, name: str, code: int) -> None:
        self._kill_group(name)  # its remaining children
        self._hear_out(self._running.pop(name))
        process = self._observed[name]
        self._observed[name] = process.ended(time.monotonic_ns(), describe_exit_code(code), well=code == 0)

    def _hear_out(self, child: subprocess.Popen[bytes]) -> None:
        """Read the last output of a dead part, at most a megabyte per turn."""
        for _ in range(16):
            key = self._selector.get_map().get(child.stdout)  # type: ignore[arg-type]
            if key is None or not self._listen(key):
                return
