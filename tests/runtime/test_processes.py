"""Forking when the system has nothing left to give."""

import errno
import os

import pytest

from overlay.runtime.processes import fork_all


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
            fork_all([(lambda _: 0, tmp_path / name) for name in ("first", "second")], ())
    assert open_descriptors() == before
