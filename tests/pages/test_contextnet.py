"""The page of a run of ContextNet, in its words, and the same figures by REST."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.test import Client

from brokerweb.experiments import services as experiments
from brokerweb.experiments.models import Run
from brokerweb.networks.models import Network
from overlay.core.engines import SIMULATED
from overlay.experiment.definition import configurations
from overlay.experiment.sweeps import configuration_hash
from tests.pages.recorded import run_it

ROW = {"state": "up", "reason": "", "restarts": 0, "pid": 1, "since_unix_ms": 1_700_000_000_000}
WORKLOAD = {"nodes": 12, "messages": 3, "rate_per_min": 20, "connect_interval_ms": 10, "disconnecting_share": 0.5}


def test_a_run_shows_what_became_of_its_messages(olga: Client, operator: User) -> None:
    body = {
        "name": "Nodes",
        "system": "contextnet",
        "engine": SIMULATED,
        "workload": WORKLOAD | {"off_s": 3, "on_s": 6},
    }
    experiment = experiments.create(body, operator)
    (configuration,) = configurations(experiment.definition, experiments.find_topology)
    run = Run.objects.create(
        experiment=experiment,
        configuration=configuration,
        configuration_hash=configuration_hash(configuration),
        seed="7",
        owner=operator,
    )
    run_it(run)
    page = olga.get(f"/runs/{run.pk}/").content.decode()
    assert "Transmission efficiency" in page
    assert "Connections and records under way" in page
    assert olga.get(f"/experiments/{experiment.pk}/").status_code == 200
    found = olga.get(f"/api/runs/{run.pk}/").json()
    measures = found["summary"]["measures"]
    assert (measures["sent"], measures["delivered"], measures["te"], measures["duplicates"]) == (36, 36, 100, 0)


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
