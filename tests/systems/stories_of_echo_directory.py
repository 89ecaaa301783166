"""A system with two roles through the pages and REST: each server has its own name everywhere.

``test_toys_everywhere`` runs these in a process of their own, which learns of the system by its environment.
"""

from __future__ import annotations

import json
import re

import pytest
from django.test import Client

from brokerweb.control import host
from brokerweb.control.reconcile import reconcile_host
from brokerweb.experiments.models import Run
from brokerweb.networks import probing
from brokerweb.networks.models import Network
from brokerweb.networks.probes import TIERS
from brokerweb.simulations import job
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)

NAMES = ["echo-0", "echo-1", "echo-2", "echo-3", "directory-0"]


@pytest.fixture
def looking(operator):
    browser = Client()
    browser.force_login(operator)
    return browser


@pytest.fixture
def run(api, ring):
    body = {"name": "echoes", "system": "echo-directory", "topology": ring["id"], "engine": "simulated", "seed": 5}
    body["workload"] = {"callers": 8, "duration_s": 3, "interval_ms": 200}
    made = api.post("/api/experiments/", body, format="json")
    assert made.status_code == 201, made.content
    assert api.post(f"/api/experiments/{made.json()['id']}/launch/").status_code == 201
    job.compute()
    found = Run.objects.get()
    assert (found.state, found.reason) == ("done", "")
    return found


@pytest.fixture
def network(api, ring, supervisor):
    made = api.post("/api/networks/", {"name": "n", "system": "echo-directory", "topology": ring["id"]}, format="json")
    assert made.status_code == 201, made.content

    def is_up():
        reconcile_host("here", "test", supervisor)
        return Network.objects.get().state == "running"

    wait_for(is_up, "the network runs", every=0.05)
    return Network.objects.get()


def script(page, name):
    return json.loads(re.search(rf'<script id="{name}" type="application/json">(.*?)</script>', page, re.DOTALL)[1])


def text_of(page):
    return re.sub(r"\s+", " ", re.sub(r"<script.*?</script>|<[^>]+>", " ", page, flags=re.DOTALL))


def content_of(page):
    return text_of(page.split("<main")[1].split("</main>")[0])


def drawn(page):
    return [(node["index"], node["name"], node["shape"]) for node in script(page, "graph-data")["nodes"]]


def test_the_page_of_a_run_names_each_server_by_its_role(looking, run):
    page = looking.get(f"/runs/{run.pk}/").content.decode()
    assert "4 echo servers, 1 directory, 8 callers" in page
    assert drawn(page)[3:] == [(3, "Echo server 3", "ellipse"), (4, "Directory 0", "round-rectangle")]
    assert script(page, "live")["servers"] == {
        "one": "Server",
        "titles": [*(f"Echo server {number}" for number in range(4)), "Directory 0"],
    }
    assert re.findall(r'data-broker="(\d)"[^>]*>([^<]*)</button>', page)[-1] == ("4", "Directory 0")
    assert not re.search(r"\bbrokers?\b", content_of(page), re.IGNORECASE)


def test_each_server_of_a_run_has_its_panel_link_and_rest(api, looking, run):
    rows = api.get(f"/api/runs/{run.pk}/brokers/").json()["results"]
    assert [(row["index"], row["name"]) for row in rows] == list(enumerate(NAMES))
    found = api.get(f"/api/runs/{run.pk}/brokers/4/").json()
    assert (found["index"], found["now"]["name"]) == (4, "directory-0")
    assert ">Directory 0</h3>" in looking.get(f"/runs/{run.pk}/?broker=4").content.decode()
    panel = text_of(looking.get(f"/runs/{run.pk}/brokers/4/").content.decode())
    assert "Directory 0" in panel
    assert "No reports" not in panel
    assert looking.get(f"/runs/{run.pk}/brokers/5/").status_code == 404
    assert api.get(f"/api/runs/{run.pk}/brokers/5/").status_code == 404
    exported = api.get(f"/api/runs/{run.pk}/brokers/?format=csv").content.decode().splitlines()
    assert exported[-1].startswith("4,directory-0,")


def test_a_network_of_it_shows_pings_and_restarts_its_directory(api, looking, network, supervisor):
    assert [row["name"] for row in api.get(f"/api/networks/{network.pk}/").json()["brokers"]] == NAMES
    assert "Servers up" in (listed := content_of(looking.get("/networks/").content.decode()))
    assert "5 of 5" in listed
    page = looking.get(f"/networks/{network.pk}/").content.decode()
    assert "4 echo servers, 1 directory" in page
    assert drawn(page)[-1] == (4, "Directory 0", "round-rectangle")
    assert '<option value="4">Directory 0</option>' in page
    assert 'aria-label="Restart directory 0"' in page
    assert not re.search(r"\bbrokers?\b", content_of(page), re.IGNORECASE)
    panel = looking.get(f"/networks/{network.pk}/brokers/4/").content.decode()
    assert "Directory 0" in panel
    assert "does not answer" not in panel
    host.beat({})
    asked = looking.post(f"/networks/{network.pk}/brokers/4/restart/", follow=True).content.decode()
    assert "Directory 0 will be restarted within a few seconds." in asked

    def is_back():
        reconcile_host("here", "test", supervisor)
        row = Network.objects.get().brokers[4]
        return (row["restarts"], row["state"]) == (1, "up")

    wait_for(is_back, "the directory is back", every=0.05)
    events = f"/api/networks/{network.pk}/events/"
    wait_for(lambda: "directory 0 restarted" in str(api.get(events).json()), "the restart is an event")
    assert api.get(f"/api/networks/{network.pk}/brokers/5/").status_code == 404


def test_its_directory_has_a_series_of_probes_of_its_own(api, network, monkeypatch):
    prober, clock = probing.Prober("here"), iter(range(1_000_000, 2_000_000))
    monkeypatch.setattr(probing.time, "time", lambda: next(clock))
    for _ in range(3):
        prober.round()
    found = probing.probe_file(network)
    of_directory, of_all = (found.read(TIERS[0], index, next(clock)) for index in (4, None))
    counts = {name: sum(filter(None, of_directory[name])) for name in ("asked", "answered")}
    assert counts["answered"] == counts["asked"] > 0
    assert sum(filter(None, of_all["asked"])) == 5 * counts["asked"]
    answer = api.get(f"/api/networks/{network.pk}/series/?broker=4")
    assert (answer.status_code, answer.json()["broker"]) == (200, 4)
