"""The middleware of a client behind a gateway, and its chains, as transcripts of datagrams."""

from __future__ import annotations

import pytest

from overlay.core.chance import Stream
from overlay.core.node import SECOND
from overlay.systems.radiator.chains import blobs, relayed
from overlay.systems.radiator.chains.blobs import Place, chain_blob, open_blob
from overlay.systems.radiator.chains.forming import Former
from overlay.systems.radiator.chains.propagation import Propagation
from overlay.systems.radiator.clients.table import Clients
from overlay.systems.radiator.config import Transport
from overlay.systems.radiator.context import Context
from overlay.systems.radiator.middleware.relayed import RelayedMiddleware
from overlay.systems.radiator.wire import messages as m
from overlay.systems.radiator.wire.codec import encode, parse
from overlay.systems.radiator.wire.compression import GZIP, deflate
from overlay.systems.radiator.wire.proofs import mac_of

SERVER, KEY = ("10.0.0.1", 7000), b"k" * 16
BODY = Context(("alice",), 1, 2, {"x": 1}).encode()
MEMBERS = [Place("10.0.0.8", 1_000, "a"), Place("10.0.0.8", 1_001, "b")]


class Phone:
    """A middleware, what it relayed, and what it sent since the last look."""

    def __init__(self):
        self.relayed, self.has_room, self.now = [], True, 0
        self.node = RelayedMiddleware(Transport(codec="none"), 5, self.relay)
        self.node.setup(SERVER)
        self.node.register_client("a", print, {"x": 1}, is_p2p=True, is_http=True, now=0)
        self.hear(m.Registered(self.sent()[0].req, 4, 9, token=77))
        self.hear(m.Registered(self.sent()[0].req, 0, 9, key=KEY))

    def relay(self, push, opened):
        self.relayed.append((push, opened))
        return self.has_room

    def hear(self, message):
        self.node.receive_datagrams([(encode(message), SERVER)], self.now)
        self.node.check_invariants()

    def sent(self):
        return [parse(data) for data, _ in self.node.datagrams_to_send()]

    def wait(self, seconds):
        until, sent = self.now + seconds * SECOND, []
        while (timer := self.node.next_timer()) is not None and timer <= until:
            self.now = max(self.now, timer)
            self.node.handle_timer(self.now)
            sent += self.sent()
        self.now = until
        return sent


def push(members=(), *, chain=0, position=0, attempt=0, propagation=1, key=KEY):
    blob = chain_blob(members, SERVER, BODY) if members else BODY
    number = chain if members else m.DIRECT
    mac = mac_of(key, 9, propagation, number, blob)
    return m.Push(9, propagation, number, position, len(members), attempt, 0, 0, 1, mac, blob)


def test_a_registration_says_that_its_client_forwards_by_http():
    node = RelayedMiddleware(Transport(), 5, lambda *_: True)
    node.setup(SERVER)
    node.register_client("a", print, is_p2p=True, is_http=True, now=0)
    [(data, _)] = node.datagrams_to_send()
    assert parse(data).flags == m.P2P | m.HTTP


@pytest.mark.parametrize("members", [(), MEMBERS])
def test_a_push_is_acknowledged_once_the_client_has_confirmed_it(members):
    phone = Phone()
    for _ in range(3):
        phone.hear(push(members))
    [(relayed_push, opened)] = phone.relayed
    assert (opened.body, [*map(tuple, opened.members)], phone.sent()) == (BODY, [*map(tuple, members)], [])
    phone.node.settle(relayed_push, 0, is_received=True)
    phone.hear(push(members))
    assert [type(ack) for ack in phone.sent()] == [m.Ack, m.Ack]
    assert len(phone.relayed) == 1, "a repeat is acknowledged, and not relayed again"
    phone.hear(push(members, attempt=1))
    assert len(phone.relayed) == 2, "a new attempt is"


def test_what_the_client_did_not_take_is_relayed_again_when_it_is_repeated():
    phone = Phone()
    phone.hear(push())
    phone.node.settle(phone.relayed[0][0], 0, is_received=False)
    phone.hear(push())
    assert (len(phone.relayed), phone.sent()) == (2, [])


def test_pushes_that_are_never_settled_are_let_go(monkeypatch):
    monkeypatch.setattr(relayed, "MOST_HELD", 2)
    phone = Phone()
    for number in range(4):
        phone.hear(push(propagation=number))
    assert (phone.node.relayed.held, len(phone.relayed)) == (2, 2)
    phone.wait(10)
    assert phone.node.relayed.held == 0
    phone.has_room = False
    phone.hear(push(propagation=9))
    assert phone.node.relayed.held == 0, "the gateway had no room"
    phone.has_room = True
    phone.hear(push(propagation=9))
    phone.hear(m.RegisterAgain(10))
    phone.hear(m.Registered(phone.sent()[-1].req, 0, 10, key=KEY))
    assert phone.node.relayed.held == 0, "of an earlier epoch"


def test_forged_pushes_and_those_for_others_are_refused():
    phone = Phone()
    phone.hear(push(key=b"x" * 16))
    phone.hear(push(MEMBERS, position=1))
    assert (phone.relayed, phone.node.hop.counts["refused"]) == ([], 2)


def test_reports_of_the_client_are_repeated_until_they_are_noted():
    phone = Phone()
    report = m.Failed(9, 1, 0, 0, 1, 5)
    assert phone.node.report(report, 0)
    assert phone.sent() == [report]
    assert phone.wait(1)[0] == report
    phone.hear(m.noted(report))
    assert phone.wait(2) == []
    assert sum(phone.node.report(m.Done(9, number, 0, 0, 1, 5), phone.now) for number in range(70)) == 64


def test_life_is_shown_only_for_a_client_that_was_heard_of():
    phone = Phone()
    assert phone.wait(1_000) == [], "neither ALIVE nor a registration after silence"
    phone.node.hear(phone.now)
    first = phone.wait(1)
    assert {type(message) for message in first} == {m.Register}, "the server may have restarted since"
    phone.hear(m.Registered(first[0].req, 0, 9, key=KEY))
    phone.node.hear(phone.now)
    assert [type(message) for message in phone.wait(60)] == [m.Alive]


def test_no_life_is_shown_for_a_client_that_did_not_take_its_last_push():
    phone = Phone()
    phone.hear(push())
    phone.now += SECOND
    phone.node.hear(phone.now)
    phone.node.settle(phone.relayed[0][0], phone.now, is_received=False)
    assert phone.wait(1_000) == []
    phone.node.hear(phone.now)
    assert phone.wait(1) != []


def test_chains_are_of_one_transport_and_of_one_gateway():
    clients, places = Clients(SECOND), ["10.0.0.1", "10.0.0.8", "10.0.0.9"]
    for number in range(60):
        host, is_http = places[number % 3], number % 3 > 0
        clients.register((host, 1 + number), f"c{number}", number, {}, is_p2p=True, is_http=is_http, req=1, now=0)
    former = Former(Transport(chain_percent=10), SERVER, 9, KEY, Stream(1), None)
    propagation = Propagation(1, (1,), b"{}")
    assert former.form(propagation, clients.reachable, clients.p2p) == []
    hosts = [{member.key[0] for member in chain.members} for chain in propagation.chains]
    assert len(hosts) == 12
    assert all(len(one) == 1 for one in hosts)


def test_blobs_that_are_too_long_are_not_cached():
    def cached():
        return [opened.cache_info().currsize for _, _, opened in blobs.CACHES]

    before, most = cached(), blobs.CACHES[-1][1]
    long = deflate(b" " * (most + 1), GZIP)
    assert len(open_blob(long, GZIP, m.DIRECT, 1 << 20).body) == most + 1
    assert cached() == before
    assert [opened.cache_info().maxsize for _, _, opened in blobs.CACHES] == [256, 16]


def test_the_hops_of_hundreds_of_chains_open_each_blob_once():
    many = [deflate(b"%d" % number * 1000, GZIP) for number in range(200)]
    before = blobs.CACHES[0][2].cache_info().misses
    for _ in range(3):
        for blob in many:
            open_blob(blob, GZIP, m.DIRECT, 1 << 20)
    assert blobs.CACHES[0][2].cache_info().misses == before + 200
