"""Networks of real brokers under a real supervisor: deployed, asked through REST, hurt, stopped, started again."""

from __future__ import annotations

import os
import re
import signal
import socket
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

from brokerweb.control import host
from brokerweb.control.networks import networks_of
from brokerweb.control.reconcile import reconcile_host
from brokerweb.networks.models import Host, Network
from brokerweb.systems.context_broker.queries.timeline import is_whole
from overlay.core.addresses import parse_address
from overlay.programs.context_broker.client import ContextClient
from overlay.runtime.supervisor_client import SupervisorClient
from overlay.systems.context_broker.clients.questions import LONGEST_VALID_MS
from tests.waiting import wait_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.stack]


def rounds_until(supervisor: SupervisorClient, holds: Callable[[], bool]) -> None:
    """Rounds of reconciling until something holds."""

    def holds_after_a_round() -> bool:
        reconcile_host("here", "test", supervisor)
        return holds()

    wait_for(holds_after_a_round, "it came to hold", every=0.05)


def running(api: APIClient, ring: dict, supervisor: SupervisorClient, **settings: Any) -> dict[str, Any]:
    """A network on a ring of four brokers, all of which are up."""
    body = {"name": "n", "topology": ring["id"], "settings": settings}
    made = api.post("/api/networks/", body, format="json")
    assert made.status_code == 201, made.content
    assert made.json()["state"] == "starting"
    url = f"/api/networks/{made.json()['id']}/"
    rounds_until(supervisor, lambda: api.get(url).json()["state"] == "running")
    return api.get(url).json() | {"url": url}


@pytest.fixture
def five(api: APIClient, ring: dict, supervisor: SupervisorClient) -> dict[str, Any]:
    """A running network on a ring of four brokers."""
    return running(api, ring, supervisor)


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


def test_an_older_value_is_not_answered_where_its_provider_has_gone_to_another_broker(
    api: APIClient, five: dict
) -> None:
    there = five["url"] + "context/room/r1/climate/"
    first = api.put(there, {"provider": "p1", "payload": {"n": "1"}}, format="json").json()["broker"]
    network = Network.objects.get(pk=five["id"])
    up = network.brokers
    network.brokers = [one for one in up if one["address"] != first]  # for a moment it is not among those that are up
    network.save(update_fields=["brokers"])
    second = api.put(there, {"provider": "p1", "payload": {"n": "2"}}, format="json").json()["broker"]
    assert second != first
    network.brokers = up
    network.save(update_fields=["brokers"])
    found = api.get(there).json()
    assert (found["payload"], found["broker"]) == ({"n": "2"}, second)


def test_what_a_chosen_broker_took_is_found_without_choosing_it_again(
    api: APIClient, supervisor: SupervisorClient
) -> None:
    """Five of sixteen brokers are asked, which ask their neighbours: others are known by what was put there."""
    many = api.post("/api/topologies/", {"name": "many", "kind": "ring", "brokers": 16}, format="json").json()
    there = running(api, many, supervisor, walk_ttl=1)["url"] + "context/room/r{}/climate/"
    for index in range(16):
        put = api.put(f"{there.format(index)}?broker={index}", {"provider": "p", "payload": {"n": "1"}}, format="json")
        assert put.json()["broker_index"] == index
    assert [api.get(there.format(index)).status_code for index in range(16)] == [200] * 16


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


def test_one_broker_is_restarted_by_order_and_it_is_told(
    api: APIClient, five: dict, supervisor: SupervisorClient, viewer: User
) -> None:
    before, restart = five["brokers"][1], five["url"] + "brokers/1/restart/"
    host.beat({})
    for _ in range(2):  # pressed twice, ordered once
        answer = api.post(restart)
        assert (answer.status_code, answer.json()["restarting"]) == (200, [1])

    def is_back() -> bool:
        now = api.get(five["url"]).json()
        return now["state"] == "running" and now["brokers"][1]["restarts"] == 1 and not now["restarting"]

    rounds_until(supervisor, is_back)
    after = api.get(five["url"]).json()["brokers"][1]
    assert (after["address"], after["reason"]) == (before["address"], "restarted by olga")
    assert after["pid"] != before["pid"]
    assert len(ContextClient([parse_address(after["address"])], 3).neighbors()) == 2

    def words() -> list[str]:
        return [event["words"] for event in api.get(five["url"] + "events/").json()]

    wait_for(lambda: "broker 1 restarted" in words(), "it is told")
    assert "broker 1: restarted by olga" in words()
    assert not [said for said in words() if "ended with" in said], "it was meant"

    looking = APIClient()
    looking.force_authenticate(viewer)
    assert looking.post(restart).status_code == 403
    assert api.post(five["url"] + "brokers/4/restart/").status_code == 404
    Host.objects.all().delete()
    refused = api.post(restart)
    assert (refused.status_code, "No worker has answered yet" in refused.json()["sentence"]) == (409, True)
    api.post(five["url"] + "stop/")
    refused = api.post(restart)
    assert (refused.status_code, refused.json()["sentence"]) == (
        409,
        "This network is stopping; its brokers cannot be restarted.",
    )


def test_it_stops_and_starts_again_where_it_was_or_says_which_port_was_taken(
    api: APIClient, five: dict, supervisor: SupervisorClient
) -> None:
    assert api.post(five["url"] + "stop/").json()["state"] == "stopping"
    rounds_until(supervisor, lambda: api.get(five["url"]).json()["state"] == "stopped")
    there = five["url"] + "context/room/r1/climate/"
    assert (api.get(there).status_code, api.get(there).json()["code"]) == (409, "conflict")
    assert supervisor.hello()["deployments"] in ([], [five["id"]])
    api.post(five["url"] + "start/")
    rounds_until(supervisor, lambda: api.get(five["url"]).json()["state"] == "running")
    again = api.get(five["url"]).json()
    assert again["epoch"] == five["epoch"] + 1
    before = [broker["address"] for broker in five["brokers"]]
    assert [broker["address"] for broker in again["brokers"]] == before

    api.post(five["url"] + "stop/")
    rounds_until(supervisor, lambda: api.get(five["url"]).json()["state"] == "stopped")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as thief:
        thief.bind(parse_address(before[1]))
        api.post(five["url"] + "start/")
        rounds_until(supervisor, lambda: api.get(five["url"]).json()["state"] == "degraded")
        without = api.get(five["url"]).json()
        assert [broker["state"] for broker in without["brokers"]] == ["up", "failed", "up", "up"]
        assert f"cannot bind {before[1]}" in without["reason"]
        api.post(five["url"] + "stop/")
        rounds_until(supervisor, lambda: api.get(five["url"]).json()["state"] == "stopped")
        assert api.post(five["url"] + "start/", {"new_addresses": "later"}, format="json").status_code == 400
        api.post(five["url"] + "start/", {"new_addresses": True}, format="json")
        rounds_until(supervisor, lambda: api.get(five["url"]).json()["state"] == "running")
        assert before[1] not in [broker["address"] for broker in api.get(five["url"]).json()["brokers"]]


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


def test_a_chosen_broker_is_asked_and_the_walk_of_the_ask_is_told(
    api: APIClient, ring: dict, supervisor: SupervisorClient, client: Client, operator: User
) -> None:
    four = running(api, ring, supervisor, replication="none")  # so that asking again goes the same way
    there = four["url"] + "context/room/r1/climate/"
    given = api.put(f"{there}?broker=2", {"provider": "s", "payload": {"degC": "21.5"}}, format="json").json()
    assert (given["broker_index"], given["broker"]) == (2, four["brokers"][2]["address"])
    found = api.get(f"{there}?broker=0&trace=true").json()
    assert (found["broker_index"], found["broker"]) == (0, four["brokers"][0]["address"])

    def walk() -> dict[str, Any] | None:
        told = api.get(found["walk"])
        whole = told.status_code == 200 and is_whole(told.json())
        return told.json() if whole else None

    told = wait_for(walk, "all brokers on its way reported it")
    assert (told["asked"], told["outcome"], told["hops"]) == (0, "answered", 2)
    between = told["passages"][0]["receiver"]
    assert [one["receiver"] for one in told["passages"]] == [between, 2, between, 0]
    assert {step["broker"] for step in told["steps"] if step["step"] == "found"} == {2}

    client.force_login(operator)
    asked = {"do": "ask", "type": "room", "entity": "r1", "scope": "climate", "broker": "2"}
    page = client.post(f"/networks/{four['id']}/context/", asked).content.decode()
    assert f"<dt>Broker queried</dt><dd>2 <code>{four['brokers'][2]['address']}</code>" in page
    (address,) = re.findall(r'hx-get="([^"]*/walks/[^"]*)"', page)
    wait_for(lambda: "Walk of this query" in client.get(address).content.decode(), "the walk is shown")
    picture = client.get(address).content.decode()
    assert "0 hops, 0 messages between brokers" in picture
    assert 'id="sequence-data"' in picture

    lost = api.get(four["url"] + "context/room/r9/climate/?broker=1&trace=true")
    assert lost.status_code == 404
    assert "/walks/" in lost.json()["sentence"]
    for wrong in ("4", "-1", "x", "1.0"):
        answer = api.get(f"{there}?broker={wrong}")
        assert (answer.status_code, answer.json()["field"]) == (400, "broker")
    assert api.get(f"{there}?trace=perhaps").json()["field"] == "trace"
    assert api.get(four["url"] + "walks/0123456789abcdef/").status_code == 404


def test_a_broker_that_hangs_says_nothing_when_it_is_chosen(api: APIClient, five: dict, settings: Any) -> None:
    settings.CONTEXT_DEADLINE_SECONDS = 1
    api.raise_request_exception = False
    os.kill(five["brokers"][1]["pid"], signal.SIGSTOP)
    try:
        answer = api.get(five["url"] + "context/room/r1/climate/?broker=1")
        assert (answer.status_code, answer.json()["sentence"]) == (504, "Broker 1 does not answer.")
    finally:
        os.kill(five["brokers"][1]["pid"], signal.SIGCONT)


def test_a_network_that_traces_nothing_says_so(
    api: APIClient, ring: dict, supervisor: SupervisorClient, client: Client, operator: User
) -> None:
    quiet = running(api, ring, supervisor, trace_one_in=0)
    there = quiet["url"] + "context/room/r1/climate/"
    api.put(there, {"provider": "s", "payload": {"degC": "21.5"}}, format="json")
    assert api.get(f"{there}?trace=true").json()["walk"] is None
    client.force_login(operator)
    asked = {"do": "ask", "type": "room", "entity": "r1", "scope": "climate"}
    page = client.post(f"/networks/{quiet['id']}/context/", asked).content.decode()
    assert "tracing is off in this network" in page
