"""Datagrams sent to a server over real UDP, on pages and through REST, and those of a recorded run."""

from __future__ import annotations

import re
import socket
import threading
from html import unescape

import pytest
from django.core.cache import cache
from django.test import Client
from rest_framework.test import APIClient

from brokerweb.experiments.models import Experiment, Run
from brokerweb.networks.models import Network
from brokerweb.topologies import services as topologies
from brokerweb.wirelab import exchanges
from overlay.core.chance import Chances
from overlay.core.node import SECOND
from overlay.sim.engine import simulate
from overlay.systems.radiator.server.service import Service
from overlay.systems.radiator.settings import ServerConfig, Settings
from overlay.systems.radiator.wire import messages as m
from overlay.systems.radiator.wire.codec import encode
from overlay.systems.radiator.wire.compression import deflate
from overlay.systems.radiator.wire.table import LAYOUTS
from telemetry.lake.pcapng_reading import read
from tests.radiator.runs import deployed
from tests.waiting import BOUND_S

END = b"end"
BODY = b'{"a":{},"n":1,"p":["Alice"],"t":[0,0]}'
URL = "/radiator/wire/"
WITH_A_LAB = "context-broker, contextnet, federation, radiator, silbops"
REST = "/api/systems/radiator/wire/"


@pytest.fixture
def address():
    """Of a server's core behind a real socket."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        sock.settimeout(BOUND_S)
        server = Service(ServerConfig(Settings()), sock.getsockname(), Chances.streams(1))

        def serve():
            while (received := sock.recvfrom(65_535))[0] != END:
                server.receive_datagrams([received], 0)
                for answer, to in server.datagrams_to_send():
                    sock.sendto(answer, to)

        thread = threading.Thread(target=serve)
        thread.start()
        yield sock.getsockname()
        sock.sendto(END, sock.getsockname())
        thread.join(BOUND_S)


@pytest.fixture
def olga(db, settings, django_user_model, monkeypatch):
    monkeypatch.setattr(exchanges, "WAIT", BOUND_S * SECOND)  # the last answer ends it
    settings.HOST_NAME = "here"
    cache.clear()
    browser = Client()
    browser.force_login(django_user_model.objects.create_superuser("olga"))
    return browser


def network(address, system="radiator"):
    topology = topologies.create(name=f"one of {system}", kind="ring", brokers=3)
    brokers = [{"index": 0, "address": f"127.0.0.1:{address[1]}", "state": "up"}]
    rest = {"topology": topology, "state": "running", "host": "here", "brokers": brokers}
    return Network.objects.create(name=f"lab of {system}", system=system, **rest)


def send(browser, network, message, **more):
    sent = {"to": f"network:{network.id}", "broker": "0", "datagram": encode(message).hex(), **more}
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", browser.post(f"{URL}send/", sent).content.decode())).split())


def test_a_client_is_registered_and_its_context_accepted_over_udp(olga, address):
    lab = network(address)
    assert "lab of radiator, 1 server" in olga.get(f"{URL}compose/").content.decode()
    said = send(olga, lab, m.Register(1, 7, 0, 1, "Alice", {"floor": 2}))
    assert said.startswith("2 answers. Sent to server 0 of lab of radiator")
    assert "code 4 repeat with this token" in said
    assert "code 0 ok" in said
    assert "Accepted: req 2, code 0 ok" in send(olga, lab, m.Context(2, 7, 0, 0, BODY))
    assert "Accepted: req 3, code 1 unknown client" in send(olga, lab, m.Context(3, 8, 0, 0, BODY))
    assert "RegisterAgain" in send(olga, lab, m.Alive(8))


def rest(django_user_model, name):
    """REST as this account."""
    api = APIClient()
    api.force_authenticate(django_user_model.objects.get(username=name))
    return api


def test_rest_composes_decodes_and_sends(olga, address, django_user_model):
    api, lab = rest(django_user_model, "olga"), network(address)
    fields = {"instance": 7, "id": "Alice", "attributes": '{"floor": 2}'}
    composed = api.post(f"{REST}compose/", {"code": 1, "fields": fields}, format="json").json()
    assert composed["hex"] == encode(m.Register(1, 7, 0, 1, "Alice", {"floor": 2})).hex()
    assert composed["summary"].startswith("Register: req 1, instance 7, token 0")
    body = {"network": lab.id, "broker": 0, "hex": composed["hex"]}
    heard = api.post(f"{REST}send/", body, format="json").json()
    assert (heard["address"], heard["sentence"]) == (f"127.0.0.1:{address[1]}", "2 answers.")
    asked, registered = [one["summary"] for one in heard["answers"]]
    assert "code 4 repeat with this token" in asked
    assert "code 0 ok" in registered
    context = encode(m.Context(2, 7, 0, 1, deflate(BODY, 1))).hex()
    told = api.post(f"{REST}decode/", {"text": context}, format="json").json()
    assert (told["code"], told["name"], told["read_as"], told["inside"]) == (5, "Context", "hex", BODY.decode())
    assert told["verdict"]["judgement"] == "accepted"
    assert [(one["name"], one["offset"]) for one in told["fields"]][2:4] == [("req", 4), ("instance", 8)]
    django_user_model.objects.create_user("viktor")
    viktor = rest(django_user_model, "viktor")
    assert viktor.post(f"{REST}decode/", {"text": context}, format="json").status_code == 200
    assert viktor.post(f"{REST}send/", body, format="json").status_code == 403


@pytest.mark.parametrize(
    ("operation", "body", "fields"),
    [
        ("decode", {"text": "52 4"}, ["text"]),
        ("decode", {"text": "5244", "form": "text"}, ["form"]),
        ("compose", {"code": 99}, ["code"]),
        ("compose", {"code": 2, "fields": {"code": 9, "req": "x", "colour": 1}}, ["colour", "req", "code"]),
        ("compose", {"code": 1, "fields": {"attributes": {"floor": 2}}}, ["attributes"]),
        ("compose", {"code": 7, "fields": {"position": 9}}, [""]),
        ("send", {"network": "none", "broker": 0, "hex": "00"}, ["network"]),
        ("send", {"network": "none", "broker": 0, "hex": "00" * 65_508}, ["hex"]),
    ],
)
def test_rest_names_every_field_that_is_wrong(olga, django_user_model, operation, body, fields):
    refused = rest(django_user_model, "olga").post(f"{REST}{operation}/", body, format="json")
    nested = [f"fields.{name}".removesuffix(".") for name in fields] if "fields" in body else fields
    assert (refused.status_code, [one["field"] for one in refused.json()["errors"]]) == (400, nested)


def test_rest_has_a_wire_lab_of_each_system_that_declares_one(olga, django_user_model):
    api = rest(django_user_model, "olga")
    decoded = api.post("/api/systems/context-broker/wire/decode/", {"text": "1|5"}, format="json").json()
    assert (decoded["name"], decoded["summary"], decoded["inside"]) == ("Ping", "1|5", "")
    none = api.post("/api/systems/clock/wire/decode/", {"text": "1|5"}, format="json")
    assert none.status_code == 404
    assert none.json()["sentence"] == f"No wire lab of 'clock'; systems with one: {WITH_A_LAB}."


def test_only_servers_of_the_system_are_reached(olga, address, settings):
    other = network(address, "context-broker")
    assert "No reachable server is running" in olga.get(f"{URL}compose/").content.decode()
    assert "there is no network with the id" in send(olga, other, m.Alive(8))
    lab = network(address)
    assert "is not a running server; running: 0" in send(olga, lab, m.Alive(8), broker="1")
    settings.HOST_NAME = "elsewhere"
    assert "none of its servers can be reached from here" in send(olga, lab, m.Alive(8))


def test_a_recorded_run_is_listed_opened_and_taken_to_wireshark(olga, settings, tmp_path, django_user_model, radiator):
    settings.RUNS = tmp_path
    experiment = Experiment.objects.create(name="Recorded", definition={})
    configuration = {"system": "radiator", "engine": "simulated", "record_mb": 1, "settings": {}, "workload": {}}
    run = Run.objects.create(experiment=experiment, configuration=configuration, seed="1", state="done")
    here = f"{URL}messages/?run={run.id}"
    assert "has no recordings" in olga.get(here).content.decode()
    simulate(deployed(tmp_path / run.id, workload={"clients": 3, "duration_s": 1}, record_mb=1))
    assert here in olga.get(f"{URL}messages/").content.decode()
    capture = olga.get(f"{URL}messages.pcapng?run={run.id}")
    assert capture["Content-Disposition"].endswith(f'messages-{run.id}-simulated.pcapng"')
    found = read(b"".join(capture.streaming_content), 10_000).datagrams
    kinds = {one.data[3] for one in found}
    assert {1, 2, 5, 6, 7, 8} <= kinds <= {layout.code for layout in LAYOUTS}
    page = olga.get(here).content.decode()
    assert f"?d={found[0].data.hex()}" in page
    pushes = olga.get(f"{here}&code=7").content.decode()
    assert set(re.findall(r'data-label="Message">([^<]+)<', pushes)) == {"push"}
    opened = olga.get(f"{here}&message=0").content.decode()
    assert "Register</h2>" in opened
    assert olga.get(f"{here}&message=999999").status_code == 404
    assert olga.get(f"{URL}messages.pcapng").status_code == 400
    assert olga.get(f"/wire/messages.pcapng?run={run.id}").status_code == 404, "of another system"
    assert "must be a whole number" in olga.get(f"{here}&code=x").content.decode()
    check_rest(rest(django_user_model, "olga"), f"/api/runs/{run.id}", found)


def check_rest(api, here, found):
    """The same messages through REST as in the capture of the page."""
    page = api.get(f"{here}/datagrams/", {"page_size": 1_000}).json()
    assert (page["count"], page["pages"], page["is_cut"]) == (len(found), -(-len(found) // 1_000), False)
    first = page["results"][0]
    assert (first["number"], first["sender"], first["receiver"], first["code"]) == (0, None, 0, 1)
    assert first["text"].startswith("Register: req ")
    assert [one["sender_address"] for one in page["results"]] == [
        f"{one.source[0]}:{one.source[1]}" for one in found[:1_000]
    ]
    pushes = api.get(f"{here}/datagrams/", {"code": 7, "broker": 0, "from_us": first["at_us"]}).json()
    assert pushes["count"] == sum(one.data[3] == 7 for one in found)
    assert {(one["code"], one["kind"], one["sender"]) for one in pushes["results"]} == {(7, "push", 0)}
    one = api.get(f"{here}/datagrams/{pushes['results'][0]['number']}/").json()
    assert (one["name"], one["sender"], one["lost"], one["problems"]) == ("Push", 0, None, [])
    capture = api.get(f"{here}/capture/", {"code": 7, "broker": 0})
    assert len(read(b"".join(capture.streaming_content), 10_000).datagrams) == pushes["count"]
    assert api.get(f"{here}/datagrams/", {"code": -1}).json()["results"] == []
    assert api.get(f"{here}/datagrams/999999/").status_code == 404
    assert api.get(f"{here}/capture/", {"query": "ab"}).json()["field"] == "query"


def test_rest_says_why_a_run_has_no_messages(olga, settings, tmp_path, django_user_model, radiator):
    settings.RUNS, api = tmp_path, rest(django_user_model, "olga")
    experiment = Experiment.objects.create(name="Without", definition={})
    said = {}
    for system in ("radiator", "context-broker", "clock"):
        configuration = {"system": system, "engine": "simulated", "settings": {}, "workload": {}}
        run = Run.objects.create(experiment=experiment, configuration=configuration, seed="1", state="done")
        answers = [api.get(f"/api/runs/{run.id}/{what}/") for what in ("datagrams", "datagrams/0", "capture")]
        assert {answer.status_code for answer in answers} == {404}
        (said[system],) = {answer.json()["sentence"] for answer in answers}
    assert "record_mb" in said["radiator"]
    assert "record_mb above 0" in said["context-broker"]
    assert said["clock"] == f"This run is of 'clock'; systems with a wire lab: {WITH_A_LAB}."
