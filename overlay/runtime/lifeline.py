"""Lifelines: processes end with their owner. Also the wrapper ``python -m overlay.runtime.lifeline -- CMD``.

A lifeline is a pipe whose write end is held only by the owner. When the owner ends, for whatever reason, every reader
sees the end of file. This works on all systems and for any number of generations, but readers must cooperate. On
Linux ``PR_SET_PDEATHSIG`` is used, too. It needs no cooperation, but is bound to the parent *thread* and works only for
direct children. The two complement each other.

The wrapper adds a lifeline to a program that does not support them (a Redis server, a Celery worker). It runs the
program in a new process group, forwards SIGTERM and SIGINT, exits with the program's exit code (128 + n for a
signal n), and ends the complete group when the lifeline closes.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from select import select

LIFELINE_FD = "WAXWING_LIFELINE_FD"
"""The environment variable with the inherited read end."""
GRACE_S = 2.0
"""From SIGTERM to SIGKILL after the lifeline has closed."""

_PASSED_ON = (signal.SIGTERM, signal.SIGINT)
_PR_SET_PDEATHSIG = 1


def _no_prctl(option: int, value: int) -> int:
    return 0


def _find_prctl() -> Callable[[int, int], int]:
    if not sys.platform.startswith("linux"):
        return _no_prctl
    import ctypes  # loaded once, before any fork

    prctl: Callable[[int, int], int] = ctypes.CDLL(None).prctl
    return prctl


_prctl = _find_prctl()


def die_with_parent(parent: int) -> None:
    """Let the kernel SIGKILL this process when its parent ends. Exits at once if ``parent`` has already ended.

    Call it first in a forked child, with the pid of the forking process. The parent must fork from a thread
    with the lifetime of the process.
    """
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended between fork and prctl, so there will be no signal
        os._exit(1)


def inherited_lifeline() -> int | None:
    """The read end named in the environment; ``None`` if there is none or it is closed."""
    text = os.environ.get(LIFELINE_FD, "")
    if not text.isdigit():
        return None
    try:
        os.fstat(int(text))
    except OSError:
        return None
    return int(text)


def _run(command: list[str], parent: int) -> int:
    """In the child: become ``command``."""
    die_with_parent(parent)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    try:
        os.execvp(command[0], command)  # noqa: S606
    except OSError as error:
        sys.stderr.write(f"cannot run {command[0]}: {error.strerror}\n")
        sys.stderr.flush()
    os._exit(127)


class _Wrapper:
    """One child in this process's group. It ends by itself or when the lifeline closes."""

    def __init__(self, command: list[str], lifeline: int | None) -> None:
        self._lifeline = lifeline
        self._woken, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        parent = os.getpid()
        # Blocked until the handlers are installed: the child may already run, and the owner know about it, before this
        # process is scheduled again. A signal before that would end the wrapper, and by PR_SET_PDEATHSIG the child.
        signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED_ON)
        self._child = os.fork()
        if self._child == 0:
            signal.set_wakeup_fd(-1)
            _run(command, parent)
        for number in _PASSED_ON:
            signal.signal(number, lambda number, _: os.kill(self._child, number))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _PASSED_ON)

    def wait(self) -> int:
        """The child's exit code, 128 + n for a signal n. Does not return if the lifeline closes."""
        watched = [self._woken] if self._lifeline is None else [self._woken, self._lifeline]
        while True:
            readable, _, _ = select(watched, [], [])
            if self._lifeline in readable:
                self._end_group()
            code = self._reap()
            if code is not None:
                return code

    def _reap(self) -> int | None:
        os.read(self._woken, 512)
        pid, status = os.waitpid(self._child, os.WNOHANG)
        if not pid:
            return None
        return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)

    def _end_group(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(0, signal.SIGTERM)
        deadline = time.monotonic() + GRACE_S
        while (left := deadline - time.monotonic()) > 0 and select([self._woken], [], [], left)[0]:
            if self._reap() is not None:
                break
        os.killpg(0, signal.SIGKILL)  # the rest of the group, including this process


def main(arguments: list[str]) -> int:
    if len(arguments) < 2 or arguments[0] != "--":
        sys.stderr.write("usage: python -m overlay.runtime.lifeline -- COMMAND [ARGUMENT ...]\n")
        return 2
    lifeline = inherited_lifeline()
    if lifeline is not None:
        os.set_inheritable(lifeline, True)
    with suppress(PermissionError):  # a session leader is already the leader of its group
        os.setpgid(0, 0)
    return _Wrapper(arguments[1:], lifeline).wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
