"""Shortages have clear messages: a hanging worker, a full disk, a port in use by another process."""

from __future__ import annotations

import re
import resource
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.stack.house import House, kill, stopped
from tests.stack.runs import ended, measuring
from tests.test_rest_journey import Api
from tests.thorough import thoroughly
from tests.waiting import wait_for

pytestmark = pytest.mark.stack

Launch = Callable[[float], str]


def test_a_worker_that_hangs_is_missed_and_its_run_fails(house: House, api: Api, launch: Launch) -> None:
    run = measuring(api, launch(600))
    pid = house.pid("worker")
    assert pid is not None
    behind = launch(1)
    with stopped(pid):
        found = ended(api, run)
        assert found["state"] == "failed"
        assert found["reason"].startswith("No worker has answered for")
        readiness = api.http.get(api.http.base_url.join("/readyz"))
        assert readiness.status_code == 503
        assert "No worker has answered for" in readiness.json()["missing"][0]
        assert api.get(f"/runs/{behind}/")["waiting_for"].startswith("No worker has answered for")
        wait_for(lambda: not house.nodes(), "its brokers and clients are gone, by their lease")
    assert ended(api, behind)["state"] == "done"


@thoroughly
def test_a_worker_and_redis_that_are_stopped_for_twenty_seconds_fail_no_run(
    house: House, api: Api, launch: Launch
) -> None:
    run = measuring(api, launch(45))
    worker, redis = house.pid("worker"), house.pid("redis")
    assert worker is not None
    assert redis is not None
    with stopped(worker), stopped(redis):
        wait_for(lambda: silent_s(api) >= 20, "the worker has been silent for 20 s", every=0.2)
    found = ended(api, run)
    assert (found["state"], found["reason"]) == ("done", "")
    assert found["summary"]["requests"] == found["summary"]["answered"] == 5 * 45 / 0.5


def silent_s(api: Api) -> int:
    """For how long the worker has not been heard of, as ``/readyz`` says; 0 while it was a moment ago."""
    missing = api.http.get(api.http.base_url.join("/readyz")).json()["missing"]
    return max((int(found[1]) for one in missing if (found := re.search(r"has answered for (\d+) s", one))), default=0)


@contextmanager
def small_disk(supervisor: int, least: int) -> Iterator[None]:
    """The supervisor, and whatever it forks from now on, can make no file larger than ``least`` bytes."""
    before = resource.prlimit(supervisor, resource.RLIMIT_FSIZE)
    resource.prlimit(supervisor, resource.RLIMIT_FSIZE, (least, before[1]))
    try:
        yield
    finally:
        resource.prlimit(supervisor, resource.RLIMIT_FSIZE, before)


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux can limit another process")
@pytest.mark.parametrize(
    "least",
    [pytest.param(10, id="from the start", marks=thoroughly), pytest.param(8_000, id="while it measures")],
)
def test_a_full_disk_fails_the_run_and_the_next_one_works_again(
    house: House, api: Api, launch: Launch, least: int
) -> None:
    with small_disk(house.tree().supervisors[0].pid, least):
        found = ended(api, launch(600))
    assert found["state"] == "failed"
    assert "Disk full: " in found["reason"]
    assert "Free some space and try again." in found["reason"]
    assert ended(api, launch(1))["state"] == "done"


def test_a_port_that_somebody_else_took_fails_the_run(house: House, api: Api, launch: Launch) -> None:
    run = measuring(api, launch(600))
    broker = house.deployment(run)["brokers"][1]
    host, _, port = broker["address"].rpartition(":")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as thief:
        with stopped(house.tree().supervisors[0].pid):  # or the broker may be back before the thief comes
            kill(broker["pid"])
            wait_for(lambda: took(thief, (host, int(port))), "the port is free, and taken")
        found = ended(api, run)
    assert found["state"] == "failed"
    assert f"cannot bind {broker['address']}: Address already in use" in found["reason"]


def took(thief: socket.socket, address: tuple[str, int]) -> bool:
    try:
        thief.bind(address)
    except OSError:
        return False
    return True
