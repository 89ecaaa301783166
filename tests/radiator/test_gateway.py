"""The HTTP gateway with a real server: curl-able calls, pushes that count only if the phone answers 204, limits."""

from __future__ import annotations

import gzip
import http.client
import json
import queue
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from overlay.core.binary import canonical
from overlay.programs.radiator import gateway as gateways
from overlay.programs.radiator import http_front
from overlay.programs.radiator.client import RadiatorClient
from overlay.programs.radiator.gateway import Gateway
from overlay.programs.radiator.http_front import Front
from overlay.systems.radiator.wire.proofs import is_authentic
from tests.waiting import BOUND_S, wait_for


@contextmanager
def serving(front):
    thread = threading.Thread(target=front.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield front.server_address
    finally:
        front.shutdown()
        thread.join()
        front.server_close()


@pytest.fixture
def gateway(server):
    """A function that sends a request and returns status and document."""
    made = Gateway(server)
    with serving(Front(made, ("127.0.0.1", 0))) as address:

        def ask(method, path, document=None, *, body=None, **headers):
            connection = http.client.HTTPConnection(*address, timeout=BOUND_S)
            data = json.dumps(document).encode() if body is None else body
            connection.request(method, path, data, {name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            text = answer.read()
            connection.close()
            return answer.status, json.loads(text) if text else None

        yield ask
    made.close()


class Phone:
    """An application with HTTP only. ``statuses`` are its next answers; then 204."""

    def __init__(self):
        self.received, self.statuses = queue.Queue(), []
        phone = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                data = gzip.decompress(self.rfile.read(int(self.headers["Content-Length"])))
                status = phone.statuses.pop(0) if phone.statuses else 204
                phone.received.put((status, json.loads(data)))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *arguments):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)


@pytest.fixture
def phone():
    made = Phone()
    with serving(made.server):
        yield made


def registration(phone, name="phone", instance=7):
    return {"id": name, "port": phone.server.server_address[1], "instance": instance, "attributes": {"floor": 2}}


def context(people, **attributes):
    return {"a": attributes, "n": 1, "p": people, "t": [1_000, 2_000]}


def call(req, body, name="phone", instance=7):
    return {"client": name, "instance": instance, "req": req, "context": body}


def test_a_phone_registers_receives_calls_and_leaves(server, gateway, phone):
    status, admitted = gateway("POST", "/radiator/v1/clients", registration(phone))
    assert (status, sorted(admitted)) == (201, ["epoch", "key"])
    with RadiatorClient(server, "alice") as alice:
        alice.propagate(["alice"], {"speed": 50}, 1_000)
        alice.propagate(["alice"], {"speed": 60}, 2_000)
        status, push = phone.received.get(timeout=BOUND_S)
    assert (status, push["blob"]["a"], push["blob"]["n"]) == (204, {"speed": [50, 60]}, 2)
    assert (push["epoch"], push["chain"], push["position"]) == (admitted["epoch"], 65_535, 0)
    signed = bytes.fromhex(admitted["key"]), push["epoch"], push["propagation"], push["chain"], canonical(push["blob"])
    assert is_authentic(bytes.fromhex(push["mac"]), *signed)

    body = gzip.compress(json.dumps(call(1, context(["phone"]))).encode())
    assert gateway("POST", "/radiator/v1/contexts", body=body, Content_Encoding="gzip") == (202, {"result": "accepted"})
    assert gateway("POST", "/radiator/v1/contexts", call(1, context(["phone"])))[0] == 202, "a repeat, not sent again"
    assert gateway("DELETE", "/radiator/v1/clients/phone?instance=7") == (204, None)
    assert gateway("POST", "/radiator/v1/contexts", call(2, context(["phone"])))[0] == 404


def test_only_204_acknowledges_a_push_and_others_are_repeated(server, gateway, phone):
    phone.statuses = [500, 503]
    assert gateway("POST", "/radiator/v1/clients", registration(phone))[0] == 201
    with RadiatorClient(server, "alice") as alice:
        for speed in (50, 60):
            alice.propagate(["alice"], {"speed": speed}, 1_000)
        found = [phone.received.get(timeout=BOUND_S) for _ in range(3)]
        assert [status for status, _ in found] == [500, 503, 204]
        assert len({push["propagation"] for _, push in found}) == 1
        for speed in (70, 80):
            alice.propagate(["alice"], {"speed": speed}, 1_000)
        status, push = phone.received.get(timeout=BOUND_S)
    assert (status, push["blob"]["a"]) == (204, {"speed": [70, 80]}), "the first was not delivered twice"


def test_an_id_belongs_to_the_instance_that_registered_it(gateway, phone):
    assert gateway("POST", "/radiator/v1/clients", registration(phone))[0] == 201
    assert gateway("POST", "/radiator/v1/clients", registration(phone))[0] == 201, "a repeat"
    assert gateway("POST", "/radiator/v1/clients", registration(phone, instance=8))[0] == 409
    assert gateway("DELETE", "/radiator/v1/clients/phone?instance=8")[0] == 404
    assert gateway("DELETE", "/radiator/v1/clients/phone?instance=x")[0] == 400


def test_an_id_that_the_server_has_is_refused(server, gateway, phone):
    with RadiatorClient(server, "taken"):
        status, said = gateway("POST", "/radiator/v1/clients", registration(phone, "taken"))
    assert (status, "has this id" in said["error"]) == (409, True)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"port": 80}, "port must be from 1024"),
        ({"port": "x"}, "port must be a whole number"),
        ({"instance": -1}, "instance of 64 bits"),
        ({"id": 5}, "id must be a text"),
        ({"id": "x" * 300}, ""),
        ({"attributes": []}, "attributes must be an object"),
    ],
)
def test_a_wrong_registration_is_said(gateway, phone, changes, sentence):
    status, said = gateway("POST", "/radiator/v1/clients", {**registration(phone), **changes})
    assert status == 400
    assert sentence in said["error"]


def test_a_wrong_context_is_said(gateway, phone):
    assert gateway("POST", "/radiator/v1/clients", registration(phone))[0] == 201
    assert gateway("POST", "/radiator/v1/contexts", call(1, context([])))[0] == 400
    assert gateway("POST", "/radiator/v1/contexts", call(2, context(["a"], x="y" * 16_384)))[0] == 413
    assert gateway("POST", "/radiator/v1/contexts", call(3, "text"))[0] == 400


def test_what_is_too_much_or_no_json_changes_nothing(gateway):
    bomb = gzip.compress(b" " * 10_000_000)
    assert gateway("POST", "/radiator/v1/contexts", body=bomb, Content_Encoding="gzip")[0] == 413
    assert gateway("POST", "/radiator/v1/contexts", body=b"x" * 20_000)[0] == 413
    assert gateway("POST", "/radiator/v1/contexts", body=b"[" * 15_000)[0] == 400
    assert gateway("POST", "/radiator/v1/contexts", body=b"[]")[0] == 400
    assert gateway("POST", "/radiator/v1/contexts", body=b"x", Content_Encoding="gzip")[0] == 400
    assert gateway("POST", "/radiator/v1/contexts", body=b"{}", Content_Encoding="br")[0] == 415
    assert gateway("POST", "/radiator/v1/elsewhere", {})[0] == 404


def test_clients_are_limited(gateway, phone, monkeypatch):
    monkeypatch.setattr(gateways, "MOST_CLIENTS", 1)
    assert gateway("POST", "/radiator/v1/clients", registration(phone))[0] == 201
    assert gateway("POST", "/radiator/v1/clients", registration(phone, "second"))[0] == 503


def test_connections_are_limited_and_their_places_free_again(server, monkeypatch):
    monkeypatch.setattr(http_front, "MOST_CONNECTIONS", 1)
    made = Gateway(server)
    with serving(Front(made, ("127.0.0.1", 0))) as address:
        first, second = (http.client.HTTPConnection(*address, timeout=BOUND_S) for _ in range(2))
        first.connect()
        with pytest.raises((http.client.HTTPException, OSError)):
            second.request("POST", "/", b"{}")
            second.getresponse()
        first.close()

        def answers():
            third = http.client.HTTPConnection(*address, timeout=BOUND_S)
            try:
                third.request("POST", "/", b"{}")
                return third.getresponse().status == 404
            except (http.client.HTTPException, OSError):
                return False
            finally:
                third.close()

        wait_for(answers, "a place is free")
    made.close()
