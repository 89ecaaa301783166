"""What the reconciler decides, without a supervisor: runs and networks in every situation."""

from __future__ import annotations

from typing import Any

import pytest

from brokerweb.control.decide import Step, network_step, run_progress, run_step
from brokerweb.experiments.models import RunState
from brokerweb.networks.models import Desired, NetworkState

GONE, ALIVE = {"pid": None}, {"pid": 7}


def status(phase: str, process: dict = ALIVE, **more: Any) -> dict[str, Any]:
    return {"phase": phase, "epoch": 1, "reason": "", "brokers": [process], "clients": [], **more}


def run(state: str, seen: dict | None, *, was_deployed: bool = True, cancelled: bool = False) -> Step:
    return run_step(state, was_deployed=was_deployed, cancel_requested=cancelled, status=seen, host="h")


def test_a_claimed_run_is_deployed_unless_it_was_cancelled() -> None:
    assert run("launching", None, was_deployed=False).verb == "deploy"
    assert run("launching", None, was_deployed=False, cancelled=True).to == RunState.CANCELLED


def test_a_live_run_is_renewed_and_follows_its_phase() -> None:
    for phase, state in (("launching", "launching"), ("warming", "warming"), ("draining", "measuring")):
        assert run("launching", status(phase)) == Step("renew", to=state)


def test_a_cancelled_run_is_stopped_once_and_keeps_what_it_measured() -> None:
    assert run("measuring", status("measuring"), cancelled=True).verb == "stop"
    assert run("measuring", status("stopping"), cancelled=True).verb == "none"
    ended = run("measuring", status("stopped", GONE, warming_unix_ms=5), cancelled=True)
    assert (ended.to, ended.ends_in) == ("collecting", "cancelled")
    assert run("launching", status("stopped", GONE), cancelled=True).to == "cancelled"


def test_nothing_is_collected_while_a_process_still_writes() -> None:
    assert run("measuring", status("finished", ALIVE)).verb == "renew"
    assert run("measuring", status("finished", GONE)).to == "collecting"


def test_a_failed_run_says_why() -> None:
    failed = run("launching", status("failed", GONE, reason="broker-0: exit 1: cannot bind"))
    assert (failed.to, failed.reason) == ("failed", "broker-0: exit 1: cannot bind")
    measured = run("measuring", status("failed", GONE, reason="lease expired", warming_unix_ms=5))
    assert (measured.to, measured.ends_in, measured.reason) == ("collecting", "failed", "lease expired")


def test_a_run_whose_supervisor_forgot_it_has_failed() -> None:
    lost = run("measuring", None)
    assert lost.to == "failed"
    assert "supervisor of host h ended" in lost.reason


@pytest.mark.parametrize(
    ("state", "seen", "verb", "to"),
    [
        ("starting", None, "deploy", "starting"),
        ("running", None, "deploy", "starting"),
        ("failed", None, "none", ""),
        ("starting", status("launching"), "none", "starting"),
        ("starting", status("running"), "none", "running"),
        ("running", status("degraded"), "none", "degraded"),
        ("running", status("failed", GONE), "none", "failed"),
    ],
)
def test_a_network_that_is_to_run(state: str, seen: dict | None, verb: str, to: str) -> None:
    step = network_step(Desired.RUNNING, state, 1, seen)
    assert (step.verb, step.to) == (verb, to)


def test_a_network_started_again_waits_for_the_end_of_its_former_self() -> None:
    assert network_step(Desired.RUNNING, "starting", 2, status("running")).verb == "stop"
    assert network_step(Desired.RUNNING, "starting", 2, status("stopping")).verb == "none"
    assert network_step(Desired.RUNNING, "starting", 2, status("failed", ALIVE)).verb == "none"
    assert network_step(Desired.RUNNING, "starting", 2, status("stopped", GONE)).verb == "deploy"


def test_a_network_that_is_to_stop_is_stopped_when_nothing_of_it_is_left() -> None:
    assert network_step(Desired.STOPPED, "stopping", 1, status("running")).verb == "stop"
    assert network_step(Desired.STOPPED, "stopping", 1, status("stopped", ALIVE)).to == NetworkState.STOPPING
    assert network_step(Desired.STOPPED, "stopping", 1, status("stopped", GONE)).to == NetworkState.STOPPED
    assert network_step(Desired.STOPPED, "stopping", 1, None).to == NetworkState.STOPPED


def test_progress_grows_with_the_clock_and_never_says_done() -> None:
    seen = {"warming_unix_ms": 1_000, "ends_unix_ms": 11_000}
    assert run_progress({}, 0) == 0.02
    assert run_progress(seen, 1_000) < run_progress(seen, 6_000) < run_progress(seen, 99_000) < 1
