"""The page and REST of a network: clients and pending messages as its server tells them, and what to do without any."""

from __future__ import annotations

import re
import socket
import threading
import time

import pytest
from django.test import Client

from brokerweb.networks import services
from brokerweb.networks.models import Network
from overlay.core.addresses import format_address
from overlay.core.node import SECOND
from overlay.systems.registry import FIRST
from tests.radiator.test_inspection import Served

pytestmark = pytest.mark.django_db


class Listening(Served):
    """A server without a process, on a real socket."""

    def __init__(self, sock, **settings):
        super().__init__(**settings)
        self.sock, self.lock = sock, threading.Lock()
        self.now = time.monotonic_ns()

    def serve(self):
        while (received := self.sock.recvfrom(65_535)) and received[0]:
            with self.lock:
                self.server.receive_datagrams([received], self.now)
                for data, to in self.server.datagrams_to_send():
                    self.sock.sendto(data, to)


@pytest.fixture
def served():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        one = Listening(sock, aggregability="{volume: 5 + r.floor}", echo=True)
        thread = threading.Thread(target=one.serve)
        thread.start()
        yield one
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"", sock.getsockname())
        thread.join()


@pytest.fixture
def network(served):
    made = services.deploy(name="Lisbon", system="radiator")
    address = format_address(served.sock.getsockname())
    row = {"index": 0, "name": "server-0", "address": address, "state": "up", "reason": "", "restarts": 0, "pid": None}
    Network.objects.filter(pk=made.pk).update(state="running", brokers=[row | {"since_unix_ms": 0}])
    return Network.objects.get(pk=made.pk)


@pytest.fixture
def looking(django_user_model):
    browser = Client(raise_request_exception=False)
    browser.force_login(django_user_model.objects.create_user("olga"))
    return browser


def words(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def test_a_network_without_clients_says_how_to_register_one(looking, network):
    page = looking.get(f"/networks/{network.pk}/").content.decode()
    parts = dict(re.findall(r'id="radiator-(\w+)" hx-get="([^"]+)" hx-trigger="load"', page))
    server, connect = looking.get(parts["server"]), looking.get(parts["connect"])
    assert "No client is registered. Register one from Python, the command line or HTTP" in words(server)
    assert "Nothing is pending" in words(server)
    address = network.brokers[0]["address"]
    assert f"python -m overlay radiator receive {address} --id bob" in words(connect)
    assert f"python -m overlay radiator gateway {address}" in words(connect)
    assert "every" not in connect.content.decode(), "what is copied is not replaced"


def test_clients_and_queues_are_shown_in_pages_and_by_state(looking, network, served):
    for number in range(30):
        served.register(number, f"client-{number:02}", floor=number % 2)
    served.call(3, 1, ["Ann"])
    served.now += 5 * SECOND
    url = f"/radiator/networks/{network.pk}/server/"
    first = looking.get(url)
    said = words(first)
    assert "Messages accepted 1 Pushes 0 Messages retained 1" in said
    assert "Clients reachable 30 of 30" in said
    assert "client-24" in said and "client-25" not in said and "1–25 of 30" in said
    assert "volume: 5 15 1 1 5 s ago with 4 more messages, in 4 min at the latest" in said
    (following,) = re.findall(r'id="clients-next"[^>]*hx-get="([^"]+)"', first.content.decode())
    second = words(looking.get(following.replace("&amp;", "&")))
    assert "client-25" in second and "client-24" not in second
    assert "26–30 of 30" in words(looking.get(f"{url}?clients=99999&queues=x&only=y")), "the last page"
    assert "No client is unreachable." in words(looking.get(f"{url}?only=unreachable"))


def test_rest_has_both_lists(looking, network, served):
    for number in range(3):
        served.register(number, floor=number)
    served.call(1, 1, ["Ann"])
    url = f"/api/networks/{network.pk}/clients/"
    found = looking.get(f"{url}?page_size=2&reachable=true").json()
    assert (found["count"], [row["id"] for row in found["results"]]) == (3, ["client-0", "client-1"])
    assert found["results"][1]["own"] == {"instance": "0000…", "is_p2p": True, "retained": 1}
    assert found["next"].endswith("/clients/?reachable=true&page_size=2&page=2")
    assert [row["id"] for row in looking.get(found["next"]).json()["results"]] == ["client-2"]
    assert looking.get(f"{url}?reachable=false").json()["results"] == []
    rows = looking.get(f"/api/networks/{network.pk}/pending/").json()["results"]
    assert {row["queue"] for row in rows} == {"volume: 5", "volume: 6", "volume: 7"}
    assert set(rows[0]) == {"queue", "recipients", "messages", "oldest_ms", "leaves_in_ms", "leaves", "own"}
    for wrong in ("reachable=x", "page=0", "page_size=1001", "unknown=1"):
        assert looking.get(f"{url}?{wrong}").status_code == 400


@pytest.mark.parametrize("name", ["clients", "pending"])
def test_what_cannot_be_told_has_a_reason(looking, network, served, name):
    url = f"/api/networks/{network.pk}/{name}/"
    Network.objects.filter(pk=network.pk).update(system=FIRST)
    refused = looking.get(url)
    assert (refused.status_code, "list no " in refused.content.decode()) == (404, True)
    assert looking.get(f"/radiator/networks/{network.pk}/server/").status_code == 400
    Network.objects.filter(pk=network.pk).update(system="radiator", state="stopped", brokers=[])
    assert looking.get(url).status_code == 409
    assert "Start the network" in words(looking.get(f"/radiator/networks/{network.pk}/server/"))
    assert "once it runs" in words(looking.get(f"/radiator/networks/{network.pk}/connect/"))
    row = network.brokers[0] | {"address": "127.0.0.1:1"}
    Network.objects.filter(pk=network.pk).update(state="running", brokers=[row])
    assert (looking.get(url).status_code, "No server listens" in looking.get(url).content.decode()) == (504, True)
    assert "No server listens" in words(looking.get(f"/radiator/networks/{network.pk}/server/"))
