"""Networks of real brokers under a real supervisor: deployed, asked through REST, hurt, stopped, started again."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

from brokerweb.control.networks import networks_of
from brokerweb.control.reconcile import reconcile_host
from overlay.addresses import parse_address
from overlay.clients.questions import LONGEST_VALID_MS
from overlay.runtime.client import ContextClient
from overlay.runtime.supervisor_client import SupervisorClient
from tests.waiting import wait_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.stack]


def rounds_until(supervisor: SupervisorClient, holds: Callable[[], bool], limit_s: float = 20) -> None:
    """Rounds of reconciling until something holds."""

    def holds_after_a_round() -> bool:
        reconcile_host("here", "test", supervisor)
        return holds()

    wait_for(holds_after_a_round, "it came to hold", limit_s, every=0.05)


@pytest.fixture
def five(api: APIClient, ring: dict, supervisor: SupervisorClient) -> Iterator[dict[str, Any]]:
    """A running network on a ring of four brokers."""
    made = api.post("/api/networks/", {"name": "n", "topology": ring["id"]}, format="json")
    assert made.status_code == 201, made.content
    assert made.json()["state"] == "starting"
    url = f"/api/networks/{made.json()['id']}/"
    rounds_until(supervisor, lambda: api.get(url).json()["state"] == "running")
    return api.get(url).json() | {"url": url}


def test_context_put_through_rest_and_by_a_plain_client_is_found(api: APIClient, five: dict) -> None:
    assert [broker["state"] for broker in five["brokers"]] == ["up"] * 4
    there = five["url"] + "context/room/r1/climate/"
    body = {"provider": "sensor-1", "payload": {"degC": "21.5", "rh": 40}, "valid_ms": 60_000}
    assert api.get(there).status_code == 404
    given = api.put(there, body, format="json")
    assert given.status_code == 200, given.content
    found = api.get(there).json()
    assert found["provider"] == "sensor-1"
    assert found["payload"] == {"degC": "21.5", "rh": "40"}
    assert found["age_ms"] >= 0
    assert found["broker"] in {broker["address"] for broker in five["brokers"]}

    plain = ContextClient([parse_address(five["brokers"][2]["address"])], 3)
    plain.provide("thing", ("car", "c9", "place"), b"free text", 60_000)
    found = api.get(five["url"] + "context/car/c9/place/").json()
    assert (found["text"], found["payload"]) == ("free text", None)


def test_what_is_valid_longer_than_the_calendar_goes_is_valid_to_its_end(
    api: APIClient, five: dict, client: Client, operator: User
) -> None:
    plain = ContextClient([parse_address(five["brokers"][2]["address"])], 3)
    plain.provide("thing", ("car", "c9", "plate"), b"no=1", LONGEST_VALID_MS)
    assert api.get(five["url"] + "context/car/c9/plate/").json()["valid_end"] == "9999-12-31T23:59:59Z"
    client.force_login(operator)
    asked = {"do": "ask", "type": "car", "entity": "c9", "scope": "plate"}
    assert "Fri 31 Dec 23:59:59 UTC" in client.post(f"/networks/{five['id']}/context/", asked).content.decode()


def test_not_found_is_proved_over_slow_links_too(api: APIClient, supervisor: SupervisorClient) -> None:
    slow = {"name": "far apart", "kind": "ring", "brokers": 10, "params": {"delay_ms": 50}}
    topology = api.post("/api/topologies/", slow, format="json").json()["id"]
    made = api.post("/api/networks/", {"name": "slow", "topology": topology}, format="json").json()
    url = f"/api/networks/{made['id']}/"
    rounds_until(supervisor, lambda: api.get(url).json()["state"] == "running")
    # A search that turns back until every broker was asked goes over twenty links: a second and more.
    answer = api.get(url + "context/room/r1/climate/")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_a_broker_that_says_nothing_costs_a_part_of_the_time(api: APIClient, five: dict) -> None:
    there = five["url"] + "context/room/r1/climate/"
    body = {"provider": "sensor-1", "payload": {"degC": "21.5"}}
    first = api.put(there, body, format="json").json()["broker"]
    (pid,) = [broker["pid"] for broker in five["brokers"] if broker["address"] == first]
    os.kill(pid, signal.SIGSTOP)
    try:
        second = api.put(there, body, format="json").json()["broker"]
        assert second != first
        assert api.get(there).json()["broker"] == second
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"payload": {"a": "1"}}, "provider"),
        ({"provider": "p"}, "payload"),
        ({"provider": "p", "payload": {}}, "payload"),
        ({"provider": "p", "payload": {"a": "x;y"}}, "payload"),
        ({"provider": "p", "payload": {"a": [1]}}, "payload"),
        ({"provider": "p|q", "payload": "x"}, "provider"),
        ({"provider": "p", "payload": "x" * 70_000}, "payload"),
        ({"provider": "p", "payload": "x", "valid_ms": 0}, "valid_ms"),
    ],
)
def test_what_cannot_be_provided_is_named(api: APIClient, five: dict, body: dict, field: str) -> None:
    answer = api.put(five["url"] + "context/room/r1/climate/", body, format="json")
    assert answer.status_code == 400
    assert answer.json()["field"].startswith(field)


def test_a_killed_broker_comes_back_with_its_reason(api: APIClient, five: dict, supervisor: SupervisorClient) -> None:
    victim = five["brokers"][1]
    os.kill(victim["pid"], signal.SIGKILL)

    def is_back() -> bool:
        broker = api.get(five["url"]).json()["brokers"][1]
        return broker["state"] == "up" and broker["pid"] != victim["pid"]

    rounds_until(supervisor, is_back)
    back = api.get(five["url"]).json()["brokers"][1]
    assert back["address"] == victim["address"]
    assert back["restarts"] == 1
    assert "SIGKILL" in back["reason"]


def test_it_stops_and_starts_again(api: APIClient, five: dict, supervisor: SupervisorClient) -> None:
    assert api.post(five["url"] + "stop/").json()["state"] == "stopping"
    rounds_until(supervisor, lambda: api.get(five["url"]).json()["state"] == "stopped")
    there = five["url"] + "context/room/r1/climate/"
    assert (api.get(there).status_code, api.get(there).json()["code"]) == (409, "conflict")
    assert supervisor.hello()["deployments"] in ([], [five["id"]])
    api.post(five["url"] + "start/")
    rounds_until(supervisor, lambda: api.get(five["url"]).json()["state"] == "running")
    assert api.get(five["url"]).json()["epoch"] == five["epoch"] + 1


def test_one_that_no_host_has_claimed_stops_at_once(api: APIClient, ring: dict) -> None:
    made = api.post("/api/networks/", {"name": "n", "topology": ring["id"]}, format="json").json()
    url = f"/api/networks/{made['id']}/"
    assert api.post(url + "stop/").json()["state"] == "stopped"
    assert networks_of("here") == []
    assert api.post(url + "start/").json()["state"] == "starting"
    assert [network.pk for network in networks_of("here")] == [made["id"]]
    assert api.post(url + "stop/").json()["state"] == "stopping", "its brokers may be starting by now"
    other = api.post("/api/networks/", {"name": "other", "topology": ring["id"]}, format="json").json()
    url = f"/api/networks/{other['id']}/"
    assert api.delete(url).status_code == 409
    api.post(url + "stop/")
    assert api.delete(url).status_code == 204


def test_a_deleted_network_leaves_nothing(api: APIClient, five: dict, supervisor: SupervisorClient) -> None:
    assert api.delete(five["url"]).status_code == 409
    api.post(five["url"] + "stop/")
    rounds_until(supervisor, lambda: api.get(five["url"]).json()["state"] == "stopped")
    assert api.delete(five["url"]).status_code == 204
    rounds_until(supervisor, lambda: supervisor.hello()["deployments"] == [])
