"""The bootstrap list of a network: of real brokers, one of which hangs, as JSON and as text."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

from brokerweb.networks import bootstrap, broker_index, services
from brokerweb.networks.announcing import announced
from brokerweb.networks.bootstrap import RENEW_S, RENEW_SOON_S, Entry, List
from brokerweb.networks.models import Network, NetworkState
from brokerweb.networks.probes import FEW_SECONDS
from brokerweb.networks.probing import probe_file
from brokerweb.topologies import services as topologies
from overlay.core.addresses import format_address
from tests.runtime.daemons import Daemon
from tests.waiting import wait_for

NOW = 1_795_400_000
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def daemons() -> Iterator[list[Daemon]]:
    found = [Daemon(), Daemon(), Daemon()]
    yield found
    for daemon in found:
        daemon.end()


@pytest.fixture
def network(daemons: list[Daemon], operator: User, settings: Any) -> Network:
    """Three brokers that run, and one that does not."""
    positions = [[0.1, 0.1], [0.9, 0.1], [0.5, 0.9], [0.5, 0.5]]
    ring = topologies.create(name="ring", kind="ring", brokers=4, params={}, seed=1, owner=operator)
    rows = [
        {"index": index, "state": "up", "address": daemon.text, "pid": daemon.process.pid, "restarts": 0}
        for index, daemon in enumerate(daemons)
    ]
    return Network.objects.create(
        name="n",
        topology=ring,
        deployed={**topologies.document(ring), "positions": positions},
        state=NetworkState.RUNNING,
        host=settings.HOST_NAME,
        brokers=[*rows, {"index": 3, "state": "failed", "address": "127.0.0.1:9", "pid": None, "restarts": 5}],
    )


def test_healthy_brokers_come_first_and_only_they_are_in_the_text(
    network: Network,
    daemons: list[Daemon],
    api: APIClient,
    client: Client,
    operator: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    os.kill(daemons[1].process.pid, signal.SIGSTOP)
    known: dict[int | None, dict[str, float]] = {n: {"asked": 5, "answered": 5, "load_per_s": 7.0} for n in (0, 2)}
    monkeypatch.setattr(bootstrap.time, "time", lambda: NOW + 0.5)
    probe_file(network).write(FEW_SECONDS, NOW - 10, known)
    url = f"/api/networks/{network.pk}/bootstrap"
    answer = wait_for(
        lambda: (found := api.get(f"{url}/")).json()["healthy"] == 2 and found, "both that run have answered in time"
    )
    found = answer.json()
    assert (found["network"], found["state"], found["by"]) == (network.pk, "running", "latency")
    assert (found["healthy"], found["renew_after_s"]) == (2, RENEW_SOON_S)
    assert answer["Cache-Control"] == f"private, max-age={RENEW_SOON_S}"
    assert [one["health"] for one in found["brokers"]] == ["healthy", "healthy", "silent", "down"]
    took = [one["round_trip_us"] for one in found["brokers"]]
    assert 0 < took[0] <= took[1]
    assert took[2:] == [None, None]
    assert {one["broker_index"]: one["load_per_s"] for one in found["brokers"]} == {0: 7.0, 1: None, 2: 7.0, 3: None}
    lines = [daemons[2].text, daemons[0].text]
    by_place = wait_for(
        lambda: (text := api.get(f"{url}.txt?by=place&x=0.6&y=1")).content.decode().splitlines() == lines and text,
        "the same as text, by place",
    )
    assert by_place["Content-Type"].startswith("text/plain")
    client.force_login(operator)
    page = client.get(f"/networks/{network.pk}/").content.decode()
    assert f"http://testserver/api/networks/{network.pk}/bootstrap.txt" in page


def test_a_broker_that_was_not_asked_yet_is_not_called_down(
    network: Network, api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "pinged", lambda *_: {0: 90.0})
    found = api.get(f"/api/networks/{network.pk}/bootstrap/").json()
    assert [one["health"] for one in found["brokers"]] == ["healthy", "silent", "silent", "down"]


def test_wrong_parameters_are_named(network: Network, api: APIClient) -> None:
    for query, field in (
        ("by=colour", "by"),
        ("by=place", "x"),
        ("by=place&x=1", "y"),
        ("by=place&x=nan&y=0", "x"),
        ("x=1", "x"),
        (f"client={'c' * 101}", "client"),
        ("nearest=1", "nearest"),
    ):
        for path in ("bootstrap/", "bootstrap.txt"):
            answer = api.get(f"/api/networks/{network.pk}/{path}?{query}")
            assert (answer.status_code, answer.json()["field"]) == (400, field), query
    assert api.get("/api/networks/nothere/bootstrap.txt").status_code == 404


def test_a_network_that_does_not_run_has_no_healthy_brokers(network: Network, api: APIClient) -> None:
    Network.objects.filter(pk=network.pk).update(state=NetworkState.STOPPED, brokers=[])
    found = api.get(f"/api/networks/{network.pk}/bootstrap/").json()
    assert (found["state"], found["healthy"], found["brokers"]) == ("stopped", 0, [])
    text = api.get(f"/api/networks/{network.pk}/bootstrap.txt")
    assert (text.status_code, text.content) == (200, b"")


def test_a_list_as_text_is_one_address_a_line() -> None:
    one = Entry(0, format_address(("::1", 7000)), "healthy", "up", 1.0, None, None)
    other = Entry(1, "127.0.0.1:9", "silent", "up", None, None, None)
    assert List([one, other], 0.0, RENEW_S).text == "[::1]:7000\n"


@pytest.mark.parametrize(("system", "entrance"), [("contextnet", "gateway"), ("federation", "broker")])
def test_servers_through_which_no_client_enters_are_not_listed(
    operator: User, api: APIClient, client: Client, monkeypatch: pytest.MonkeyPatch, system: str, entrance: str
) -> None:
    if system == "federation":
        line = topologies.create(name="line", kind="line", brokers=2, params={}, seed=1, owner=operator)
        network = services.deploy(name="n", system=system, topology=line)
    else:
        network = services.deploy(name="n", system=system, settings={"network_gateways": 2, "mqtt_proxies": 1})
    servers = broker_index.servers_of(network)
    assert {servers.role(index) for index in range(2)} == {entrance} != set(servers.roles)
    rows = [
        {
            "index": index,
            "name": f"{servers.role(index)}-{index}",
            "state": "up",
            "address": f"127.0.0.1:{7000 + index}",
        }
        for index in range(len(servers))
    ]
    Network.objects.filter(pk=network.pk).update(state=NetworkState.RUNNING, brokers=rows, host="here")
    asked: list[list[int]] = []

    def pinged(_: Any, up: dict[int, Any], __: float) -> dict[int, float]:
        asked.append(sorted(up))
        return dict.fromkeys(up, 90.0)

    monkeypatch.setattr(bootstrap, "pinged", pinged)
    found = api.get(f"/api/networks/{network.pk}/bootstrap/").json()
    assert [one["broker_index"] for one in found["brokers"]] == [0, 1]
    assert (found["healthy"], found["renew_after_s"]) == (2, RENEW_S), "all that are asked answer"
    assert asked == [[0, 1]]
    text = api.get(f"/api/networks/{network.pk}/bootstrap.txt").content.decode()
    assert text == "127.0.0.1:7000\n127.0.0.1:7001\n"
    assert [one.index for one in announced("here", "127.0.0.1", NOW)] == [0, 1]
    client.force_login(operator)
    page = client.get(f"/networks/{network.pk}/").content.decode()
    assert f"the {entrance}s that answer a ping" in page
