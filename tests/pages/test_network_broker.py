"""The overlay of a network that stays up and one of its brokers, as its page and REST tell of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from brokerweb.control import host
from brokerweb.networks import load_polling
from brokerweb.networks.models import Network
from overlay.programs.context_broker.client import ContextClient
from tests.pages.furniture import House
from tests.runtime.daemons import Daemon


def text_of(answer: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer))


def frame_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script id="frame" type="application/json">(.*?)</script>', page)
    assert found
    frame: dict[str, Any] = json.loads(found[1])
    return frame


@pytest.fixture
def daemon() -> Iterator[Daemon]:
    """A broker that really runs."""
    one = Daemon()
    yield one
    one.end()


@pytest.fixture
def network(house: House, daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> Network:
    """The house's network on this host, of which only the broker of number 3 answers, at every look."""
    monkeypatch.setattr(load_polling, "AGE_S", 0)
    network: Network = house.network
    network.host = settings.HOST_NAME
    network.brokers[3] |= {"address": daemon.text, "pid": daemon.process.pid}
    network.save()
    return network


def test_a_broker_of_a_network_is_asked_itself(olga: Client, viktor: Client, network: Network, daemon: Daemon) -> None:
    address = f"/networks/{network.id}/brokers/3/"
    viktor.get(address)
    client = ContextClient([daemon.address], 5)
    client.provide("sensor", ("room", "r1", "temp"), b"t=1;", 60_000)
    part = viktor.get(address).content.decode()
    said = text_of(part)
    assert "Table 1 data" in said
    assert re.search(r"Load \d\S*/s", said)
    assert re.search(r"CPU \S+ % of a core Private memory \d\S+ MB", said)
    assert "Neighbours None." in said
    assert "Brokers report only the number of entries; query an entity to see its data." in said
    assert "Messages of networks are not recorded. The walk of your query appears below." in said
    assert "Reported by the broker" in said
    assert f'hx-get="{address}?part=now" hx-trigger="every 2s"' in part
    assert "panel-head" not in viktor.get(f"{address}?part=now").content.decode()
    told = olga.get(f"/api{address}").json()
    assert (told["own"]["asked"], told["own"]["address"], told["own"]["counters"]["in_2"]) == (True, daemon.text, 1)
    assert (told["traced_one_in"], told["own"]["entries"], told["own"]["messages"]) == (100, [], [])


def test_its_picture_has_the_state_load_and_memory_of_each_broker(
    olga: Client, network: Network, daemon: Daemon
) -> None:
    first = frame_of(olga.get(f"/networks/{network.id}/").content.decode())
    assert [row["state"] for row in first["brokers"]] == ["up"] * 10
    (memory,) = first["memory"]["brokers"]
    assert memory["index"] == 3
    assert memory["uss_bytes"] == pytest.approx(daemon.uss_bytes(), rel=0.2)
    assert "in_2_per_s" not in first["load"]["brokers"][0]  # of one look no rate can be told
    ContextClient([daemon.address], 5).provide("sensor", ("room", "r1", "temp"), b"t=1;", 60_000)
    part = olga.get(f"/networks/{network.id}/brokers/").content.decode()
    frame = frame_of(part)
    assert frame["load"]["brokers"][0]["in_2_per_s"] > 0
    assert frame["totals"]["load_per_s"] > 0
    assert frame["totals"]["entries"] == 1
    assert 'data-broker="3"' in part
    assert 'id="network-state" hx-swap-oob="true"' in part
    assert 'data-opened="3"' in olga.get(f"/networks/{network.id}/?broker=3").content.decode()


def test_rest_tells_all_brokers_of_a_network_page_by_page(olga: Client, network: Network) -> None:
    rows = olga.get(f"/api/networks/{network.id}/brokers/?page_size=4").json()
    assert (rows["count"], len(rows["results"]), rows["results"][3]["entries"]) == (10, 4, 0)
    assert olga.get(rows["next"]).json()["results"][0]["index"] == 4
    assert olga.get(f"/api/networks/{network.id}/brokers/?page_size=0").status_code == 400


def test_memory_is_known_on_the_host_of_the_network_alone(olga: Client, network: Network) -> None:
    Network.objects.filter(pk=network.pk).update(host="elsewhere")
    (memory,) = frame_of(olga.get(f"/networks/{network.id}/").content.decode())["memory"]["brokers"]
    assert (memory["uss_bytes"], memory["table_bytes"]) == (None, 0)


def test_of_a_stopped_network_nobody_is_asked(olga: Client, house: House) -> None:
    network = house.network.id
    Network.objects.filter(pk=network).update(state="stopped", desired="stopped", brokers=[])
    page = olga.get(f"/networks/{network}/").content.decode()
    assert "All brokers are stopped." in page
    assert frame_of(page)["memory"] == {"brokers": []}
    closed = olga.get(f"/networks/{network}/brokers/?part=totals").content.decode()
    assert "All brokers" in closed
    assert "every 2s" not in closed


def test_actions_follow_the_state_of_the_network(olga: Client, viktor: Client, house: House) -> None:
    network = house.network.id
    page = olga.get(f"/networks/{network}/").content.decode()
    (poll,) = re.findall(r'id="network-brokers" hx-get="([^"]+)"', page)
    assert 'id="stop-network"' in page
    assert "network-actions" not in olga.get(poll).content.decode(), "they have not changed"
    Network.objects.filter(pk=network).update(state="stopped", desired="stopped", brokers=[])
    part = olga.get(poll).content.decode()
    assert 'id="network-actions" hx-swap-oob="true"' in part
    assert re.findall(r'id="(\w+)-network"', part) == ["change", "start", "delete"]
    assert "network-actions" not in viktor.get(poll).content.decode(), "an account that is read-only has none"


def test_one_that_does_not_answer_says_so_and_one_there_is_not_is_404(olga: Client, house: House) -> None:
    network = house.network.id
    Network.objects.filter(pk=network).update(state="starting")
    assert "The broker does not answer." in olga.get(f"/networks/{network}/brokers/0/").content.decode()
    assert "no broker answers" in olga.get(f"/networks/{network}/").content.decode()
    assert olga.get(f"/api/networks/{network}/brokers/0/").json()["own"] is None
    for wrong in ("10", "99999999", "x", "-1"):
        assert olga.get(f"/networks/{network}/brokers/{wrong}/").status_code == 404
        assert olga.get(f"/api/networks/{network}/brokers/{wrong}/").status_code == 404
        page = olga.get(f"/networks/{network}/?broker={wrong}")
        assert (page.status_code, "All brokers" in page.content.decode()) == (200, True)


def test_the_broker_to_ask_is_chosen_and_operators_restart_one(
    olga: Client, viktor: Client, network: Network, daemon: Daemon
) -> None:
    page = olga.get(f"/networks/{network.id}/").content.decode()
    assert '<option value="">Any running broker</option><option value="0">Broker 0</option>' in page
    ContextClient([daemon.address], 5).provide("sensor", ("room", "r1", "temp"), b"t=1;", 60_000)
    key = {"do": "ask", "type": "room", "entity": "r1", "scope": "temp"}
    said = text_of(olga.post(f"/networks/{network.id}/context/", {**key, "broker": "3"}).content.decode())
    assert f"Broker queried 3 {daemon.text}" in said
    assert re.search(r"Age \d", said)
    wrong = olga.post(f"/networks/{network.id}/context/", {**key, "broker": "10"}).content.decode()
    assert "Broker: must be from 0 to 9, not 10" in wrong

    restart = f"/networks/{network.id}/brokers/3/restart/"
    assert "Restart broker 3" in page
    assert "Restart broker 3" not in viktor.get(f"/networks/{network.id}/").content.decode()
    assert viktor.post(restart).status_code == 403
    assert olga.get(restart).status_code == 405
    assert olga.post(f"/networks/{network.id}/brokers/10/restart/").status_code == 404
    silent = text_of(olga.post(restart, follow=True).content.decode())
    assert "Broker 3 cannot be restarted now. No worker has answered" in silent
    host.beat({})
    told = text_of(olga.post(restart, follow=True).content.decode())
    assert "Broker 3 will be restarted within a few seconds." in told
    assert "restart requested" in told
    Network.objects.filter(pk=network.pk).update(state="stopped")
    refused = text_of(olga.post(restart, follow=True).content.decode())
    assert "This network is stopped; its brokers cannot be restarted." in refused
