"""The pages of ContextNet: a run in its words, its messages and their ways, gateways and rounds, a network whose
gateways are drained, and the same by REST."""

from __future__ import annotations

import json
import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from brokerweb.experiments.models import Run
from brokerweb.networks import live_data, services
from brokerweb.networks.models import Network
from tests.pages.handed_over import make_driven, make_run, rows_of

ROW = {"state": "up", "reason": "", "restarts": 0, "pid": 1, "since_unix_ms": 1_700_000_000_000}


def page_of(browser: Client, address: str, **headers: str) -> str:
    answer = browser.get(address, headers=headers)
    assert answer.status_code == 200, address
    return answer.content.decode()


def rows_in(page: str) -> list[str]:
    return re.findall(r"<tr data-row>(.*?)</tr>", page, re.DOTALL)


def data_in(page: str, id: str) -> dict[str, object]:
    return json.loads(re.search(rf'<script id="{id}" type="application/json">(.*?)</script>', page, re.DOTALL)[1])


def test_a_run_of_nodes_that_come_and_go(olga: Client, operator: User) -> None:
    run = make_run(operator)
    page = page_of(olga, f"/runs/{run.pk}/")
    for words in (
        "Transmission efficiency",
        "RTT, from the instant",
        "Nodes, records under way",
        "Hand-overs per minute",
    ):
        assert words in page
    measures = olga.get(f"/api/runs/{run.pk}/").json()["summary"]["measures"]
    assert (measures["sent"], measures["delivered"], measures["te"], measures["duplicates"]) == (192, 192, 100, 0)
    assert measures["stored"] == len(rows_of(run, show="stored")) > 0
    assert page_of(olga, f"/experiments/{run.experiment_id}/")
    the_messages(olga, run)
    the_way_of_a_stored_message(olga, run)
    the_gateways(olga, run)
    assert "do not drive" in page_of(olga, f"/runs/{run.pk}/contextnet/map/")
    assert olga.get(f"/api/runs/{run.pk}/region-map/").status_code == 404


def the_messages(olga: Client, run: Run) -> None:
    address = f"/runs/{run.pk}/contextnet/messages/"
    assert f'hx-get="{address}"' in page_of(olga, f"/runs/{run.pk}/")
    assert len(rows_in(page_of(olga, address))) == 50
    assert len(rows_in(page_of(olga, address, **{"HX-Request": "true"}))) == 10
    assert len(rows_in(page_of(olga, f"{address}?page=4"))) == 192 - 150
    assert len(rows_in(page_of(olga, f"{address}?node=3&direction=inbound"))) == 12
    assert "No message was lost." in page_of(olga, f"{address}?show=lost")
    assert rows_in(page_of(olga, f"{address}?node=x&show=nothing")) == rows_in(page_of(olga, address))
    found = olga.get(f"/api/runs/{run.pk}/traces/?show=stored&page_size=5").json()
    assert [one["id"] for one in found["results"]] == [one["id"] for one in rows_of(run, show="stored")[:5]]
    refused = olga.get(f"/api/runs/{run.pk}/traces/?node=x").json()
    assert (refused["field"], refused["code"]) == ("node", "invalid")
    assert 0 < olga.get(f"/api/runs/{run.pk}/traces/?node=1&direction=inbound").json()["count"] < found["count"] + 100


def the_way_of_a_stored_message(olga: Client, run: Run) -> None:
    row = next(row for row in rows_of(run, show="stored", direction="outbound") if row["outcome"] == "delivered")
    page = page_of(olga, f"/runs/{run.pk}/contextnet/messages/{row['id']}/")
    drawn, walk, graph = (data_in(page, name) for name in ("sequence-data", "walk-data", "graph-data"))
    assert drawn["lanes"][0] == f"node {row['node']}"
    assert {"log", "application 0", "store 0"} <= set(drawn["lanes"])
    assert [one["name"] for one in graph["nodes"]] == drawn["lanes"]
    assert len(walk["passages"]) == len(drawn["messages"])
    assert walk["stored"] == [drawn["lanes"].index("store 0")]
    steps = " ".join(rows_in(page))
    assert "gave it to the store" in steps
    assert "sent it on: the node is back" in steps
    address = f"/api/runs/{run.pk}/traces/"
    found = olga.get(f"{address}{row['id']}/").json()
    assert found["passages"][-1]["arrived_us"] - found["at_us"] == found["us"] == row["us"]
    assert {one["topic"] for one in found["steps"]} >= {"unsent", "answers.application-0"}
    assert olga.get(f"{address}{'0' * 32}/").status_code == 404
    assert olga.get(f"/runs/{run.pk}/contextnet/messages/{'0' * 32}/").status_code == 404


def the_gateways(olga: Client, run: Run) -> None:
    address = f"/runs/{run.pk}/contextnet/gateways/"
    assert len(rows_in(page_of(olga, address, **{"HX-Request": "true"}))) == 2
    page = page_of(olga, address)
    assert {"nodes", "wanted", "scores", "moves", "lag"} <= data_in(page, "charts").keys()
    found = olga.get(f"/api/runs/{run.pk}/gateways/").json()
    assert sum(one["given"] for one in found["gateways"]) == sum(one["moves"] for one in found["rounds"]) > 0
    moved = [one for one in found["rounds"] if one["moves"]]
    assert len(rows_in(page)) == 2 + 2 * len(moved)
    assert len(rows_in(page_of(olga, f"{address}?show=all"))) == 2 + 2 * len(found["rounds"])


def test_nodes_that_drive_are_drawn_with_their_regions(olga: Client, operator: User) -> None:
    run = make_driven(operator)
    measures = olga.get(f"/api/runs/{run.pk}/").json()["summary"]["measures"]
    assert measures["group_wrong"] == 0, "groups are the regions of the grid"
    address = f"/runs/{run.pk}/contextnet/map/"
    assert f'href="{address}"' in page_of(olga, f"/runs/{run.pk}/")
    page = page_of(olga, address)
    found = olga.get(f"/api/runs/{run.pk}/region-map/").json()
    assert data_in(page, "map-data")["casts"] == found["casts"]
    assert (found["side_km"], found["across"], len(found["nodes"])) == (5, 2, 8)
    assert all(0 <= place[axis] < 5 for one in found["nodes"] for place in one["places"] for axis in "xy")
    assert len({(place["x"], place["y"]) for place in found["nodes"][0]["places"]}) > 5
    assert sum(len(one["received"]) for one in found["casts"]) > 0
    assert {one["name"] for one in found["casts"]} == {"0:0", "1:0", "0:1", "1:1"}
    assert olga.get(f"/api/runs/{run.pk}/region-map/?from_s=-1").json()["field"] == "from_s"


@pytest.fixture
def network(operator: User, monkeypatch: pytest.MonkeyPatch) -> Network:
    """Of two gateways, the second of which an operator drains. No process runs; what they report is made up."""
    made = services.deploy(name="Rio", system="contextnet", settings={"network_gateways": 2}, owner=operator)
    row = {"state": "up", "reason": "", "restarts": 0, "pid": None, "since_unix_ms": 0, "address": "127.0.0.1:9"}
    brokers = [{**row, "index": index, "name": f"gateway-{index}"} for index in (0, 1)]
    brokers[1]["faults"] = ["drain"]
    brokers.append({**row, "index": 2, "name": "poa-0"})
    load = [
        {"index": 0, "connections": 7, "pool_used": 2, "parked": 1, "log_lag_ms": 4},
        {"index": 1, "connections": 3},
    ]
    monkeypatch.setattr(live_data, "frame", lambda network: {"load": {"brokers": load}})
    Network.objects.filter(pk=made.pk).update(state="running", host="here", brokers=brokers)
    return Network.objects.get(pk=made.pk)


def test_a_gateway_of_a_network_is_drained_and_opened_again(
    olga: Client, network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "worker_missing", lambda host: "")
    address = f"/contextnet/networks/{network.pk}/gateways/"
    first, second = rows_in(page_of(olga, address))
    assert "takes nodes" in first
    assert "Drain this gateway" in first
    assert "3 nodes left" in second
    assert "Take nodes again" in second
    assert [one["state"] for one in olga.get(f"/api/networks/{network.pk}/gateways/").json()] == [
        "takes nodes",
        "draining",
    ]
    assert olga.post(f"{address}0/drain/").status_code == 302
    assert olga.post(f"{address}1/open/").status_code == 302
    assert {(one.broker, one.begins) for one in network.fault_orders.all()} == {(0, True), (1, False)}
    first, second = rows_in(page_of(olga, address))
    assert "drain requested" in first
    assert "opening requested" in second
    assert olga.post(f"{address}2/drain/").status_code == 404, "the PoA manager is no gateway"
    assert olga.post(f"{address}0/eat/").status_code == 404


def test_a_network_shows_where_clients_of_mqtt_connect(olga: Client, operator: User) -> None:
    rows = [
        ROW | {"index": 0, "name": "gateway-0", "address": "127.0.0.1:20000"},
        ROW | {"index": 3, "name": "mqtt-0", "address": "127.0.0.1:20003", "accepts": "MQTT 3.1.1"},
    ]
    network = Network.objects.create(
        name="Nodes",
        system="contextnet",
        settings={"mqtt_proxies": 1},
        deployed={"brokers": 1, "links": []},
        state="running",
        host="lab-1",
        brokers=rows,
        owner=operator,
    )
    page = olga.get(f"/networks/{network.pk}/").content.decode()
    assert page.count("UDP, and TCP for MQTT 3.1.1") == 1
    assert "MQTT proxy 0" in page
    brokers = olga.get(f"/api/networks/{network.pk}/").json()["brokers"]
    assert [one.get("accepts") for one in brokers] == [None, "MQTT 3.1.1"]


def test_a_form_offers_the_workload_without_a_topology(olga: Client) -> None:
    page = olga.get("/experiments/new/?system=contextnet").content.decode()
    assert "Mobile nodes in all." in page
    assert "Messages that cannot be delivered" in page
