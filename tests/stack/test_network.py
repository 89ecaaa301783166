"""A network of five brokers: it answers, survives all other processes, and its dead brokers are restarted."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import psutil
import pytest

from tests.conformance.plain import Peer, store
from tests.stack.conftest import Home
from tests.stack.house import House, is_alive, kill, stopped
from tests.stack.runs import is_ready, log_in
from tests.test_rest_journey import Api
from tests.thorough import thoroughly
from tests.waiting import wait_for

pytestmark = pytest.mark.stack

CLIMATE = "context/room/kitchen/climate/"


@pytest.fixture(autouse=True)
def _as_it_should_be(api: Api, house: House) -> None:
    """Nothing else runs, and the house is whole before and after."""


@pytest.fixture
def path(api: Api, ring: str) -> str:
    """Of the running network; the same one for all stories."""
    known = [network for network in api.get("/networks/")["results"] if network["name"] == "campus"]
    network = known[0] if known else api.post("/networks/", {"name": "campus", "topology": ring})
    path = f"/networks/{network['id']}/"
    if network["desired"] == "stopped":  # by the story before
        api.post(f"{path}start/")
    running(api, path)
    return path


def running(api: Api, path: str) -> dict[str, Any]:
    """The network once it runs with all of its brokers."""

    def found() -> dict[str, Any] | None:
        network = api.get(path)
        up = [broker["state"] for broker in network["brokers"]] == ["up"] * 5
        return network if network["state"] == "running" and up else None

    return wait_for(found, f"{path} runs")


def provide(api: Api, path: str, degrees: str) -> None:
    body = {"provider": "sensor-1", "payload": {"degC": degrees}, "valid_ms": 600_000}
    answer = api.http.put(f"{path}{CLIMATE}", json=body)
    assert answer.is_success, answer.text


def ask(api: Api, path: str) -> str:
    return str(api.get(f"{path}{CLIMATE}")["payload"]["degC"])


def status_of(house: House, path: str) -> dict[str, Any]:
    return next(status for status in house.deployments() if status["id"] in path)


def test_it_answers_what_rest_and_what_a_plain_udp_client_provided(api: Api, path: str) -> None:
    for degrees in ("21.5", "21.7", "21.9", "22.1"):
        provide(api, path, degrees)
        assert ask(api, path) == degrees, "the newest value takes the place of the older"
    host, _, port = api.get(path)["brokers"][3]["address"].rpartition(":")
    with closing(Peer()) as sensor:
        store(sensor, (host, int(port)), "open=1", provider="door-7", entity="door|front|state")
    entry = api.get(f"{path}context/door/front/state/")
    assert (entry["provider"], entry["payload"]) == ("door-7", {"open": "1"})


def test_a_killed_broker_is_back_and_its_reason_is_shown(api: Api, house: House, path: str) -> None:
    before = api.get(path)["brokers"][2]
    kill(before["pid"])

    def back() -> bool:
        broker = status_of(house, path)["brokers"][2]
        return broker["state"] == "up" and broker["pid"] != before["pid"]

    wait_for(back, "it is back")
    after = wait_for(
        lambda: next((one for one in running(api, path)["brokers"] if one["restarts"] > before["restarts"]), None),
        "REST shows it",
    )
    assert (after["index"], after["address"], after["reason"]) == (2, before["address"], "killed by SIGKILL")
    provide(api, path, "22")
    assert ask(api, path) == "22"


def test_a_broker_that_is_stopped_is_shown_as_not_answering(api: Api, house: House, path: str) -> None:
    broker = running(api, path)["brokers"][1]
    with stopped(broker["pid"]):
        found = wait_for(lambda: (one := api.get(path))["state"] == "degraded" and one, "REST shows it")
        assert [one["state"] for one in found["brokers"]] == ["up", "not answering", "up", "up", "up"]
        assert found["reason"] == "broker-1: does not answer"
        page = api.http.get(api.http.base_url.join(path), headers=logged_in(api))
        assert "not answering" in page.text
    again = running(api, path)["brokers"][1]
    assert (again["pid"], again["restarts"]) == (broker["pid"], broker["restarts"])


def logged_in(api: Api) -> dict[str, str]:
    return {"Cookie": log_in(api, str(api.http.base_url).removesuffix("/api/")), "Authorization": ""}


def test_it_outlives_worker_web_and_redis(api: Api, house: House, path: str) -> None:
    provide(api, path, "23")
    brokers = [broker["pid"] for broker in api.get(path)["brokers"]]
    for part in ("worker", "web", "redis"):
        house.kill(part)
        wait_for(lambda: is_ready(api), f"it is ready without the former {part}")
        assert ask(api, path) == "23"
    assert [broker["pid"] for broker in running(api, path)["brokers"]] == brokers


def test_it_comes_back_after_its_supervisor_died_and_says_why(api: Api, house: House, path: str) -> None:
    before = api.get(path)
    house.kill_supervisor()
    wait_for(lambda: house.nodes(), "it is started again")
    after = wait_for(
        lambda: (found := running(api, path))["brokers"][0]["pid"] != before["brokers"][0]["pid"] and found,
        "REST shows it",
    )
    assert after["reason"] == "deployed again: the supervisor was restarted"
    assert after["changed"] > before["changed"], "it has been running since then, not since it was deployed"
    assert [one["address"] for one in after["brokers"]] == [one["address"] for one in before["brokers"]]
    provide(api, path, "24")
    assert ask(api, path) == "24"


def test_it_can_be_stopped_and_started(api: Api, path: str) -> None:
    brokers = [psutil.Process(broker["pid"]) for broker in api.get(path)["brokers"]]
    api.post(f"{path}stop/")
    stopped = api.wait(path, lambda network: network["state"] in ("stopped", "failed"))
    assert (stopped["state"], {broker["state"] for broker in stopped["brokers"]}) == ("stopped", {"stopped"})
    assert not any(map(is_alive, brokers))
    assert api.http.get(f"{path}{CLIMATE}").status_code in (404, 409, 503)

    api.post(f"{path}start/")
    running(api, path)
    provide(api, path, "25")
    assert ask(api, path) == "25"
    api.post(f"{path}stop/")
    api.wait(path, lambda network: network["state"] == "stopped")


@thoroughly
def test_after_a_reboot_it_is_as_it_was_changed(home: Home, api: Api, path: str) -> None:
    assert api.http.patch(path, json={"settings": {"walk_ttl": 9}}).is_success
    api.post(f"{path}brokers/3/drain/")
    cut = api.http.delete(f"{path}links/", params={"a": 0, "b": 1, "allow_split": "true"})
    assert cut.is_success, cut.text

    def kept(network: dict[str, Any]) -> list[Any]:
        rows = [(row["index"], row["address"], row["state"], row["wanted"]) for row in network["brokers"]]
        return [*(network[name] for name in ("version", "settings", "state", "desired", "epoch")), rows]

    def rolled() -> dict[str, Any] | None:
        network = api.get(path)
        is_done = api.get(f"{path}rollout/")["state"] == "done" and network["state"] == "running"
        states = [broker["state"] for broker in network["brokers"]]
        return network if is_done and states == ["up", "up", "up", "stopped", "up"] else None

    def neighbours() -> list[int]:
        return [api.get(f"{path}brokers/{index}/")["now"]["neighbours"] for index in (0, 1, 2, 4)]

    before = wait_for(rolled, "it is changed")
    assert home.process is not None
    kill(home.process.pid)
    wait_for(lambda: not home.house.processes(), "everything went with it")
    home.process.wait()
    home.up()
    home.lead(api)
    pids = {row["pid"] for row in before["brokers"]} - {None}
    after = wait_for(
        lambda: (found := rolled()) and pids.isdisjoint(row["pid"] for row in found["brokers"]) and found, "it is back"
    )
    assert kept(after) == kept(before)
    assert after["reason"] == "deployed again: the supervisor was restarted"
    wait_for(lambda: neighbours() == [1, 1, 1, 1], "a ring of five without a broker and another link is two pairs")
    assert api.get(f"{path}bootstrap/")["healthy"] == 4
    api.post(f"{path}stop/")
    api.wait(path, lambda network: network["state"] == "stopped")
