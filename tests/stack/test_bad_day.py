"""A house on a small disk that fills up, whose reconciler looks seldom: what tasks do, and what a full disk ends.

Its data lie on a file system of their own. Its reconciler leaves six seconds between two looks, so that whatever
happens sooner was done by tasks.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.disks import SmallDisk, small_disk
from tests.stack.conftest import WORKLOAD, Home
from tests.stack.runs import clear, ended, log_in, measuring
from tests.test_rest_journey import Api
from tests.thorough import thoroughly
from tests.waiting import wait_for

pytestmark = [pytest.mark.stack, thoroughly]

CLIMATE = "context/room/kitchen/climate/"
MEGABYTES = 250


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("disk")


@pytest.fixture(scope="module")
def mounted(place: Path) -> Iterator[SmallDisk | str]:
    """The small disk at ``place``; where none can be had, why, and the house lies on the large one."""
    with ExitStack() as stack:
        try:
            disk: SmallDisk | str = stack.enter_context(small_disk(place, MEGABYTES))
        except pytest.skip.Exception as reason:
            disk = str(reason)
        yield disk


@pytest.fixture
def disk(mounted: SmallDisk | str) -> SmallDisk:
    if isinstance(mounted, str):
        pytest.skip(mounted)
    return mounted


@pytest.fixture(scope="module")
def seldom(place: Path, mounted: SmallDisk | str) -> Iterator[Home]:
    """The house, up although less is free than a launch needs; from then on it needs less."""
    var = place / "var"
    var.mkdir()
    home = Home(var, WAXWING_RECONCILE_S="6")
    try:
        home.up()
        yield home
    finally:
        home.down()


@pytest.fixture(scope="module")
def rest(seldom: Home) -> Iterator[Api]:
    assert seldom.stack is not None
    api = Api(seldom.stack)
    assert api.http.patch("/storage/", json={"least_free_gb": 0.05}).is_success
    wait_for(lambda: clear(api), "nothing is left to do")
    yield api
    api.http.close()


@pytest.fixture(scope="module")
def ring_of_five(rest: Api) -> str:
    return str(rest.post("/topologies/", {"name": "five", "kind": "ring", "brokers": 5})["id"])


@pytest.fixture(scope="module")
def network(rest: Api, ring_of_five: str) -> str:
    """The path of a network that runs."""
    path = f"/networks/{rest.post('/networks/', {'name': 'campus', 'topology': ring_of_five})['id']}/"
    wait_for(lambda: rest.get(path)["state"] == "running", "it runs")
    return path


def launched(api: Api, topology: str, duration_s: float) -> str:
    body = {"name": f"{duration_s:g} s", "topology": topology, "workload": {**WORKLOAD, "duration_s": duration_s}}
    experiment = api.post("/experiments/", body)
    return str(api.post(f"/experiments/{experiment['id']}/launch/")["runs"][0])


def by_whom(api: Api, run: str) -> str:
    """Who launched a run, from its history; empty before the launch."""
    events = api.get(f"/runs/{run}/events/?page_size=200")["results"]
    return next((event["detail"] for event in events if event["name"] == "launching"), "")


def missing(api: Api) -> list[str]:
    """What ``/readyz`` says is missing; that it does not answer is missing too."""
    try:
        return list(api.http.get(api.http.base_url.join("/readyz")).json()["missing"])
    except httpx.TransportError as error:
        return [f"no answer: {error}"]


def provide_and_ask(api: Api, network: str, degrees: str) -> str:
    body: dict[str, Any] = {"provider": "sensor-1", "payload": {"degC": degrees}, "valid_ms": 600_000}
    assert api.http.put(f"{network}{CLIMATE}", json=body).is_success
    return str(api.get(f"{network}{CLIMATE}")["payload"]["degC"])


def test_tasks_launch_and_stop_what_the_reconciler_has_not_looked_at_yet(
    seldom: Home, rest: Api, ring_of_five: str, network: str
) -> None:
    run = measuring(rest, launched(rest, ring_of_five, 600))
    assert by_whom(rest, run) == "by the task runs.launch_run"
    behind = launched(rest, ring_of_five, 1)
    rest.post(f"/runs/{run}/cancel/")
    assert ended(rest, run)["state"] == "cancelled"
    assert ended(rest, behind)["state"] == "done"
    assert by_whom(rest, behind) == "by the task runs.launch_run", "of a run that ended the next one is asked for"
    rest.post(f"{network}stop/")
    rest.wait(network, lambda one: one["state"] == "stopped")
    rest.post(f"{network}start/")
    rest.wait(network, lambda one: one["state"] == "running")
    log = (seldom.house.var / "log" / "worker.log").read_text()
    for done in (f"launch run {run}: launching", f"stop run {run}: stopping"):
        assert done in log
    name = network.strip("/").rpartition("/")[2]
    for done in (f"stop network {name}: stopping", f"deploy network {name}: starting"):
        assert done in log


def test_without_redis_the_reconciler_launches_and_stops(seldom: Home, rest: Api, ring_of_five: str) -> None:
    redis = seldom.house.pid("redis")
    assert redis is not None
    os.kill(redis, signal.SIGSTOP)
    try:
        run = measuring(rest, launched(rest, ring_of_five, 600))
        assert by_whom(rest, run) == "by the reconciler"
        rest.post(f"/runs/{run}/cancel/")
        rest.wait(f"/runs/{run}/", lambda one: one["state"] not in ("measuring", "launching", "warming"))
    finally:
        os.kill(redis, signal.SIGCONT)
    assert ended(rest, run)["state"] == "cancelled"


def test_a_full_disk_ends_the_run_that_writes_on_it_and_nothing_else(
    seldom: Home, disk: SmallDisk, rest: Api, ring_of_five: str, network: str
) -> None:
    assert provide_and_ask(rest, network, "21") == "21"
    run = measuring(rest, launched(rest, ring_of_five, 600))
    wait_for(lambda: missing(rest) == [], "it is ready")
    before = {name: process.pid for name, process in seldom.house.tree().parts.items()}
    disk.fill()

    found = ended(rest, run)
    assert found["state"] == "failed"
    assert found["reason"].startswith(f"Disk full: {seldom.house.var}/runs/{run}/journal/")
    assert "Free some space and try again." in found["reason"]
    wait_for(lambda: only_the_disk(missing(rest)), lambda: f"only the disk is missing: {missing(rest)}")
    assert provide_and_ask(rest, network, "22") == "22"
    assert rest.http.post("/topologies/", json={"name": "no room", "kind": "ring", "brokers": 3}).status_code in (
        201,
        507,
    )
    refused = rest.http.post(f"/experiments/{found['experiment']}/launch/")
    assert (refused.status_code, refused.json()["field"]) == (400, "disk")
    assert log_in(rest, str(rest.http.base_url).removesuffix("/api/")).startswith("sessionid=")
    assert {name: process.pid for name, process in seldom.house.tree().parts.items()} == before, "no part has ended"

    for part in ("redis", "worker", "web"):
        seldom.house.kill(part)
        disk.fill()
        wait_for(lambda: only_the_disk(missing(rest)), lambda: f"it is back on a full disk: {missing(rest)}")
    assert provide_and_ask(rest, network, "23") == "23"

    disk.make_room()
    wait_for(lambda: missing(rest) == [], lambda: f"it is ready again: {missing(rest)}")
    assert ended(rest, launched(rest, ring_of_five, 1))["state"] == "done"
    assert provide_and_ask(rest, network, "24") == "24"


def only_the_disk(found: list[str]) -> bool:
    return len(found) == 1 and "but launches need" in found[0]
