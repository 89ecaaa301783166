"""Pages and REST of a system that is in no line of common code: federated brokers, from the form to a run's page."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from brokerweb.brokers.names import ServerNames
from brokerweb.brokers.overlay import of_run
from brokerweb.experiments import services as experiments
from brokerweb.experiments.models import Run
from brokerweb.networks import services
from brokerweb.networks.models import Network
from brokerweb.runpage import shown
from brokerweb.systems.federation.watching import tree, views
from brokerweb.systems.federation.watching.mobile import CONNECTED, MobileBroker
from brokerweb.systems.federation.watching.tree import Tree
from overlay.core.engines import SIMULATED
from overlay.experiment.definition import configurations
from overlay.experiment.sweeps import configuration_hash
from overlay.systems.registry import servers_title
from tests.pages.recorded import run_it

pytestmark = pytest.mark.django_db

BODY = {
    "name": "Federated",
    "system": "federation",
    "engine": SIMULATED,
    "settings": {"profile": "published", "service_ms": 7, "mobile_brokers": "2"},
    "workload": {"queries": 60, "rate_per_s": 30, "provider_ms": 2, "stagger_ms": 10},
    "faults": [{"what": "vanish", "clients": ["p3"], "way": "improper", "at_s": 1, "until_s": 1.5}],
}


def text_of(browser: Client, address: str) -> str:
    response = browser.get(address)
    assert response.status_code == 200, address
    page = response.content.decode()
    return " ".join(re.sub(r"<[^>]+>", " ", page[page.index("<main") :]).split())


def make_run(owner: User) -> Run:
    experiment = experiments.create(BODY, owner)
    (configuration,) = configurations(experiment.definition, experiments.find_topology)
    run = Run.objects.create(
        experiment=experiment,
        configuration=configuration,
        configuration_hash=configuration_hash(configuration),
        seed="7",
        owner=owner,
    )
    return run_it(run)


def test_a_run_is_shown_in_its_own_words(olga: Client, operator: User) -> None:
    run = make_run(operator)
    said = text_of(olga, f"/runs/{run.pk}/")
    assert "Federated brokers" in said
    assert "provider-3: vanishes" in said
    panel = olga.get(f"/runs/{run.pk}/brokers/0/").content.decode()
    assert "No reports" not in panel, "its brokers leave none in a run"
    summary = olga.get(f"/api/runs/{run.pk}/").json()["summary"]
    assert summary["federation"]["satisfied"] == summary["federation"]["subscriptions"] == 60


@pytest.mark.parametrize(
    ("workload", "is_there"),
    [({"kind": "once", "queries": 60}, True), ({"kind": "once", "queries": 0}, False), ({"kind": "stream"}, False)],
)
def test_a_run_without_requests_has_no_chart_of_their_response_times(workload: dict[str, Any], is_there: bool) -> None:
    run = SimpleNamespace(system="federation", summary={}, configuration={"system": "federation", "workload": workload})
    charts = shown.charts(run, servers_title(["federation"]))
    names = [chart["name"] for chart in charts]
    assert ("latency" in names, "clients" in names) == (is_there, True)
    assert charts[0]["size"], "event markers are below the first"
    assert sum(not chart["size"] for chart in charts) % 2 == 0, "no half stands alone"


def test_forms_and_rest_offer_the_system(olga: Client) -> None:
    for address in ("/experiments/new/?system=federation", "/networks/new/?system=federation"):
        said = text_of(olga, address)
        assert "Mobile brokers" in said and "Registrations" in said, address
    found = olga.get("/api/systems/federation/").json()
    assert [one["name"] for one in found["faults"]] == ["move", "offline", "vanish"]
    assert {"routing", "cache_cap", "mobile_brokers"} <= {one["name"] for one in found["settings"]}
    wrong = {**BODY, "settings": {"mobile_brokers": "7"}}
    refused = olga.post("/api/experiments/", json.dumps(wrong), content_type="application/json")
    assert refused.status_code == 400
    assert "the last broker is 2" in refused.content.decode()


@pytest.fixture
def village(operator: User) -> Network:
    """A network of three brokers, the last of them mobile, and the registration service. No process runs."""
    settings = {"mobile_brokers": "2", "bulk": "on"}
    made = services.deploy(name="Village", system="federation", settings=settings, owner=operator)
    row = {"state": "up", "reason": "", "restarts": 0, "pid": None, "since_unix_ms": 0, "address": "127.0.0.1:9"}
    names = ("broker-0", "broker-1", "broker-2", "bdrs-0")
    brokers = [{**row, "index": index, "name": name} for index, name in enumerate(names)]
    Network.objects.filter(pk=made.pk).update(state="running", host="here", brokers=brokers)
    return Network.objects.get(pk=made.pk)


def test_a_bulk_queue_says_what_waits_for_whom_and_how_long(
    olga: Client, village: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = {"client": "app", "number": 7, "scopes": ["climate"], "neighbours": ["b1"], "expires_in_ms": 60_000}
    rows = [{**waiting, "expression": text, "waits_ms": 2_000} for text in ("true", "temperature > 25")]
    bulk = {"waiting": 9, "omega": 12, "leaves_in_ms": 30_000}
    phone = MobileBroker(2, CONNECTED, bulk=bulk, waiting=rows)
    monkeypatch.setattr(views, "mobile_brokers", lambda network: [phone])
    page = olga.get(f"/federation/networks/{village.pk}/mobile/").content.decode()
    words = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert "Bulk queue: sent with 3 more, or in 30 s" in words.replace("\xa0", " ").replace("\u202f", " ")
    assert "all notifications Broker 1" in words
    assert "temperature &gt; 25 Broker 1" in words
    assert "And 7 more." in words


def test_a_drawing_marks_mobile_brokers_and_says_how(olga: Client, village: Network) -> None:
    page = olga.get(f"/networks/{village.pk}/").content.decode()
    drawn = json.loads(re.search(r'<script id="graph-data" type="application/json">(.*?)</script>', page)[1])
    shapes = {one["title"]: one["shape"] for one in drawn["nodes"]}
    assert len({shapes[name] for name in ("Broker 0", "Broker 2, mobile", "Registration service 0")}) == 3
    assert shapes["Broker 0"] == shapes["Broker 1"]
    assert "● broker, ■ registration service, ◆ mobile broker" in page


def test_the_last_of_an_odd_number_of_charts_takes_the_width(olga: Client, village: Network) -> None:
    page = olga.get(f"/networks/{village.pk}/").content.decode()
    spans = re.findall(r'class="panel span-(\d+) mb-0" data-chart=', page)
    assert spans == [*["6"] * 8, "12"]


def test_a_drained_broker_says_that_it_left_and_how_it_returns(olga: Client, village: Network) -> None:
    row = {**village.brokers[0], "state": "stopped", "reason": "drained"}
    Network.objects.filter(pk=village.pk).update(members={"0": "drained"}, brokers=[row, *village.brokers[1:]])
    said = " ".join(re.sub(r"<[^>]+>", " ", olga.get(f"/networks/{village.pk}/brokers/0/").content.decode()).split())
    assert "This server has left the network. Return it under Change." in said
    assert "stopped drained" in said and "Table" not in said


def test_a_removed_broker_is_no_component_of_its_own(olga: Client, village: Network) -> None:
    deployed = {**village.deployed, "links": village.deployed["links"][:1]}
    Network.objects.filter(pk=village.pk).update(members={"2": "removed"}, deployed=deployed, version=1)
    assert "components" not in text_of(olga, f"/networks/{village.pk}/")
    Network.objects.filter(pk=village.pk).update(members={}, version=2)
    assert "The overlay has 2 components" in text_of(olga, f"/networks/{village.pk}/")


def test_links_that_rest_at_the_start_of_a_run_are_marked() -> None:
    links = [{"a": a, "b": b, "delay_ms": delay} for a, b, delay in ((0, 1, 5), (2, 1, 1), (2, 0, 2))]
    run = {
        "system": "federation",
        "topology": {"kind": "custom", "brokers": 3, "links": links},
        "settings": {},
        "workload": {},
    }
    drawn = of_run(run, ServerNames.of(run))
    assert [(link["a"], link["b"]) for link in drawn["links"] if link.get("rests")] == [(0, 1)]
    assert drawn["rests"]
    refused = {**run, "settings": {"mobile_brokers": "first"}}
    assert not of_run(refused, ServerNames.of(refused))["rests"], "settings that this version does not know"


def test_after_a_restart_of_the_service_the_tree_is_that_which_brokers_still_use(
    olga: Client, village: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    phone = {"broker": "b2", "index": 2, "endpoint": "127.0.0.1:9", "is_mobile": True, "state": "valid"}
    rows = [{**phone, "silent_ms": 7, "silent_s": 0.007, "epoch": 0, "down": [], "dead": []}]
    restarted, used = Tree(0, frozenset(), rows), Tree(12, frozenset({(0, 1), (1, 2)}), (), is_of_service=False)
    monkeypatch.setattr(tree, "_asked", lambda network, index, *, is_service: restarted if is_service else used)
    said = text_of_part(olga, f"/federation/networks/{village.pk}/tree/")
    assert "Epoch of the tree 12 Edges of the tree 2 Links that rest 0 Brokers registered 1" in said
    assert "The registration service has restarted" in said
    answer = olga.get(f"/api/networks/{village.pk}/tree/").json()
    assert (answer["epoch"], answer["is_of_service"], answer["resting"]) == (12, False, [])
    assert [one["broker"] for one in answer["brokers"]] == ["b2"]
    used = restarted  # of a network that has just begun
    assert olga.get(f"/api/networks/{village.pk}/tree/").json()["is_of_service"]


def text_of_part(browser: Client, address: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", browser.get(address).content.decode()).split())


def test_a_fault_that_cannot_begin_at_a_broker_says_where_it_can(olga: Client, village: Network) -> None:
    asked = {"what": "offline", "begins": True}
    answer = olga.post(f"/api/networks/{village.pk}/brokers/0/faults/", asked, content_type="application/json")
    assert answer.status_code == 400
    assert answer.json()["sentence"] == "cannot begin at Broker 0, but at Broker 2"
    answer = olga.post(
        f"/api/networks/{village.pk}/brokers/0/faults/", {**asked, "what": "offlin"}, content_type="application/json"
    )
    assert answer.json()["sentence"] == "must be one of offline, move, not 'offlin'"
