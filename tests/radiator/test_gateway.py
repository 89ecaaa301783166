"""The HTTP gateway over real connections: calls, pushes, chains of the package's phones, events, callbacks."""

from __future__ import annotations

import gzip
import hashlib
import hmac
import json
import queue
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from overlay.core.addresses import format_address
from overlay.core.binary import canonical
from overlay.programs.radiator import phone as phones_module
from overlay.programs.radiator.client import RadiatorClient
from overlay.programs.radiator.phone import Phone
from overlay.systems.radiator.wire.proofs import is_authentic
from tests.radiator.gatewayed import standing
from tests.waiting import BOUND_S, wait_for

STEADY = {"rto_ms": 500, "tries": 8, "chain_wait_s": 600}
ROOT = Path(__file__).resolve().parents[2]
PAIRS = {"aggregability": "{volume: 2}", **STEADY}
EACH = {"aggregability": "{volume: 1}", **STEADY}


@contextmanager
def listening(*statuses):
    """An application with a port. ``statuses`` are its first answers; then 204. Yields port and what was received."""
    received, answers = queue.Queue(), list(statuses)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            data = self.rfile.read(int(self.headers["Content-Length"]))
            status = answers.pop(0) if answers else 204
            received.put((status, self.headers, gzip.decompress(data) if self.headers["Content-Encoding"] else data))
            self.send_response(status)
            self.end_headers()

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server.server_address[1], received
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def registration(port, name="phone", instance=7, **more):
    return {"id": name, "port": port, "instance": instance, "attributes": {"floor": 2}, **more}


def context(people=("phone",), **attributes):
    return {"a": attributes, "n": 1, "p": list(people), "t": [1_000, 2_000]}


def call(req, body, name="phone", instance=7):
    return {"client": name, "instance": instance, "req": req, "context": body}


@pytest.fixture(scope="module")
def gateway():
    with standing(**PAIRS) as made:
        yield made


def test_a_phone_registers_receives_calls_and_leaves(gateway):
    with listening() as (port, received), RadiatorClient(gateway.server, "alice") as alice:
        status, admitted = gateway.ask("POST", "/clients", registration(port))
        assert (status, sorted(admitted)) == (201, ["epoch", "key", "lease_s"])
        for speed in (50, 60):
            alice.propagate(["alice"], {"speed": speed}, 1_000)
        push = json.loads(received.get(timeout=BOUND_S)[2])
        assert (push["blob"]["a"], push["blob"]["n"]) == ({"speed": [50, 60]}, 2)
        assert (push["epoch"], push["chain"], push["position"]) == (admitted["epoch"], 65_535, 0)
        signed = push["epoch"], push["propagation"], push["chain"], canonical(push["blob"])
        assert is_authentic(bytes.fromhex(push["mac"]), bytes.fromhex(admitted["key"]), *signed)

        body = gzip.compress(json.dumps(call(1, context())).encode())
        before = gateway.core.counts["accepted"]
        assert gateway.ask("POST", "/contexts", body=body, Content_Encoding="gzip") == (202, {"result": "accepted"})
        assert gateway.ask("POST", "/contexts", call(1, context()))[0] == 202
        assert gateway.core.counts["accepted"] == before + 1, "a repeat is not accepted again"
        assert gateway.ask("DELETE", "/clients/phone?instance=7") == (204, None)
        assert gateway.ask("POST", "/contexts", call(2, context()))[0] == 404
        assert gateway.ask("DELETE", "/clients/phone?instance=7")[0] == 404


def test_only_204_acknowledges_a_push_and_others_are_repeated(gateway):
    with listening(500, 200) as (port, received), RadiatorClient(gateway.server, "alice") as alice:
        assert gateway.ask("POST", "/clients", registration(port))[0] == 201
        for speed in range(4):
            alice.propagate(["alice"], {"speed": speed}, 1_000)
        found = [received.get(timeout=BOUND_S) for _ in range(4)]
        assert sorted(status for status, _, _ in found) == [200, 204, 204, 500]
        pushes = [json.loads(data)["propagation"] for status, _, data in found if status == 204]
        assert len(set(pushes)) == 2, "none was delivered twice"
        assert gateway.ask("DELETE", "/clients/phone?instance=7")[0] == 204


def test_an_id_belongs_to_the_instance_that_registered_it(gateway):
    with listening() as (port, _), listening() as (other, received):
        assert gateway.ask("POST", "/clients", registration(port))[0] == 201
        assert gateway.ask("POST", "/clients", registration(port, instance=8))[0] == 409
        assert gateway.ask("DELETE", "/clients/phone?instance=8")[0] == 404
        assert gateway.ask("DELETE", "/clients/phone?instance=x")[0] == 400
        assert gateway.ask("POST", "/clients", registration(other, attributes={"floor": 3}))[0] == 201, "it has moved"
        entry = gateway.core.clients.get(("127.0.0.1", "phone"))
        assert entry.attributes == {"floor": 3}
        with RadiatorClient(gateway.server, "alice") as alice:
            assert gateway.ask("POST", "/clients", registration(port, "alice"))[0] == 409, (
                "a client without HTTP has it"
            )
            for _ in range(2):
                alice.propagate(["alice"], {}, 1_000)
            assert received.get(timeout=BOUND_S)[0] == 204
        assert gateway.ask("DELETE", "/clients/phone?instance=7")[0] == 204


def test_an_unreachable_client_loses_its_id_and_is_not_said_to_be_alive():
    with listening() as (port, _):
        pass
    with standing(**{**EACH, "rto_ms": 20, "tries": 1}) as gateway, RadiatorClient(gateway.server, "alice") as alice:
        assert gateway.ask("POST", "/clients", registration(port))[0] == 201
        alice.propagate(["alice"], {}, 1_000)
        entry = gateway.core.clients.get(("127.0.0.1", "phone"))
        wait_for(lambda: not entry.is_reachable, "the server leaves it out")
        wait_for(lambda: gateway.status()["silent"] == 1, "so does the gateway")
        assert gateway.ask("POST", "/clients", registration(port, instance=8))[0] == 201


def test_the_server_refuses_and_does_not_answer():
    with standing(**PAIRS, retained_max=1) as gateway, listening() as (port, _):
        assert gateway.ask("POST", "/clients", registration(port, p2p=True))[0] == 201
        assert gateway.ask("POST", "/clients", {"id": "other", "instance": 1})[0] == 201
        assert gateway.ask("POST", "/contexts", call(1, context()))[0] == 202
        status, said = gateway.ask("POST", "/contexts", call(2, context()))
        assert (status, said, gateway.headers["Retry-After"]) == (429, {"error": "the server is busy"}, "1")
        gateway.core.clients._most = 2
        assert gateway.ask("POST", "/clients", {"id": "third", "instance": 1})[0] == 503
        assert gateway.headers["Retry-After"] == "30"
        gateway.gateway._deadline_s, gateway.is_deaf = 1, True
        assert gateway.ask("POST", "/contexts", call(3, context()))[0] == 504
        assert gateway.ask("POST", "/clients", {"id": "fourth", "instance": 1})[0] == 504
        assert gateway.status()["clients"] == 2, "what was not admitted is forgotten"
        gateway.is_deaf = False


def test_a_phone_over_its_share_is_told_so_and_when_to_come_back_and_others_are_accepted():
    with standing(**{**PAIRS, "aggregability": "{volume: 1000}"}, retained_max=12) as gateway:
        for name in ("phone", "other"):
            assert gateway.ask("POST", "/clients", {"id": name, "instance": 7})[0] == 201
        statuses = [gateway.ask("POST", "/contexts", call(req, context()))[0] for req in range(1, 8)]
        assert statuses == [202] * 7
        status, said = gateway.ask("POST", "/contexts", call(8, context()))
        assert (status, gateway.headers["Retry-After"]) == (429, "1")
        assert "retains as many contexts of this client" in said["error"]
        assert gateway.ask("POST", "/contexts", call(1, context(), "other"))[0] == 202
        assert gateway.status()["counters"]["contexts_over_its_share"] == 1
        assert gateway.core.counts["over_share"] >= 1


class InOrder:
    """Chance that permutes nothing."""

    @staticmethod
    def sample(members, count):
        return list(members)


def test_three_phones_are_a_chain_that_is_repaired_when_one_dies(monkeypatch):
    monkeypatch.setattr(phones_module, "WAITS_S", (0.01, 0.01))
    monkeypatch.setattr(phones_module, "TRY_S", BOUND_S)
    with standing(**EACH, chain_percent=100) as gateway, ExitStack() as stack:
        received = {name: queue.Queue() for name in "abc"}
        phones = {name: Phone(gateway.url, name, received[name].put, is_p2p=True, host="127.0.0.1") for name in "abc"}
        for phone in phones.values():
            stack.enter_context(phone)
        alice = stack.enter_context(RadiatorClient(gateway.server, "alice"))
        gateway.core.propagations._former._chance = InOrder()
        alice.propagate(["alice"], {"speed": 50}, 1_000)
        for name in "abc":
            assert received[name].get(timeout=BOUND_S)["a"] == {"speed": 50}
        wait_for(lambda: not gateway.core.propagations.in_flight, "DONE is reported")
        counts = gateway.core.propagations.counts
        assert (counts["chains"], counts["pushes"], counts["repairs"], counts["delivered"]) == (1, 1, 0, 3)
        assert gateway.status()["counters"]["reports_done"] == 1

        phones["b"].stop()
        alice.propagate(["alice"], {"speed": 60}, 1_000)
        for name in "ac":
            assert received[name].get(timeout=BOUND_S)["a"] == {"speed": 60}
        wait_for(lambda: not gateway.core.propagations.in_flight, "the chain ends")
        assert not gateway.core.clients.get(("127.0.0.1", "b")).is_reachable
        assert (counts["repairs"], counts["delivered"], counts["failed"]) == (1, 5, 1)
        assert gateway.status()["counters"]["reports_failed"] == 1
        assert received["b"].empty()
        wait_for(lambda: gateway.status()["body_bytes"] == 0, "nothing is held")


def test_events_are_streamed_and_resumed():
    with standing({"events": 3}, **EACH) as gateway, RadiatorClient(gateway.server, "alice") as alice:
        received = queue.Queue()
        with Phone(gateway.url, "phone", received.put, has_port=False) as phone:
            for speed in range(3):
                alice.propagate(["alice"], {"speed": speed}, 1_000)
            assert [received.get(timeout=BOUND_S)["a"]["speed"] for _ in range(3)] == [0, 1, 2]
            instance = phone.instance
            wait_for(lambda: phone._last_event.endswith("-3"), "the third event is noted")
            first = phone._last_event[:-1] + "1"
            alice.propagate(["alice"], {"speed": 3}, 1_000)
            assert received.get(timeout=BOUND_S)["a"]["speed"] == 3
            phone.stop()  # it would open a stream again
            connection = gateway.connect()
            path = f"/radiator/v1/clients/phone/events?instance={instance}"
            connection.request("GET", path, headers={"Last-Event-ID": first})
            stream = connection.getresponse()
            assert (stream.status, stream.headers["Content-Type"]) == (200, "text/event-stream")
            found = [json.loads(line[6:])["blob"]["a"]["speed"] for line in lines(stream, b"data:", 3)]
            assert found == [1, 2, 3], "what was sent to the other stream, which this one ends"
            connection.close()
        assert gateway.ask("GET", f"/clients/phone/events?instance={instance}")[0] == 404


def lines(stream, prefix, count):
    found = []
    while len(found) < count:
        line = stream.readline()
        assert line, "the stream has ended"
        if line.startswith(prefix):
            found.append(line)
    return found


def test_a_callback_is_signed_and_tried_again():
    limits = {"callback_wait_s": 0.01, "callback_tries": 2}
    with (
        standing(limits, **EACH) as gateway,
        listening(500, 204, 500, 500) as (port, received),
        RadiatorClient(gateway.server, "alice") as alice,
    ):
        wanted = {"id": "hook", "instance": 7, "callback": f"http://127.0.0.1:{port}/radiator?x=1"}
        status, admitted = gateway.ask("POST", "/clients", wanted)
        assert (status, gateway.ask("POST", "/clients", wanted)[1]) == (201, admitted), "the secret stays"
        hook = gateway.gateway.clients.get("hook")
        heard_at = hook.heard_at
        alice.propagate(["alice"], {"speed": 1}, 1_000)
        found = [received.get(timeout=BOUND_S) for _ in range(2)]
        assert [status for status, _, _ in found] == [500, 204]
        expected = hmac.new(admitted["secret"].encode(), found[1][2], hashlib.sha256).hexdigest()
        assert found[1][1]["X-Waxwing-Signature"] == f"sha256={expected}"
        assert json.loads(found[1][2])["blob"]["a"] == {"speed": 1}
        wait_for(lambda: hook.heard_at > heard_at, "its answer is a sign of life")
        alice.propagate(["alice"], {"speed": 2}, 1_000)
        wait_for(lambda: gateway.status()["silent"] == 1, "both tries have failed")
        assert gateway.status()["counters"]["callbacks_failed"] == 1
        alice.propagate(["alice"], {"speed": 3}, 1_000)
        wait_for(lambda: gateway.status()["counters"].get("left_out"), "nothing is taken for it any more")
        assert gateway.ask("POST", "/clients", wanted)[0] == 201
        alice.propagate(["alice"], {"speed": 4}, 1_000)
        while json.loads(received.get(timeout=BOUND_S)[2])["blob"]["a"] != {"speed": 4}:
            pass  # both tries, and perhaps what the server has repeated meanwhile


def test_the_command_serves_until_it_is_stopped_and_unregisters_its_clients():
    with standing(**EACH) as found:
        command = [sys.executable, "-m", "overlay", "radiator", "gateway", format_address(found.server)]
        serving = subprocess.Popen([*command, "--listen", "127.0.0.1:0"], cwd=ROOT, stderr=subprocess.PIPE, text=True)
        try:
            with Phone(serving.stderr.readline().strip(), "phone", has_port=False) as phone:
                phone.propagate(["alice"], {"speed": 50})
                assert (found.core.counts["accepted"], len(found.core.clients)) == (1, 1)
                serving.terminate()
                assert serving.wait(BOUND_S) == 0, serving.stderr.read()
                assert len(found.core.clients) == 0
        finally:
            serving.kill()
            serving.wait()
            serving.stderr.close()


def test_after_a_restart_of_the_server_a_phone_goes_on():
    with standing(**EACH) as gateway, listening() as (port, received):
        first = gateway.ask("POST", "/clients", registration(port))[1]
        gateway.do(lambda: gateway.restart(2))
        assert gateway.ask("POST", "/contexts", call(1, context()))[0] == 502
        assert gateway.ask("POST", "/contexts", call(2, context()))[0] == 202
        second = gateway.ask("POST", "/clients", registration(port))[1]
        assert (second["epoch"], second["key"]) != (first["epoch"], first["key"])
        with RadiatorClient(gateway.server, "alice") as alice:
            alice.propagate(["alice"], {}, 1_000)
        assert json.loads(received.get(timeout=BOUND_S)[2])["epoch"] == second["epoch"]
