"""Limits of the HTTP gateway: what is too much, too long or too slow is refused, and delays no other client."""

from __future__ import annotations

import gzip
import http.client
import json
import socket
from contextlib import ExitStack

import pytest

from overlay.programs.radiator.client import RadiatorClient
from overlay.programs.radiator.limits import Limits
from tests.radiator.gatewayed import standing
from tests.radiator.test_gateway import EACH, call, context, listening, registration
from tests.waiting import BOUND_S, wait_for


@pytest.fixture(scope="module")
def gateway():
    with standing(**EACH) as made:
        yield made


def raw(gateway, data, timeout=BOUND_S):
    """The beginning of the answer to some bytes; empty if the connection is closed without one."""
    with socket.create_connection(gateway.address, timeout) as connection:
        connection.sendall(data)
        return connection.recv(1_000)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"port": 80}, "port must be a whole number from 1024"),
        ({"port": "x"}, "port must be a whole number from 1024"),
        ({"instance": -1}, "instance must be a whole number of 64 bits"),
        ({"instance": None}, "instance must be a whole number"),
        ({"id": 5}, "id must be a text"),
        ({"id": "x" * 300}, "300 bytes"),
        ({"id": ""}, "0 bytes"),
        ({"attributes": []}, "attributes must be an object"),
        ({"port": None, "p2p": True}, "p2p needs a port"),
        ({"callback": "http://example.org/"}, "port or callback, not both"),
        ({"port": None, "callback": "ftp://example.org/"}, "an http or https URL"),
        ({"port": None, "callback": "http://[/"}, "an http or https URL"),
        ({"port": None, "callback": "http://a:b@example.org/"}, "user name or password"),
        ({"port": None, "callback": "http://example.org:25/"}, "port 80, 443 or one from 1024"),
        ({"port": None, "callback": "http://example.org:0/"}, "port 80, 443 or one from 1024"),
        ({"port": None, "callback": "http://10.0.0.1/"}, "WAXWING_WEBHOOKS"),
        ({"port": None, "callback": "http://169.254.169.254/"}, "link-local"),
    ],
)
def test_a_wrong_registration_is_said_and_changes_nothing(gateway, changes, sentence):
    status, said = gateway.ask("POST", "/clients", {**registration(2_000), **changes})
    assert status == 400
    assert sentence in said["error"]
    assert gateway.status()["clients"] == 0


def test_a_port_behind_a_proxy_is_refused(gateway):
    status, said = gateway.ask("POST", "/clients", registration(2_000), X_Forwarded_For="192.0.2.7")
    assert (status, "direct connection" in said["error"]) == (400, True)


def test_wrong_contexts_and_reports_are_said(gateway):
    assert gateway.ask("POST", "/clients", {"id": "phone", "instance": 7})[0] == 201
    report = {"client": "phone", "instance": 7, "epoch": 1, "propagation": 1, "chain": 0, "attempt": 0, "position": 0}
    for path, document, status, sentence in [
        ("/contexts", call(1, context([])), 400, "p must be a list"),
        ("/contexts", call(1, context(x="y" * 16_380)), 413, "16,384"),
        ("/contexts", call(1, "text"), 400, "context must be an object"),
        ("/contexts", call(-1, context()), 400, "req must be a whole number of 32 bits"),
        ("/contexts", call(1, context(), instance=8), 404, "no client 'phone' of this instance"),
        ("/reports", {**report, "kind": "LATE"}, 400, "kind must be FAILED, DONE or PROGRESS"),
        ("/reports", {**report, "kind": "DONE", "chain": 65_536}, 400, "chain must be a whole number of 16 bits"),
        ("/reports", {**report, "kind": "DONE", "client": "x"}, 404, "no client"),
    ]:
        answered, said = gateway.ask("POST", path, document)
        assert answered == status, said
        assert sentence in said["error"]
    assert gateway.ask("POST", "/reports", {**report, "kind": "DONE"}) == (204, None)
    assert gateway.ask("DELETE", "/clients/phone?instance=7")[0] == 204


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (gzip.compress(b" " * 10_000_000), {"Content_Encoding": "gzip"}, 413),
        (b"x" * 20_000, {}, 413),
        (b"[" * 15_000, {}, 400),
        (b"[]", {}, 400),
        (b"", {}, 400),
        (b"x", {"Content_Encoding": "gzip"}, 400),
        (b"{}", {"Content_Encoding": "br"}, 415),
    ],
    ids=["inflated", "long", "deep", "list", "empty", "no gzip", "another encoding"],
)
def test_a_body_that_is_too_long_or_no_json_is_refused(gateway, body, headers, status):
    answered, said = gateway.ask("POST", "/contexts", body=body, **headers)
    assert answered == status
    assert said["error"]


def test_other_addresses_methods_and_protocols_are_refused(gateway):
    assert gateway.ask("POST", "/elsewhere", {})[0] == 404
    assert gateway.ask("GET", "/clients/a/b/c")[0] == 404
    assert gateway.ask("GET", "/contexts")[0] == 405
    assert gateway.headers["Allow"] == "POST"
    assert raw(gateway, b"HELLO\r\n\r\n").startswith(b"HTTP/1.1 400")
    head = b"HEAD /radiator/v1/status HTTP/1.1\r\nHost: x\r\n\r\n"
    assert raw(gateway, head).startswith(b"HTTP/1.1 405")
    with socket.create_connection(gateway.address, BOUND_S) as connection:
        connection.sendall(head + b"HELLO\r\n\r\n")
        said = connection.makefile("rb").read()
    assert said.count(b"HTTP/1.1") == said.count(b'"error"') + 1 == 2, "only the second answer has a body"
    assert raw(gateway, b"GET //[ HTTP/1.1\r\nHost: x\r\n\r\n").startswith(b"HTTP/1.1 404")
    assert raw(gateway, b"GET / HTTP/1.1\r\nX: " + b"x" * 20_000).startswith(b"HTTP/1.1 431")
    large = b"POST /radiator/v1/contexts HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n"
    assert raw(gateway, large).startswith(b"HTTP/1.1 413"), "before the body is sent"
    chunked = large.replace(b"Content-Length: 9999999", b"Transfer-Encoding: chunked")
    assert raw(gateway, chunked + b"2710\r\n%b\r\n" % (b"x" * 10_000) * 3).startswith(b"HTTP/1.1 413")
    both = large.replace(b"Content-Length: 9999999", b"Content-Length: 5\r\nTransfer-Encoding: chunked")
    with socket.create_connection(gateway.address, BOUND_S) as connection:
        connection.sendall(both + b"0\r\n\r\n" + head)
        connection.shutdown(socket.SHUT_WR)
        said = connection.makefile("rb").read()
    assert (said[:12], said.count(b"HTTP/1.1")) == (b"HTTP/1.1 400", 1), "what follows is no request"
    waiting = b"POST /radiator/v1/contexts HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
    assert raw(gateway, waiting).startswith(b"HTTP/1.1 100")


def test_a_connection_has_many_requests(gateway):
    connection = gateway.connect()
    for _ in range(3):
        connection.request("GET", "/radiator/v1/status")
        assert connection.getresponse().read()
    connection.close()


def test_clients_are_limited_in_all_and_by_address():
    with standing({"clients": 3, "clients_per_source": 2}, **EACH) as gateway:
        assert gateway.ask("POST", "/clients", {"id": "a", "instance": 1})[0] == 201
        assert gateway.ask("POST", "/clients", {"id": "b", "instance": 1})[0] == 201
        status, said = gateway.ask("POST", "/clients", {"id": "c", "instance": 1})
        assert (status, gateway.headers["Retry-After"]) == (429, "30")
        assert said["error"].startswith("there are 2 clients of this address")
        gateway.gateway.clients._limits = Limits(clients=2)
        status, said = gateway.ask("POST", "/clients", {"id": "c", "instance": 1})
        assert (status, gateway.headers["Retry-After"], said["error"]) == (503, "30", "there are 2 clients")
        assert gateway.ask("POST", "/clients", {"id": "a", "instance": 1})[0] == 201, "a known one"
        assert gateway.ask("DELETE", "/clients/a?instance=1")[0] == 204
        assert gateway.ask("POST", "/clients", {"id": "c", "instance": 1})[0] == 201
        assert gateway.status()["counters"]["clients_refused"] == 2


def test_connections_are_limited_and_their_places_free_again():
    with standing({"connections_per_source": 1}, **EACH) as gateway:
        first = gateway.connect()
        first.request("GET", "/radiator/v1/status")
        first.getresponse().read()
        with pytest.raises((http.client.HTTPException, OSError)):
            gateway.status()
        first.close()

        def answers():
            try:
                return gateway.status()
            except (http.client.HTTPException, OSError):
                return None

        assert wait_for(answers, "the place is free")["http"]["connections_refused"] > 0


def test_a_request_that_does_not_arrive_ends():
    with standing({"request_s": 0.05}, **EACH) as gateway:
        head = b"POST /radiator/v1/contexts HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"
        for begun in (head[:30], head):  # on a busy machine the time is over before these bytes arrive
            wait_for(lambda begun=begun: raw(gateway, begun).startswith(b"HTTP/1.1 408"), "it is refused")
        assert raw(gateway, b"") == b"", "one that never began is closed"
        wait_for(lambda: gateway.front.counts["too_slow"] >= 2, "both are counted")
        wait_for(lambda: not gateway.front._tasks, "their places are free")


def test_calls_of_a_client_are_limited():
    with standing({"calls": 1}, **EACH) as gateway, ExitStack() as stack:
        assert gateway.ask("POST", "/clients", {"id": "phone", "instance": 7})[0] == 201
        gateway.is_deaf = True
        stack.callback(setattr, gateway, "is_deaf", False)
        first = gateway.connect()
        stack.callback(first.close)
        first.request("POST", "/radiator/v1/contexts", json.dumps(call(1, context())))
        wait_for(lambda: gateway.gateway.clients.get("phone").calls == 1, "the first call waits")
        assert gateway.ask("POST", "/contexts", call(2, context()))[0] == 429
        gateway.is_deaf = False
        assert first.getresponse().status == 202, "once the server hears a repeat"


def test_a_slow_phone_delays_no_other_and_its_pushes_are_bounded():
    with standing({"waiting": 2, "posts": 1}, **EACH) as gateway, ExitStack() as stack:
        hole = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        port, received = stack.enter_context(listening())
        assert gateway.ask("POST", "/clients", registration(hole.getsockname()[1], "slow", 1))[0] == 201
        assert gateway.ask("POST", "/clients", registration(port, "quick", 2))[0] == 201
        alice = stack.enter_context(RadiatorClient(gateway.server, "alice"))
        for speed in range(6):
            alice.propagate(["alice"], {"speed": speed}, 1_000)
        found = {json.loads(received.get(timeout=BOUND_S)[2])["blob"]["a"]["speed"] for _ in range(6)}
        assert found == set(range(6))
        wait_for(lambda: gateway.status()["waiting_pushes"] == 2, "the pushes of the quick phone are settled")
        assert gateway.gateway.clients.get("slow").middleware.relayed.held == 2


def test_streams_are_limited_and_a_slow_reader_is_cut_off():
    limits = {"streams": 1, "write_s": 0.1, "heartbeat_s": 0.01}
    with standing(limits, **EACH) as gateway, RadiatorClient(gateway.server, "alice") as alice:
        for name in ("one", "two"):
            assert gateway.ask("POST", "/clients", {"id": name, "instance": 7})[0] == 201
        with socket.socket() as reader:
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            reader.settimeout(BOUND_S)
            reader.connect(tuple(gateway.address))
            reader.sendall(b"GET /radiator/v1/clients/one/events?instance=7 HTTP/1.1\r\nHost: x\r\n\r\n")
            said = b""
            while b"\n:\n" not in said:
                said += reader.recv(100)
            assert said.startswith(b"HTTP/1.1 200"), "and a heartbeat"
            assert gateway.status()["open_streams"] == 1
            assert gateway.ask("GET", "/clients/two/events?instance=7")[0] == 503

            def is_cut():
                alice.propagate(["alice"], {"x": "y" * 16_000}, 1_000)
                return gateway.front.counts["slow_readers"]

            wait_for(is_cut, "it does not read")
        wait_for(lambda: gateway.status()["open_streams"] == 0, "its place is free")
        assert gateway.status()["http"]["slow_readers"] == 1


def test_a_client_that_reads_its_events_is_said_to_be_alive():
    with standing({"heartbeat_s": 0.01}, **EACH, alive_s=0.1) as gateway:
        assert gateway.ask("POST", "/clients", {"id": "phone", "instance": 7})[0] == 201
        connection = gateway.connect()
        connection.request("GET", "/radiator/v1/clients/phone/events?instance=7")
        assert connection.getresponse().status == 200
        entry = gateway.core.clients.get(("127.0.0.1", "phone"))
        before = entry.heard_at
        wait_for(lambda: entry.heard_at > before, "ALIVE arrives")
        connection.close()


def test_events_are_not_kept_for_ever_for_a_client_that_does_not_come():
    with standing({"resume_s": 0}, **EACH) as gateway:
        assert gateway.ask("POST", "/clients", {"id": "phone", "instance": 7})[0] == 201
        with RadiatorClient(gateway.server, "alice") as alice:
            alice.propagate(["alice"], {}, 1_000)
        wait_for(lambda: gateway.status()["counters"].get("left_out"), "the push is not taken")
        assert gateway.status()["waiting_pushes"] == 0


def test_a_client_that_is_not_heard_of_is_unregistered():
    with standing({"lease_s": 0.1}, **EACH) as gateway:
        assert gateway.ask("POST", "/clients", {"id": "phone", "instance": 7})[0] == 201
        wait_for(lambda: not len(gateway.gateway.clients), "its lease is over")
        wait_for(lambda: len(gateway.core.clients) == 0, "the server is told")
        assert gateway.status()["counters"]["leases_over"] == 1
