"""The lifeline wrapper: invisible while its owner lives, thorough when it is gone."""

import os
import signal
import subprocess
import sys

import pytest

from overlay.runtime.processes import describe_exit_code
from tests.waiting import BOUND_S, is_alive, wait_for


def wrap(*command, **options):
    return subprocess.Popen([sys.executable, "-m", "overlay.runtime.lifeline", "--", *command], text=True, **options)


@pytest.mark.parametrize(
    ("script", "code", "words"),
    [
        ("exit 0", 0, "exit 0"),
        ("exit 3", 3, "exit 3"),
        ("kill -9 $$", 137, "killed by SIGKILL"),
        ("kill -11 $$", 139, "killed by SIGSEGV"),
    ],
)
def test_it_ends_as_its_program_does(script, code, words):
    assert wrap("sh", "-c", script).wait(BOUND_S) == code
    assert describe_exit_code(code) == words


def test_a_program_that_does_not_exist_is_named():
    wrapper = wrap("no-such-program", stderr=subprocess.PIPE)
    assert wrapper.communicate(timeout=BOUND_S)[1] == "cannot run no-such-program: No such file or directory\n"
    assert wrapper.returncode == 127


def test_sigterm_is_passed_on():
    wrapper = wrap(
        "sh", "-c", "trap 'echo bye; exit 7' TERM; echo up; while :; do sleep 0.05; done", stdout=subprocess.PIPE
    )
    assert wrapper.stdout.readline() == "up\n"
    wrapper.send_signal(signal.SIGTERM)
    assert wrapper.communicate(timeout=BOUND_S)[0] == "bye\n"
    assert wrapper.returncode == 7


def test_sigterm_is_passed_on_however_early_it_comes():
    script = "trap 'echo bye; exit 7' TERM; kill $PPID; while :; do sleep 0.05; done"
    wrappers = [wrap("sh", "-c", script, stdout=subprocess.PIPE) for _ in range(10)]
    assert [(wrapper.communicate(timeout=BOUND_S)[0], wrapper.returncode) for wrapper in wrappers] == [
        ("bye\n", 7)
    ] * 10


def test_when_the_lifeline_closes_the_whole_group_ends():
    lifeline, held = os.pipe()
    options = {"pass_fds": [lifeline], "env": os.environ | {"WAXWING_LIFELINE_FD": str(lifeline)}}
    wrapper = wrap("sh", "-c", "sleep 1000 & echo $! $$; wait", stdout=subprocess.PIPE, **options)
    os.close(lifeline)
    pids = [int(pid) for pid in wrapper.stdout.readline().split()]
    os.close(held)
    wrapper.wait(BOUND_S)
    wrapper.stdout.close()
    wait_for(lambda: not any(map(is_alive, pids)), "program and offspring are gone")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="PR_SET_PDEATHSIG is Linux's")
def test_a_killed_wrapper_takes_its_program_with_it():
    wrapper = wrap("sh", "-c", "echo $$; exec sleep 1000", stdout=subprocess.PIPE)
    pid = int(wrapper.stdout.readline())
    wrapper.kill()
    wrapper.communicate()
    wait_for(lambda: not is_alive(pid), "the program is gone")
