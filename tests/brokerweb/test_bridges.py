"""Bridges of networks: what REST and pages accept and show, who may, what is logged, what the supervisor is told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
import trustme
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from brokerweb.bridges import services
from brokerweb.bridges.models import Bridge
from brokerweb.changelog.models import Change
from brokerweb.control import bridges as control
from brokerweb.networks.models import Network
from brokerweb.networks.views import LONG_APART
from overlay.deployment import phases
from overlay.runtime.supervisor_client import SupervisorRefused
from tests.brokerweb.test_front import deployed
from tests.thorough import thoroughly

pytestmark = pytest.mark.django_db
PATTERN = "context/{type}/{entity}/{scope}"
SECRET = "never shown again"
GOOD: dict[str, Any] = {"mqtt": "mqtt://127.0.0.1", "in": [PATTERN], "out": [PATTERN]}


@pytest.fixture
def network(operator: User) -> Network:
    return deployed("127.0.0.1:9", owner=operator)


@pytest.fixture
def url(network: Network) -> str:
    return f"/api/networks/{network.pk}/bridges/"


def send(api: APIClient, method: str, url: str, body: Mapping[str, Any], code: int, **headers: str) -> Any:
    answer = getattr(api, method)(url, body, format="json", headers=headers)
    assert answer.status_code == code, answer.content
    return answer.json()


def test_a_bridge_is_added_changed_stopped_and_deleted_and_the_log_has_it_without_secrets(
    api: APIClient, url: str
) -> None:
    tls = trustme.CA().issue_cert("a")
    key, certificate = (one.bytes().decode().strip() for one in (tls.private_key_pem, tls.cert_chain_pems[0]))
    body = {**GOOD, "mqtt": "mqtts://h:8884", "username": "u", "password": SECRET, "settings": {"valid_ms": 5}}
    made = send(api, "post", url, {**body, "tls": {"certificate": certificate, "key": key}}, 201)
    assert (made["number"], made["state"], made["desired"]) == (1, "stopped", "running")
    assert (made["has_password"], made["tls"]["has_key"], made["tls"]["certificate"]) == (True, True, certificate)
    one = f"{url}1/"
    assert api.get(one).json() == made
    assert api.get(url).json() == [made]
    bridge = Bridge.objects.get()
    first = bridge.revision
    assert services.whole(bridge)["password"] == SECRET and services.whole(bridge)["tls"]["key"] == key

    changed = send(api, "patch", one, {"out": [], "settings": {"valid_ms": None, "tries": 9}}, 200)
    assert (changed["out"], changed["settings"], changed["has_password"]) == ([], {"tries": 9}, True)
    assert send(api, "patch", one, {"desired": "stopped"}, 412, if_match=made["mark"])["code"]
    assert send(api, "patch", one, {"desired": "stopped"}, 200, if_match=changed["mark"])["desired"] == "stopped"
    assert Bridge.objects.get().revision == first + 2
    send(api, "patch", one, {"desired": "stopped"}, 200)
    assert Bridge.objects.get().revision == first + 2, "nothing has changed"
    gone = {"mqtt": "mqtt://h", "password": None, "tls": {"certificate": None, "key": ""}, "username": ""}
    assert send(api, "patch", one, gone, 200)["has_password"] is False
    assert services.whole(Bridge.objects.get()).keys() == {"mqtt", "in", "tries"}
    assert api.delete(one).status_code == 204
    assert api.delete(one).status_code == 404

    log = list(Change.objects.filter(kind="network").order_by("id"))
    assert [entry.action for entry in log] == ["add bridge", *["change bridge"] * 3, "delete bridge"]
    assert log[1].before == {"bridge 1": {"out": [PATTERN], "settings": {"valid_ms": 5}}}
    assert log[1].after == {"bridge 1": {"out": [], "settings": {"tries": 9}}}
    everything = str([(entry.before, entry.after) for entry in log])
    assert SECRET not in everything and key[40:80] not in everything


def test_everything_that_is_wrong_is_said_at_once_and_changes_nothing(api: APIClient, url: str) -> None:
    body = {"mqtt": "http://h", "password": "p", "in": ["c/{type}"], "settings": {"valid_ms": 0, "joy": 1, "out": []}}
    assert send(api, "post", url, body, 400)["field"] == "settings.out"
    del body["settings"]["out"]
    found = {one["field"] for one in send(api, "post", url, body, 400)["errors"]}
    assert found == {"mqtt", "username", "in.pattern", "settings.valid_ms", "settings.joy"}
    wrong: dict[str, dict[str, Any]] = {
        "mqtt": {"mqtt": "mqtt://" + "h" * 600},
        "in": {"in": "x", "out": {}},
        "tls.ca": {"mqtt": "mqtts://h", "tls": {"ca": "/etc/passwd"}},
        "tls.key": {"tls": {"key": "x" * 200_000}},
        "speed": {"speed": 1},
        "desired": {"desired": "gone"},
        "settings.bootstrap": {"settings": {"bootstrap": "/etc/passwd"}},
        "settings.password_file": {"settings": {"password_file": "/etc/passwd"}},
    }
    for field, change in wrong.items():
        answer = send(api, "post", url, {**GOOD, **change}, 400)
        assert answer["field"] == field, answer
    assert send(api, "post", url, {"in": [PATTERN]}, 400)["field"] == "mqtt"
    assert not Bridge.objects.exists() and not Change.objects.filter(action="add bridge").exists()


ODD = (
    "\\ud800",
    "\\u0000",
    "-----BEGIN \\ud800",
    "mqtts://\\ud800",
    "mqtt://[",
    "mqtt://h:-1",
    "{",
    "{}",
    "$a/{entity}",
    "1e999",
)
PLACES = (
    *(
        '"mqtt": %s',
        '"username": %s, "password": "p"',
        '"username": "u", "password": %s',
        '"in": [%s]',
        '"out": [{"pattern": %s}]',
    ),
    *('"mqtt": "mqtts://h", "tls": {"ca": %s}', '"mqtt": "mqtts://h", "tls": {"certificate": %s, "key": %s}'),
    *(
        f'"settings": {{"{name}": %s}}'
        for name in ("client_id", "status_topic", "provider", "value_name", "fields", "protocol")
    ),
    *('"settings": {"fields": {"text": %s}}', '"settings": {%s: 1}', '"in": [{"pattern": "a/{entity}", "type": %s}]'),
)


@thoroughly
def test_odd_texts_anywhere_are_stored_or_refused(api: APIClient, url: str) -> None:
    codes = set()
    for place in PLACES:
        for odd in (*(f'"{one}"' for one in ODD), "[[[]]]", "{}", "1e400", "NaN", "9" * 30):
            good = {name: value for name, value in GOOD.items() if f'"{name}"' not in place}
            body = json.dumps(good)[:-1] + (", " if good else "") + place.replace("%s", odd) + "}"
            answer = api.post(url, body.encode(), content_type="application/json")
            assert answer.status_code in (201, 400), (body, answer.content)
            codes.add(answer.status_code)
            Bridge.objects.all().delete()
    assert codes == {201, 400}


def test_rights_limits_and_systems_without_bridges(api: APIClient, url: str, viewer: User, settings: Any) -> None:
    looker = APIClient()
    looker.force_authenticate(viewer)
    send(api, "post", url, {**GOOD, "username": "u", "password": SECRET}, 201)
    shown = looker.get(url)
    assert shown.status_code == 200 and SECRET not in shown.content.decode()
    for method, place in (("post", url), ("patch", f"{url}1/"), ("delete", f"{url}1/")):
        assert getattr(looker, method)(place, {}, format="json").status_code == 403
    settings.MAX_BRIDGES = 1
    assert "the limit" in send(api, "post", url, GOOD, 400)["sentence"]
    Network.objects.update(system="radiator")
    assert api.get(url).status_code == 404
    send(api, "post", url, GOOD, 404)


class Told:
    """What a supervisor would be told."""

    def __init__(self) -> None:
        self.bridged: list[Any] = []

    def bridges(self, id: str, epoch: int, bridges: Any) -> dict[str, Any]:
        self.bridged.append(bridges)
        if bridges and "refuse" in str(bridges):
            raise SupervisorRefused("invalid", "no")
        rows = [process(int(n), one["revision"]) for n, one in bridges.items()]
        return {"phase": phases.RUNNING, "epoch": epoch, "bridges": rows}


def process(number: int, revision: int, state: str = "up", **row: Any) -> dict[str, Any]:
    common = {"number": number, "revision": revision, "state": state, "reason": "", "restarts": 0}
    return {**common, "pid": 7, "since_unix_ms": 1_795_400_400_000, "report": {}, **row}


def test_the_supervisor_is_told_once_and_again_after_a_change(network: Network) -> None:
    bridge, told = services.create(network, {**GOOD, "username": "u", "password": SECRET}), Told()
    running: dict[str, Any] = {"phase": phases.RUNNING, "epoch": network.epoch, "bridges": []}

    def settle(status: dict[str, Any]) -> Any:
        return control.settle(network, list(network.bridges.all()), told, status)  # type: ignore[arg-type]

    for other in ({"phase": phases.LAUNCHING}, {"phase": phases.STOPPING}, {"epoch": network.epoch - 1}):
        settle({**running, **other})
    assert told.bridged == []
    status = settle(running)
    assert told.bridged[0]["1"]["document"]["password"] == SECRET
    settle(status)
    assert len(told.bridged) == 1
    services.change(bridge, {"settings": {"tries": 9}})
    settle(status)
    assert told.bridged[1]["1"]["revision"] == bridge.revision + 1
    services.change(bridge, {"username": "refuse"})
    assert settle(status) == status, "a refusal is logged, and the next round tries again"
    services.change(bridge, {"desired": "stopped"})
    settle(status)
    assert told.bridged[-1] == {}


def test_the_supervisor_is_told_of_a_bridge_that_took_the_number_of_a_deleted_one(network: Network) -> None:
    told = Told()
    former = services.create(network, GOOD)
    running: Any = {"phase": phases.RUNNING, "epoch": network.epoch, "bridges": [process(1, former.revision)]}
    services.delete(former)
    assert services.create(network, {**GOOD, "mqtt": "mqtt://other"}).number == 1
    control.settle(network, list(network.bridges.all()), told, running)  # type: ignore[arg-type]
    assert told.bridged[0]["1"]["document"]["mqtt"] == "mqtt://other"


@pytest.mark.parametrize(
    ("row", "state", "reason"),
    [
        ({"state": "up", "report": {"state": "connected", "reason": ""}}, "connected", ""),
        ({"state": "up", "report": {"state": "connecting", "reason": "refused"}}, "connecting", "refused"),
        ({"state": "restarting", "reason": "killed by SIGKILL"}, "connecting", "restarting: killed by SIGKILL"),
        ({"state": "starting"}, "connecting", "starting"),
        ({"state": "failed", "reason": "exit 1"}, "failed", "exit 1"),
        ({"state": "stopped", "reason": "exit 0"}, "stopped", ""),
    ],
)
def test_what_was_observed_becomes_a_state_with_its_reason(
    network: Network, api: APIClient, url: str, row: dict[str, Any], state: str, reason: str
) -> None:
    bridge = services.create(network, GOOD)
    control.write([bridge], {"bridges": [process(1, bridge.revision, **row)]})
    shown = api.get(f"{url}1/").json()
    assert (shown["state"], shown["reason"]) == (state, reason)
    control.write([Bridge.objects.get()], None)
    assert api.get(f"{url}1/").json()["state"] == "stopped"


def test_counters_are_written_now_and_then_another_state_at_once(network: Network, monkeypatch: Any) -> None:
    bridge = services.create(network, GOOD)

    def write(**report: Any) -> dict[str, int]:
        status = {"bridges": [process(1, bridge.revision, report={"state": "connected", **report})]}
        control.write([Bridge.objects.get()], status)
        return services.counters(Bridge.objects.get())

    assert write(counters={"messages_in": 1, "refused_topic": 2, "refused_payload": 3, "unchanged": 4}) == {
        "messages_in": 1,
        "messages_out": 0,
        "refused": 5,
        "loops_prevented": 4,
    }
    assert write(counters={"messages_in": 2})["messages_in"] == 1, "soon"
    monkeypatch.setattr(control, "REPORT_EVERY", control.REPORT_EVERY * 0)
    assert write(counters={"messages_in": 3})["messages_in"] == 3
    assert Bridge.objects.get().revision == bridge.revision


def test_a_stored_password_goes_to_no_other_server(api: APIClient, network: Network, operator: User, url: str) -> None:
    send(api, "post", url, {**GOOD, "username": "u", "password": SECRET}, 201)
    one = f"{url}1/"
    for address in ("mqtt://elsewhere", "mqtt://127.0.0.1:1884", "mqtts://127.0.0.1"):
        assert send(api, "patch", one, {"mqtt": address}, 400)["field"] == "password"
    send(api, "patch", one, {"mqtt": GOOD["mqtt"], "out": []}, 200)
    browser = Client()
    browser.force_login(operator)
    edit = reverse("bridges:edit", args=[network.pk, 1])
    form = {**browser.get(edit).context["form"].texts, "mqtt": "mqtt://elsewhere"}
    assert browser.post(edit, form).context["form"].wrong.keys() == {"password"}
    assert services.whole(Bridge.objects.get())["mqtt"] == GOOD["mqtt"]
    send(api, "patch", one, {"mqtt": "mqtt://elsewhere", "password": "other"}, 200)
    assert services.whole(Bridge.objects.get())["password"] == "other"
    assert send(api, "patch", one, {"mqtt": "mqtt://h", "password": None}, 200)["has_password"] is False


def test_pages_add_change_switch_and_delete_a_bridge(
    network: Network, operator: User, viewer: User, api: APIClient, url: str
) -> None:
    browser, looker = Client(), Client()
    browser.force_login(operator)
    looker.force_login(viewer)
    page = f"/networks/{network.pk}/"
    assert all(words in browser.get(page).content.decode() for words in ("Add a bridge", "#bridges"))
    assert "Add a bridge" not in looker.get(page).content.decode()
    new, edit = reverse("bridges:new", args=[network.pk]), reverse("bridges:edit", args=[network.pk, 1])
    shown = browser.get(new).context["form"]
    form = {**shown.texts, **{one.name: one.text for one in shown.inputs.inputs}, "username": "u", "password": SECRET}
    wrong = {"in": f"{PATTERN}\nc/{{type}}", "mqtt": "http://h", "settings-tries": "0", "ca": "nothing"}
    refused = browser.post(new, {**form, **wrong})
    assert refused.status_code == 400
    assert refused.context["form"].wrong.keys() == {"in", "mqtt", "ca"}
    assert refused.context["form"].wrong["in"].startswith("Line 2: ")
    assert "ust be at least 1, not 0" in refused.content.decode()
    assert browser.post(new, {**form, "settings-tries": "0"}).status_code == 400
    assert not Bridge.objects.exists()
    assert "Bridge 1 added." in browser.post(new, form, follow=True).content.decode()
    assert services.whole(Bridge.objects.get()).keys() == {"mqtt", "in", "out", "username", "password"}

    seen = browser.get(edit).context["seen"]
    changed = {**form, "password": "", "settings-tries": "7", "seen": seen}
    changed["in"] = json.dumps({"pattern": "tele/{entity}", "type": "room", "scope": "temp"})
    assert "Bridge 1 saved." in browser.post(edit, changed, follow=True).content.decode()
    told = api.get(f"{url}1/").json()
    assert (told["settings"], told["has_password"], told["in"][0]["type"]) == ({"tries": 7}, True, "room")
    assert json.loads(browser.get(edit).context["form"].texts["in"]) == json.loads(changed["in"])  # in any order
    assert browser.post(edit, changed).status_code == 409
    assert browser.post(edit, {**changed, "seen": "", "forget_password": "on"}).status_code == 302
    assert api.get(f"{url}1/").json()["has_password"] is False

    switch, delete = reverse("bridges:switch", args=[network.pk, 1]), reverse("bridges:delete", args=[network.pk, 1])
    for one in (new, edit, switch, delete):
        assert looker.post(one, form).status_code == 403
    browser.post(switch, {"desired": "stopped"})
    assert api.get(f"{url}1/").json()["desired"] == "stopped"
    assert SECRET not in looker.get(page).content.decode() + browser.get(edit).content.decode()
    assert "tele/{entity}" in looker.get(reverse("bridges:part", args=[network.pk])).content.decode()
    assert "Bridge 1 deleted." in browser.post(delete, follow=True).content.decode()
    assert browser.get(edit).status_code == 404
    Network.objects.update(system="radiator")
    assert browser.get(new).status_code == 404
    assert "#bridges" not in (other := browser.get(page).content.decode()) and 'id="bridges"' not in other


def test_a_bridge_that_is_not_connected_for_a_minute_is_seen_in_the_list_of_networks(
    network: Network, operator: User
) -> None:
    browser, ago = Client(), timezone.now() - 2 * LONG_APART
    browser.force_login(operator)
    for state, since in (("connecting", ago), ("failed", ago), ("connecting", timezone.now()), ("connected", ago)):
        Bridge.objects.filter(pk=services.create(network, GOOD).pk).update(state=state, since=since)
    shown = browser.get("/networks/").content.decode()
    assert "2 bridges not connected" in shown
    assert 'waxwing_bridges{state="connecting"} 2.0' in browser.get("/metrics").content.decode()
