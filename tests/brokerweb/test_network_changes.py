"""Changes of networks through REST: previews, refusals and quotas without a supervisor, and one live network."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from brokerweb.networks import changes
from brokerweb.networks.models import Host, Network
from overlay.runtime.supervisor_client import SupervisorClient
from overlay.systems.registry import SYSTEMS
from tests.brokerweb.test_networks import rounds_until, running

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def network(api: APIClient, ring: dict[str, Any]) -> Network:
    """A ring of four brokers that a host has reported to be up."""
    made = api.post("/api/networks/", {"name": "n", "topology": ring["id"]}, format="json").json()
    rows = [
        {"index": index, "address": f"127.0.0.1:2000{index}", "state": "up", "reason": "", "restarts": 0, "pid": 1}
        for index in range(4)
    ]
    Network.objects.filter(pk=made["id"]).update(state="running", host="here", brokers=rows)
    return Network.objects.get(pk=made["id"])


def url(network: Network, path: str = "") -> str:
    return f"/api/networks/{network.pk}/{path}"


def words(answer: Any) -> list[str]:
    assert answer.status_code in (200, 201), answer.content
    return [step["words"] for step in answer.json()["steps"]]


def ends(network: Network) -> set[tuple[int, int]]:
    network.refresh_from_db()
    return {(min(link["a"], link["b"]), max(link["a"], link["b"])) for link in network.deployed["links"]}


def test_a_preview_lists_the_steps_and_changes_nothing(api: APIClient, network: Network) -> None:
    asked = {"links": [0, 2], "dry_run": True}
    answer = api.post(url(network, "brokers/"), asked, format="json")
    assert words(answer) == ["Start broker 4", "Link brokers 0 and 4", "Link brokers 2 and 4"]
    assert (answer.status_code, answer.json()["version"], answer.json()["added"]) == (200, 1, [4])
    rolled = api.patch(url(network), {"settings": {"walk_ttl": 9}, "dry_run": True}, format="json")
    assert words(rolled)[1] == "Restart broker 1 with the changed settings"
    assert any("entries are given to its neighbours" in remark for remark in rolled.json()["remarks"])
    assert len(words(rolled)) == 4
    assert not any("While broker" in remark for remark in rolled.json()["remarks"]), "a ring has another way"
    assert words(api.delete(url(network, "brokers/3/?dry_run=true")))[0].startswith("Drain broker 3")
    network.refresh_from_db()
    assert (network.version, network.deployed["brokers"], network.members) == (0, 4, {})
    assert api.get(url(network, "rollout/")).json()["previous"] is None


def test_what_changes_nothing_names_the_version_that_there_is(api: APIClient, network: Network) -> None:
    assert api.post(url(network, "brokers/3/drain/")).json()["version"] == 1
    for answer in (
        api.post(url(network, "brokers/3/drain/")),
        api.patch(url(network), {}, format="json"),
        api.patch(url(network), {"name": "other"}, format="json"),
        api.patch(url(network), {"settings": {}, "dry_run": True}, format="json"),
    ):
        assert (answer.status_code, answer.json()["version"]) == (200, 1)
    assert api.post(url(network, "links/"), {"a": 0, "b": 2}, format="json").json()["version"] == 2
    answer = api.patch(url(network), {"settings": {"walk_ttl": 9}, "version": 2}, format="json")
    assert answer.json()["version"] == 3, "the version of an answer is the one to change"


def test_an_index_is_not_used_again_and_a_removed_broker_is_not_there(api: APIClient, network: Network) -> None:
    assert api.delete(url(network, "brokers/3/")).status_code == 200
    assert ends(network) == {(0, 1), (1, 2)}
    answer = api.post(url(network, "brokers/"), {"links": [0, 2]}, format="json")
    assert (answer.status_code, answer.json()["added"], answer.json()["version"]) == (201, [4], 2)
    assert ends(network) == {(0, 1), (1, 2), (0, 4), (2, 4)}
    assert api.post(url(network, "brokers/3/drain/")).status_code == 404
    refused = api.post(url(network, "links/"), {"a": 3, "b": 0}, format="json")
    assert (refused.status_code, refused.json()["field"]) == (400, "a")
    assert "there is no broker 3 (it was removed)" in refused.json()["sentence"]


def test_a_moved_broker_has_the_links_of_the_one_that_it_replaces(api: APIClient, network: Network) -> None:
    network.deployed["links"][0]["delay_ms"] = 2
    network.save()
    (slow,) = [link for link in network.deployed["links"] if link.get("delay_ms")]
    answer = api.post(url(network, f"brokers/{slow['b']}/move/"))
    started, *joined, drained = words(answer)
    assert (started, answer.json()["added"]) == ("Start broker 4", [4])
    assert len(joined) == 2
    assert drained.startswith(f"Drain broker {slow['b']}")
    network.refresh_from_db()
    assert [link for link in network.deployed["links"] if link.get("delay_ms")] == [{**slow, "b": 4}]
    assert network.members == {str(slow["b"]): "removed"}
    for other in sorted(end for ends_ in ends(network) for end in ends_ if 4 in ends_ and end != 4):
        assert api.delete(url(network, f"links/?a={other}&b=4&allow_split=true")).status_code == 200
    refused = api.post(url(network, "brokers/4/move/"))
    assert (refused.status_code, refused.json()["field"]) == (400, "broker")


def test_the_last_way_between_brokers_is_cut_on_demand_only(api: APIClient, network: Network) -> None:
    assert api.delete(url(network, "links/?a=0&b=1")).status_code == 200
    rolled = api.patch(url(network), {"settings": {"walk_ttl": 9}, "dry_run": True}, format="json").json()
    assert "While broker 2 or 3 restarts, others cannot reach each other." in rolled["remarks"]
    refused = api.delete(url(network, "links/?a=2&b=3"))
    assert refused.status_code == 409
    assert "in 2 parts: the others cannot reach broker 1, 2" in refused.json()["sentence"]
    assert api.delete(url(network, "links/?a=2&b=3&dry_run=true")).json()["steps"][0]["splits"]
    assert api.delete(url(network, "links/?a=2&b=3&allow_split=true")).status_code == 200
    assert ends(network) == {(1, 2), (0, 3)}


def test_what_cannot_be_changed_is_named_and_nothing_is_stored(api: APIClient, network: Network) -> None:
    for method, path, body, field in (
        ("post", "brokers/", {"links": []}, "links"),
        ("post", "brokers/", {"links": [7]}, "links"),
        ("post", "brokers/", {"links": [0, 0]}, "links"),
        ("post", "links/", {"a": 0, "b": 0}, "b"),
        ("post", "links/", {"a": 0, "b": 1}, "b"),
        ("delete", "links/?a=0&b=2", None, "b"),
        ("delete", "links/?a=x&b=2", None, "a"),
        ("delete", "brokers/1/?dry_run=perhaps", None, "dry_run"),
        ("patch", "", {"settings": {"walk_tll": 9}}, "settings.walk_tll"),
        ("patch", "", {"settings": {"walk_ttl": -1}}, "settings.walk_ttl"),
        ("patch", "", {"settings": {"membership": "greedy"}}, "settings.membership"),
        ("patch", "", {"settings": {"profile": "structured"}}, "settings.arm"),
        ("patch", "", {"colour": "red"}, "colour"),
        ("post", "topology/", {"topology": "none"}, "topology"),
    ):
        answer = getattr(api, method)(url(network, path), body, format="json")
        assert (answer.status_code, answer.json()["field"]) == (400, field), answer.content
    network.refresh_from_db()
    assert network.version == 0


def test_changes_of_two_operators_are_told_apart_by_the_version(api: APIClient, network: Network) -> None:
    assert api.post(url(network, "brokers/1/drain/"), {"version": 0}, format="json").status_code == 200
    late = api.post(url(network, "brokers/2/drain/"), {"version": 0}, format="json")
    assert (late.status_code, "at version 1" in late.json()["sentence"]) == (409, True)
    late = api.patch(url(network), {"settings": {"walk_ttl": 9}}, format="json", headers={"If-Match": '"0"'})
    assert late.status_code == 409


def test_a_change_is_rolled_back_but_for_indices(api: APIClient, network: Network) -> None:
    assert api.post(url(network, "rollout/rollback/")).status_code == 409
    api.post(url(network, "brokers/"), {"links": [0, 2]}, format="json")
    assert api.post(url(network, "rollout/rollback/")).status_code == 200
    network.refresh_from_db()
    assert (network.version, network.deployed["brokers"], network.members) == (2, 5, {"4": "removed"})
    assert ends(network) == {(0, 1), (1, 2), (2, 3), (0, 3)}
    api.patch(url(network), {"settings": {"walk_ttl": 9}, "name": "renamed"}, format="json")
    network.refresh_from_db()
    assert (network.settings["walk_ttl"], network.name) == (9, "renamed")
    api.post(url(network, "rollout/rollback/"))
    network.refresh_from_db()
    assert network.settings["walk_ttl"] != 9


def test_a_name_that_is_taken_leaves_the_settings_as_they_were(api: APIClient, network: Network, ring: Any) -> None:
    api.post("/api/networks/", {"name": "taken", "topology": ring["id"]}, format="json")
    refused = api.patch(url(network), {"name": "taken", "settings": {"walk_ttl": 9}}, format="json")
    assert (refused.status_code, refused.json()["field"]) == (400, "name")
    network.refresh_from_db()
    assert (network.version, network.name) == (0, "n")


def test_what_is_rolled_back_is_the_last_change_of_all(network: Network) -> None:
    seen = Network.objects.get(pk=network.pk)
    for ttl in (8, 9):
        changes.set_settings(network, {"walk_ttl": ttl}, changes.How())
    changes.roll_back(seen, changes.How())
    network.refresh_from_db()
    assert network.settings["walk_ttl"] == 8


def test_a_topology_that_keeps_only_drained_brokers_is_refused(api: APIClient, network: Network) -> None:
    for index in range(3):
        assert api.post(url(network, f"brokers/{index}/drain/")).status_code == 200
    one = api.post("/api/topologies/", {"name": "one", "kind": "central", "brokers": 1}, format="json").json()["id"]
    for path, body in (("topology/", {"topology": one}), ("brokers/3/drain/", None)):
        refused = api.post(url(network, path), body, format="json")
        assert (refused.status_code, refused.json()["field"]) == (400, "broker"), path
    assert api.delete(url(network, "brokers/3/?allow_split=true")).status_code == 400


def test_a_new_version_of_the_topology_is_a_difference(api: APIClient, network: Network, ring: dict[str, Any]) -> None:
    other = {"name": "other", "kind": "custom", "brokers": 5, "links": [[0, 1], [1, 2], [2, 3], [3, 4], [0, 4]]}
    topology = api.post("/api/topologies/", other, format="json").json()["id"]
    preview = api.post(url(network, "topology/"), {"topology": topology, "dry_run": True}, format="json")
    assert "Start broker 4" in words(preview)
    assert api.post(url(network, "topology/"), {"topology": topology}, format="json").status_code == 200
    assert len(ends(network)) == 5
    assert (network.deployed["brokers"], network.deployed["name"], network.topology_id) == (5, "other", topology)
    assert api.post(url(network, "rollout/rollback/"), {"allow_split": True}, format="json").status_code == 200
    network.refresh_from_db()
    assert (network.deployed["name"], network.topology_id) == ("ring", ring["id"])


def test_quotas_are_refused_with_the_number_in_use(api: APIClient, network: Network, settings: Any, ring: dict) -> None:
    settings.MAX_HOST_BROKERS = 5
    assert api.post(url(network, "brokers/"), {"links": [0]}, format="json").status_code == 201
    refused = api.post(url(network, "brokers/"), {"links": [0]}, format="json")
    assert (refused.status_code, "have 5 brokers; with 1 more it would exceed its 5" in refused.json()["sentence"]) == (
        400,
        True,
    )
    assert api.post("/api/networks/", {"name": "m", "topology": ring["id"]}, format="json").status_code == 400
    settings.MAX_HOST_BROKERS, settings.MAX_NETWORKS = 100, 1
    refused = api.post("/api/networks/", {"name": "m", "topology": ring["id"]}, format="json")
    assert "olga has 1 networks, and an account may have 1" in refused.json()["sentence"]
    own = api.get("/api/accounts/me/").json()
    assert (own["deployed"], own["most_deployed"]) == (1, 1)
    Host.objects.create(name="here", heartbeat=timezone.now())
    host = api.get("/api/hosts/here/").json()
    assert (host["network_brokers"], host["most_network_brokers"]) == (5, 100)
    browser = Client()
    browser.force_login(network.owner)
    page = browser.get("/networks/new/").content.decode()
    assert "You have 1 of 1 networks. All networks that run have 5 of 100 brokers." in page


@pytest.mark.parametrize("system", [name for name, system in SYSTEMS.items() if not system.can_shrink])
def test_a_system_with_a_fixed_number_of_servers_refuses_in_a_sentence(api: APIClient, system: str) -> None:
    made = api.post("/api/networks/", {"name": "n", "system": system}, format="json").json()
    base = f"/api/networks/{made['id']}/"
    for answer in (
        api.post(base + "brokers/", {"links": [0]}, format="json"),
        api.delete(base + "brokers/0/"),
        api.post(base + "brokers/0/drain/"),
        api.post(base + "links/", {"a": 0, "b": 0}, format="json"),
    ):
        assert (answer.status_code, "has a fixed number of servers" in answer.json()["sentence"]) == (400, True)


@pytest.fixture
def federation(api: APIClient, ring: dict[str, Any]) -> Network:
    """Of four brokers and a registration service, all up. Its servers may leave, and no others come."""
    body = {"name": "f", "system": "federation", "topology": ring["id"]}
    made = api.post("/api/networks/", body, format="json").json()
    known = {"state": "up", "reason": "", "restarts": 0, "pid": 1, "since_unix_ms": 0}
    rows = [{"index": index, "address": f"127.0.0.1:2000{index}", **known} for index in range(5)]
    Network.objects.filter(pk=made["id"]).update(state="running", host="here", brokers=rows)
    return Network.objects.get(pk=made["id"])


def test_servers_of_a_system_that_can_only_shrink_leave_and_return(api: APIClient, federation: Network) -> None:
    base = url(federation)
    drained = api.post(base + "brokers/2/drain/")
    assert words(drained) == ["Drain broker 2: it leaves and stops"]
    assert any("Its clients register at other brokers" in remark for remark in drained.json()["remarks"])
    removed = api.delete(base + "brokers/3/?dry_run=true")
    assert "in 2 parts" not in str(removed.json()), "0 and 1 are linked"
    assert words(removed)[-1] == "Drain broker 3: it leaves and stops"
    assert words(api.patch(base, {"settings": {"omega": 9}, "dry_run": True}, format="json"))[-1].startswith(
        "Restart broker 4 "
    ), "the registration service, too, which stays"
    assert api.post(base + "brokers/2/restart/").status_code == 200
    for answer in (
        api.post(base + "brokers/", {"links": [0]}, format="json"),
        api.post(base + "brokers/1/move/"),
        api.post(base + "links/", {"a": 0, "b": 2}, format="json"),
    ):
        assert (answer.status_code, "has a fixed number of servers" in answer.json()["sentence"]) == (400, True)
    assert api.post(base + "brokers/4/drain/").json()["field"] == "broker", "no node of the topology"
    browser = Client()
    browser.force_login(federation.owner)
    page = browser.get(f"/networks/{federation.pk}/change/").content.decode()
    assert page.count('value="drain"') == 4
    assert " and links cannot be added to a network of " in page


def test_viewers_change_nothing(api: APIClient, network: Network, viewer: User) -> None:
    client = APIClient()
    client.force_authenticate(viewer)
    assert client.post(url(network, "brokers/"), {"links": [0]}, format="json").status_code == 403
    assert client.patch(url(network), {"name": "x"}, format="json").status_code == 403
    assert client.get(url(network, "rollout/")).status_code == 200


@pytest.mark.stack
def test_a_live_network_changes_and_comes_back_as_it_was_after_a_crash(
    api: APIClient, ring: dict, supervisor: SupervisorClient, restart: Callable[[], None]
) -> None:
    five = running(api, ring, supervisor)
    base = five["url"]
    for index in range(4):
        there = f"{base}context/room/r{index}/climate/?broker={index}"
        assert api.put(there, {"provider": "p", "payload": {"n": "1"}}, format="json").status_code == 200
    assert api.post(base + "brokers/", {"links": [0, 2]}, format="json").status_code == 201
    assert api.post(base + "brokers/1/move/").json()["added"] == [5]
    assert api.patch(base, {"settings": {"walk_ttl": 9}}, format="json").status_code == 200
    rounds_until(supervisor, lambda: api.get(base + "rollout/").json()["state"] == "done")
    rounds_until(supervisor, lambda: api.get(base).json()["state"] == "running")
    now = api.get(base).json()
    assert [(row["index"], row["state"], row["is_old"]) for row in now["brokers"]] == [
        (index, "up", False) for index in (0, 2, 3, 4, 5)
    ]
    assert [api.get(f"{base}context/room/r{index}/climate/").status_code for index in range(4)] == [200] * 4

    assert api.post(base + "brokers/3/drain/").status_code == 200
    rounds_until(supervisor, lambda: api.get(base + "rollout/").json()["state"] == "done")
    os.kill(supervisor.hello()["pid"], signal.SIGKILL)
    restart()
    rounds_until(supervisor, lambda: api.get(base).json()["state"] == "running")
    again = api.get(base).json()
    assert [(row["index"], row["state"]) for row in again["brokers"]] == [
        (0, "up"),
        (2, "up"),
        (3, "stopped"),
        (4, "up"),
        (5, "up"),
    ]
    assert [row["address"] for row in again["brokers"]] == [row["address"] for row in now["brokers"]]
    assert api.post(base + "brokers/3/restart/").status_code == 200
    rounds_until(supervisor, lambda: {row["state"] for row in api.get(base).json()["brokers"]} == {"up"})


@pytest.mark.stack
def test_a_broker_of_a_federation_leaves_and_returns(api: APIClient, ring: dict, supervisor: SupervisorClient) -> None:
    body = {"name": "f", "system": "federation", "topology": ring["id"], "settings": {"keepalive_s": 2}}
    base = f"/api/networks/{api.post('/api/networks/', body, format='json').json()['id']}/"
    rounds_until(supervisor, lambda: api.get(base).json()["state"] == "running")

    def edges() -> set[tuple[int, int]]:
        return {(a, b) for a, b in api.get(base + "tree/").json().get("edges", ())}

    rounds_until(supervisor, lambda: len(edges()) == 3)
    assert api.post(base + "brokers/1/drain/").status_code == 200
    rounds_until(supervisor, lambda: api.get(base + "rollout/").json()["state"] == "done")
    rounds_until(supervisor, lambda: edges() == {(0, 3), (2, 3)})
    assert api.post(base + "brokers/1/restart/").status_code == 200
    rounds_until(supervisor, lambda: len(edges()) == 3)
    rounds_until(supervisor, lambda: {row["state"] for row in api.get(base).json()["brokers"]} == {"up"})
