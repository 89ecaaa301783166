"""The wire lab through REST, and datagrams sent to a real broker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from rest_framework.test import APIClient

from brokerweb.experiments.models import Experiment, Run
from brokerweb.networks.models import Network
from brokerweb.topologies import services as topologies
from brokerweb.wirelab import exchanges, sending
from overlay.programs.context_broker.client import ContextClient
from tests.pages.recorded import make_run
from tests.pages.test_wire_lab import REQUEST
from tests.runtime.daemons import Daemon
from tests.telemetry.test_pcapng import read

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def broker() -> Iterator[Daemon]:
    daemon = Daemon()
    yield daemon
    daemon.end()


@pytest.fixture
def network(broker: Daemon, operator: User) -> Network:
    """A network of two brokers, of which the second died since it was last heard of."""
    cache.clear()
    brokers = [
        {"index": 0, "address": broker.text, "state": "up"},
        {"index": 1, "address": "127.0.0.1:9", "state": "up"},
        {"index": 2, "address": "127.0.0.1:10", "state": "restarting"},
    ]
    topology = topologies.create(name="three", kind="ring", brokers=3)
    return Network.objects.create(name="lab", topology=topology, state="running", host="here", brokers=brokers)


def send(api: APIClient, network: Network, data: bytes, broker: int = 0) -> Any:
    return api.post("/api/wire/send/", {"network": network.id, "broker": broker, "hex": data.hex()}, format="json")


def composed(api: APIClient, code: int, **fields: str) -> bytes:
    answer = api.post("/api/wire/compose/", {"code": code, "fields": fields}, format="json")
    assert answer.status_code == 200, answer.content
    return bytes.fromhex(answer.json()["hex"])


def test_a_datagram_is_decoded_by_whoever_may_look(viewer: User) -> None:
    api = APIClient()
    assert api.post("/api/wire/decode/", {"text": "1|5"}, format="json").status_code == 401
    api.force_authenticate(viewer)
    told = api.post("/api/wire/decode/", {"text": REQUEST.hex()}, format="json").json()
    assert (told["code"], told["name"], told["bytes"], told["read_as"]) == (3, "ContextRequest", len(REQUEST), "hex")
    assert [(field["name"], field["offset"], field["text"]) for field in told["fields"]][2:] == [
        ("EntityType", 16, "room"),
        ("EntityID", 21, "r1"),
        ("Scope", 24, "temp"),
    ]
    assert told["verdict"]["judgement"] == "accepted"
    told = api.post("/api/wire/decode/", {"text": "3|5|room"}, format="json").json()
    assert (told["missing"], told["verdict"]["status"]) == (["EntityID", "Scope"], 301)


@pytest.mark.parametrize(
    ("address", "body", "field"),
    [
        ("decode", {}, "text"),
        ("decode", {"text": "33 7"}, "text"),
        ("decode", {"text": "1|5", "form": "runes"}, "form"),
        ("decode", {"text": "00" * 70_000}, "text"),
        ("compose", {"code": 40}, "code"),
        ("compose", {"code": 3, "fields": {"colour": "red"}}, "fields.colour"),
        ("compose", {"code": 3, "fields": {"scope": ["a"]}}, "fields.scope"),
        ("compose", {"code": 3, "feilds": {}}, "feilds"),
        ("send", {"broker": 0, "hex": "00"}, "network"),
        ("send", {"network": "x", "run": "y", "broker": 0, "hex": "00"}, "network"),
        ("send", {"network": "none", "broker": 0, "hex": "00"}, "network"),
        ("send", {"run": "none", "broker": 0, "hex": "00"}, "run"),
        ("send", {"network": "none", "broker": 0, "hex": "0"}, "hex"),
    ],
)
def test_what_is_wrong_is_named(api: APIClient, address: str, body: dict[str, Any], field: str) -> None:
    answer = api.post(f"/api/wire/{address}/", body, format="json")
    assert (answer.status_code, answer.json()["field"]) == (400, field), answer.content


def test_a_request_is_sent_and_every_answer_comes_back_decoded(api: APIClient, network: Network) -> None:
    stored = send(api, network, composed(api, 2, entity_id="attic", payload="degC=4")).json()
    assert [answer["verdict"]["judgement"] for answer in stored["answers"]] == ["ignored", "ignored"]
    assert [answer["text"].split("|")[3] for answer in stored["answers"]] == ["Status:101", "Status:102"]
    heard = send(api, network, composed(api, 3, entity_id="attic")).json()
    assert heard["sentence"] == "3 answers."
    assert [answer["name"] for answer in heard["answers"]] == ["Ack", "ContextResponse", "Ack"]
    times = [answer["after_us"] for answer in heard["answers"]]
    assert times == sorted(times)
    assert 0 < times[0] < 2_000_000
    payload = next(field for field in heard["answers"][1]["fields"] if field["name"] == "Payload")
    assert payload["text"] == "degC=4"
    missed = send(api, network, composed(api, 3, entity_id="cellar")).json()
    assert [answer["name"] for answer in missed["answers"]] == ["Ack", "Nack"]


def test_a_wrong_datagram_gets_the_verdict_that_was_foretold(api: APIClient, network: Network) -> None:
    wrong = b"3|5|room"
    foretold = api.post("/api/wire/decode/", {"text": wrong.decode()}, format="json").json()["verdict"]
    (answer,) = send(api, network, wrong).json()["answers"]
    assert answer["text"].split("|")[:5] == foretold["answers"][0].split("|")[:5]
    assert (foretold["status"], answer["name"]) == (301, "Nack")


def test_silence_and_an_empty_port_are_told_apart(
    api: APIClient, network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchanges, "WAIT", 10**8)
    silent = send(api, network, b"9|5|Ctx_Broker|127.0.0.1:80").json()
    assert (silent["answers"], silent["sentence"]) == ([], "No answer within 0.1 s.")
    assert "No process uses this port" in send(api, network, b"1|5", broker=1).json()["sentence"]


def test_only_brokers_that_are_up_and_here_are_reached(api: APIClient, network: Network) -> None:
    there = send(api, network, b"1|5", broker=2)
    assert (there.status_code, there.json()["field"]) == (400, "broker")
    assert "running: 0, 1" in there.json()["sentence"]
    Network.objects.update(host="elsewhere")
    assert send(api, network, b"1|5").status_code == 409
    Network.objects.update(host="here", state="stopped", brokers=[{"index": 0, "address": None, "state": "stopped"}])
    stopped = send(api, network, b"1|5")
    assert (stopped.status_code, "lab is stopped" in stopped.json()["sentence"]) == (409, True)


def test_the_brokers_of_a_live_run_are_reached_too(api: APIClient, network: Network, broker: Daemon) -> None:
    Network.objects.update(state="stopped")
    experiment = Experiment.objects.create(name="e", definition={})
    run = Run.objects.create(
        experiment=experiment,
        configuration={"system": "context-broker", "engine": "live"},
        seed="1",
        state="measuring",
        host="here",
        observed={"brokers": [{"index": 5, "address": broker.text, "state": "up"}]},
    )
    assert [(place.name, place.is_measured) for place in sending.places("context-broker")] == [("e, run 1", True)]
    body = {"run": run.id, "broker": 5, "hex": b"1|5".hex()}
    assert [one["name"] for one in api.post("/api/wire/send/", body, format="json").json()["answers"]] == [
        "PingResponse"
    ]
    Run.objects.update(state="done")
    assert sending.places("context-broker") == []


def test_who_sends_too_much_waits_and_who_may_look_does_not_send(
    api: APIClient, network: Network, viewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "MOST_SENT", 2)
    monkeypatch.setattr(sending, "WINDOW_S", 10_000)
    assert [send(api, network, b"1|5", broker=1).status_code for _ in range(3)] == [200, 200, 429]
    api.force_authenticate(viewer)
    assert send(api, network, b"1|5").status_code == 403


def test_nothing_is_sent_while_nobody_can_count_it(
    api: APIClient, network: Network, client: Client, operator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise ConnectionError("Connection refused.")

    monkeypatch.setattr(cache, "add", away)
    refused = send(api, network, b"1|5")
    sentence = "Redis is unavailable, so the rate limit cannot be checked. Try again in a moment."
    assert (refused.status_code, refused.json()["sentence"]) == (409, sentence)
    client.force_login(operator)
    page = client.post("/wire/send/", {"to": f"network:{network.id}", "broker": "0", "datagram": b"1|5".hex()})
    assert "Nothing was sent" in page.content.decode()
    assert sentence in page.content.decode()


def test_an_order_is_obeyed_and_the_page_sends_as_rest_does(network: Network, operator: User, broker: Daemon) -> None:
    client = Client()
    client.force_login(operator)
    shown = client.get("/wire/?d=307c31").content.decode()
    assert "lab, 2 brokers" in shown
    assert "The broker monitors its neighbours from now on" in shown
    sent = {"to": f"network:{network.id}", "broker": "0", "datagram": b"20|5".hex()}
    page = client.post("/wire/send/", sent).content.decode()
    assert "1 answer." in page
    assert "StatsResponse" in page
    assert "µs" in page or "ms" in page
    join = b"8|5|" + broker.text.encode()
    assert "Status:201" in client.post("/wire/send/", {**sent, "datagram": join.hex()}).content.decode()
    assert ContextClient([broker.address]).ping() == broker.address
    for wrong, sentence in (({"broker": "x"}, "must be a whole number"), ({"datagram": ""}, "is empty")):
        assert sentence in client.post("/wire/send/", {**sent, **wrong}).content.decode()


def test_recorded_messages_are_listed_opened_and_captured(api: APIClient, operator: User) -> None:
    run = make_run(operator)
    here = f"/api/runs/{run.id}"
    chosen = api.get(f"{here}/datagrams/", {"code": 4, "broker": 2, "page_size": 1000}).json()
    assert chosen["count"] == len(chosen["results"]) > 0
    everything = api.get(f"{here}/messages/", {"page_size": 10_000}).json()["results"]
    wanted = [row for row in everything if row["code"] == 4 and 2 in (row["sender"], row["receiver"])]
    assert [row["at_us"] for row in chosen["results"]] == [row["at_us"] for row in wanted]
    one = api.get(f"{here}/datagrams/{chosen['results'][0]['number']}/").json()
    assert one["text"].startswith(chosen["results"][0]["text"].rstrip("\ufffd"))
    assert (one["name"], one["bytes"]) == ("ContextResponse", chosen["results"][0]["bytes"])
    capture = api.get(f"{here}/capture/", {"code": 4, "broker": 2})
    assert len(read(b"".join(capture.streaming_content))[1]) == chosen["count"]
    assert api.get(f"{here}/datagrams/{len(everything)}/").status_code == 404
    assert api.get(f"{here}/capture/", {"broker": "x"}).json()["field"] == "broker"
    recordless = f"/api/runs/{'0' * 12}"
    assert [api.get(f"{recordless}/{what}/").status_code for what in ("datagrams", "capture")] == [404, 404]
