"""A network that runs and does not answer: its page and the list say so, and its state in REST stays what it is."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from brokerweb.alarms import services
from brokerweb.control.reaping import mark_networks
from brokerweb.networks.answering import trouble
from brokerweb.networks.models import Host, Network, NetworkState
from brokerweb.networks.probes import FEW_SECONDS
from brokerweb.networks.probing import probe_file
from brokerweb.networks.services import gone
from brokerweb.topologies import services as topologies

pytestmark = pytest.mark.django_db

FINE = FEW_SECONDS
NOW = 1_795_400_000


@pytest.fixture
def network(operator: User, settings: Any) -> Network:
    """Three brokers that are up, and one that is not."""
    ring = topologies.create(name="ring", kind="ring", brokers=4, params={}, seed=1, owner=operator)
    common = {"state": "up", "reason": "", "restarts": 0, "pid": None, "since_unix_ms": 0}
    rows: list[dict[str, Any]] = [
        {**common, "index": index, "address": f"127.0.0.1:{7000 + index}"} for index in range(4)
    ]
    rows[3]["state"] = "restarting"
    return Network.objects.create(
        name="n",
        topology=ring,
        deployed=topologies.document(ring),
        state=NetworkState.RUNNING,
        host=settings.HOST_NAME,
        brokers=rows,
    )


def probed(network: Network, at_s: int, answered: Sequence[int]) -> None:
    found: dict[int | None, dict[str, float]] = {
        index: {"asked": 5, "answered": count} for index, count in enumerate(answered)
    }
    probe_file(network).write(FINE, at_s, found)


def test_the_newest_complete_step_counts(network: Network) -> None:
    assert trouble(network, None, NOW) == "", "nothing is known"
    probed(network, NOW - 20, [0, 0, 0, 0])
    assert trouble(network, None, NOW) == "None of 3 brokers answered the latest probes. Their processes run."
    probed(network, NOW - 10, [5, 0, 1, 0])
    assert trouble(network, None, NOW + 9).startswith("2 of 3 brokers answered ")
    probed(network, NOW - 10, [5, 1, 1, 0])
    assert trouble(network, None, NOW + 9) == "", "the one that restarts is shown in the table"
    assert trouble(network, None, NOW + 60) == "", "what was long ago says nothing"
    probed(network, NOW - 10, [0, 0, 0, 0])
    network.state = NetworkState.DEGRADED
    assert trouble(network, None, NOW) == "", "its reason is shown"


def test_a_silent_host_is_named(network: Network) -> None:
    host = Host.objects.create(name=network.host, heartbeat=timezone.now())
    assert trouble(network, host, NOW) == ""
    host.heartbeat = timezone.now() - timedelta(hours=1)
    host.save()
    said = trouble(network, host, NOW)
    assert f"s on host {network.host}." in said
    assert said.endswith("It is unknown which brokers answer; the states shown are the last ones observed.")
    for state in (NetworkState.STARTING, NetworkState.DEGRADED, NetworkState.STOPPING):
        network.state = state
        assert trouble(network, host, NOW) == said, state
    network.state = NetworkState.STOPPED
    assert trouble(network, host, NOW) == "", "nothing should answer"


def test_pages_show_it_as_degraded_and_rest_keeps_the_state(
    network: Network, operator: User, api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time", lambda: NOW + 1.0)
    browser = Client()
    browser.force_login(operator)
    addresses = ("/networks/", f"/networks/{network.pk}/", f"/networks/{network.pk}/brokers/")
    for answered, word, said in (([5, 5, 5], "running", False), ([0, 0, 0], "degraded", True)):
        probed(network, NOW - 5, answered)
        for address in addresses:
            page = browser.get(address).content.decode()
            assert f'class="state state-{word}"' in page, address
            assert ("None of 3 brokers answered the latest probes." in page) is said, address
        assert api.get(f"/api/networks/{network.pk}/").json()["state"] == "running"


def test_a_network_whose_host_is_gone_is_degraded_everywhere_until_the_host_is_back(
    network: Network, operator: User, api: APIClient
) -> None:
    host = Host.objects.create(name=network.host, heartbeat=timezone.now())
    services.create(network, measure="p95_us", comparison="above", value="5ms")
    other = Network.objects.create(name="other", deployed=network.deployed, state="running", host="elsewhere")
    url, browser = f"/api/networks/{network.pk}/", Client()
    browser.force_login(operator)
    mark_networks()
    assert api.get(url).json()["state"] == "running"
    assert api.get(f"{url}alarms/").json()[0]["unwatched"] == ""
    Host.objects.update(heartbeat=timezone.now() - timedelta(hours=1))
    mark_networks()
    host.refresh_from_db()
    sentence = gone(host)
    for found in (api.get(url).json(), *api.get("/api/networks/?state=degraded").json()["results"]):
        assert (found["id"], found["state"], found["reason"]) == (network.pk, "degraded", sentence)
    changed = Network.objects.get(pk=network.pk).changed
    mark_networks()
    assert Network.objects.get(pk=network.pk).changed == changed, "it is said once"
    assert sentence in browser.get(f"/networks/{network.pk}/").content.decode()
    assert api.get(f"{url}bootstrap/").json()["state"] == "degraded"
    alarm = api.get(f"{url}alarms/").json()[0]
    assert (alarm["state"], alarm["unwatched"]) == ("quiet", f"Alarms are not evaluated. {sentence}")
    assert "Alarms are not evaluated." in browser.get(reverse("alarms:part", args=[network.pk])).content.decode()
    probed(network, int(time.time()) // FINE.step_s * FINE.step_s - FINE.step_s, [5, 5, 5])
    assert api.get(f"{url}alarms/").json()[0]["unwatched"] == "", "its live feed is there"
    other.refresh_from_db()
    assert other.state == "running"


def test_a_network_of_a_host_that_does_not_return_can_be_stopped_and_deleted(
    network: Network, operator: User, api: APIClient
) -> None:
    url, browser = f"/api/networks/{network.pk}/", Client()
    browser.force_login(operator)
    Host.objects.create(name=network.host, heartbeat=timezone.now() - timedelta(hours=1))
    stopping = api.post(f"{url}stop/").json()
    assert (stopping["state"], stopping["reason"][:27]) == ("stopping", "No worker has answered for ")
    mark_networks()
    assert "since" in api.get(url).json()["reason"]
    assert 'id="delete-network"' in browser.get(f"/networks/{network.pk}/").content.decode()
    Host.objects.update(heartbeat=timezone.now())
    assert api.delete(url).status_code == 409
    Host.objects.update(heartbeat=timezone.now() - timedelta(hours=1))
    assert api.delete(url).status_code == 204
