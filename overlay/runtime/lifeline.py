"""Lifelines: no process outlives the one that wants it. Also the wrapper ``python -m overlay.runtime.lifeline -- CMD``.

A lifeline is a pipe whose write end only the owner holds: when the owner is gone, however it went, every reader sees
the end of the file. That works everywhere, needs the reader's cooperation and crosses any number of generations. On
Linux ``PR_SET_PDEATHSIG`` is added, which needs no cooperation but binds to the parent *thread* and to the direct child
only. Each covers what the other cannot.

The wrapper gives a lifeline to a program that knows of none (a Redis server, a Celery worker). It leads a process group
of its own, runs the program in it, passes SIGTERM and SIGINT on, ends with the program's exit code (128 + n for a
signal n), and when the lifeline closes ends the whole group.
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
"""The environment variable that names the inherited read end."""
GRACE_S = 2.0
"""From SIGTERM to SIGKILL when the lifeline has closed."""

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
    """Ask the kernel to SIGKILL this process when its parent ends. Ends at once if ``parent`` is gone already.

    To be called first thing in a forked child, with the pid the forking process had. The parent must fork from a thread
    that lives as long as it does.
    """
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended between fork and prctl, so the signal will never come
        os._exit(1)


def inherited_lifeline() -> int | None:
    """The read end that the environment names, or ``None`` where there is none that is open."""
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
    """One child in this process's group, and the two things that may end it: its own end, and the lifeline's."""

    def __init__(self, command: list[str], lifeline: int | None) -> None:
        self._lifeline = lifeline
        self._woken, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        parent = os.getpid()
        # Held back until the handlers stand: the child may be running, and its owner know it, before this process is
        # scheduled again. A signal that came between would end the wrapper, and through PR_SET_PDEATHSIG the child.
        signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED_ON)
        self._child = os.fork()
        if self._child == 0:
            signal.set_wakeup_fd(-1)
            _run(command, parent)
        for number in _PASSED_ON:
            signal.signal(number, lambda number, _: os.kill(self._child, number))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _PASSED_ON)

    def wait(self) -> int:
        """The child's exit code, 128 + n for a signal n. Does not return when the lifeline closes."""
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
        os.killpg(0, signal.SIGKILL)  # what is left of the group, this process included


def main(arguments: list[str]) -> int:
    if len(arguments) < 2 or arguments[0] != "--":
        sys.stderr.write("usage: python -m overlay.runtime.lifeline -- COMMAND [ARGUMENT ...]\n")
        return 2
    lifeline = inherited_lifeline()
    if lifeline is not None:
        os.set_inheritable(lifeline, True)
    with suppress(PermissionError):  # the leader of a session leads its group already
        os.setpgid(0, 0)
    return _Wrapper(arguments[1:], lifeline).wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
