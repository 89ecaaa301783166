"""Forking: what a child holds, how it is told to end, and what happens when the system has nothing left to give."""

import errno
import os
import signal
from select import select

import pytest

from overlay.runtime.processes import Work, fork_all
from tests.waiting import BOUND_S


def open_descriptors():
    return len(os.listdir("/dev/fd"))  # noqa: PTH208  names, not paths


def test_without_a_pipe_nothing_is_forked_and_nothing_left_open(monkeypatch, tmp_path):
    pipes = iter([os.pipe(), OSError(errno.EMFILE, "Too many open files")])

    def pipe():
        made = next(pipes)
        if isinstance(made, OSError):
            raise made
        return made

    before = open_descriptors() - 2
    with monkeypatch.context() as patched:
        patched.setattr(os, "pipe", pipe)
        with pytest.raises(OSError, match="Too many open files"):
            fork_all([(Work(lambda _: 0), tmp_path / name) for name in ("first", "second")], ())
    assert open_descriptors() == before


def test_what_was_prepared_for_a_child_is_open_there_and_closed_here(tmp_path):
    heard, told = os.pipe()
    other, others = os.pipe()

    def do(on_ready):
        on_ready("up")
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.write(others, b"not its own")
        return os.write(told, b"here")

    child = fork_all([(Work(do, descriptors=(told,), close=lambda: os.close(told)), tmp_path / "words")], ())[0]
    assert os.read(heard, 10) == b"here"
    assert os.read(heard, 10) == b""  # the child has ended, and no other process has the other end
    assert os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1]) == 4
    for descriptor in (heard, other, others, child.ready):
        os.close(descriptor)


def test_a_child_that_is_told_to_end_does_what_its_work_does_then(tmp_path):
    ended, end = os.pipe()
    work = Work(lambda on_ready: on_ready("up") or len(os.read(ended, 1)), lambda: os.write(end, b"."), (ended, end))
    for told, code in ((work, 1), (Work(work.do, descriptors=(ended, end)), 128 + signal.SIGTERM)):
        child = fork_all([(told, tmp_path / "words")], ())[0]
        assert select([child.ready], [], [], BOUND_S)[0]
        os.kill(child.pid, signal.SIGINT)  # Ctrl-C at a terminal comes to all, and is the parent's to act on
        os.kill(child.pid, signal.SIGTERM)
        assert os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1]) == code
        os.close(child.ready)
    os.close(ended)
    os.close(end)


def test_a_signal_that_comes_while_children_are_forked_is_the_parents_own(monkeypatch, tmp_path):
    heard, fork = [], os.fork
    before = signal.signal(signal.SIGTERM, lambda *_: heard.append("told"))

    def told_then_fork():
        os.kill(os.getpid(), signal.SIGTERM)
        return fork()

    try:
        monkeypatch.setattr(os, "fork", told_then_fork)
        [child] = fork_all([(Work(lambda _: 0, lambda: os._exit(7)), tmp_path / "words")], ())
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard == ["told"]
    assert os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1]) == 7  # what ends the parent ends it too
    os.close(child.ready)
