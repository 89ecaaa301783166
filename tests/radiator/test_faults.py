"""Faults in the contract's words, and what those of links and islands do to a client."""

from __future__ import annotations

import pytest

from brokerweb.builder import filling
from overlay.core.chance import Stream
from overlay.core.errors import InvalidSetting
from overlay.core.node import MILLISECOND
from overlay.systems.radiator.fault_words import in_common_words
from overlay.systems.radiator.load.impairments import Impairments
from overlay.systems.radiator.system import SYSTEM
from overlay.topologies import Graph

SERVER, PEER = ("10.0.0.1", 7_000), ("10.0.0.2", 4_000)


def faults(*documents, clients=20):
    setup = SYSTEM.setup({}, {"clients": clients, "duration_s": 120}, Graph(1, ()), seed=3)
    return SYSTEM.read_faults(setup, list(documents))


PLAN = [
    {"what": "lossy", "links": "all", "loss": 0.05, "at_s": 0, "until_s": 120},
    {"what": "kill", "clients": 0.1, "at_s": 30},
    {"what": "restart", "nodes": ["server"], "at_s": 60},
]


def test_the_plan_of_the_contract_is_understood():
    lossy, kill, restart = faults(*PLAN)
    assert (lossy.what, len(lossy.clients), lossy.values) == ("lossy_links", 20, {"links": "all", "loss": 0.05})
    assert (kill.what, len(kill.clients), kill.until_s) == ("crash", 2, None)
    assert (restart.what, restart.crashes) == ("restart", (0,))


def test_the_form_shows_it_and_sends_the_same_faults(radiator):
    rows = filling.shown({"name": "x", "system": "radiator", "faults": PLAN}).faults
    assert [row.what for row in rows.rows] == ["lossy_links", "crash", "restart"]
    assert faults(*rows.documents()) == faults(*PLAN)


def test_nodes_are_the_server_and_numbers_of_clients():
    document = {"what": "kill", "nodes": ["server", 3, 17], "at_s": 5, "until_s": 9}
    of_server, cut, of_clients = faults(document, {"what": "cut", "nodes": ["server"], "at_s": 1})
    assert (of_server.crashes, of_server.until_s, cut.servers) == ((0,), 9, (0,))
    assert (of_clients.what, of_clients.clients, of_clients.until_s) == ("crash", ("client-3", "client-17"), 9)


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"what": "kill", "nodes": [20], "at_s": 1}, "faults.1.clients"),
        ({"what": "kill", "nodes": ["servers"], "at_s": 1}, "faults.1.brokers"),
        ({"what": "lossy", "links": "peer", "loss": 0.1, "at_s": 1}, "faults.1.links"),
        ({"what": "slow", "links": "peers", "delay_ms": -1, "at_s": 1}, "faults.1.delay_ms"),
        ({"what": "partition", "islands": [["server", 1], [1]], "at_s": 1}, "faults.1.islands"),
        ({"what": "cut", "nodes": [3], "at_s": 1}, "faults.1.clients"),
    ],
)
def test_what_is_wrong_is_named_at_its_place(document, field):
    with pytest.raises(InvalidSetting) as caught:
        faults({"what": "restart", "clients": 0.5, "at_s": 1}, document)
    assert caught.value.field == field


def test_what_is_no_list_of_objects_is_left_to_the_common_reader():
    assert in_common_words("x") == "x"
    assert in_common_words([3, {"what": "kill", "nodes": []}]) == [3, {"what": "kill", "nodes": []}]


def of_links(what, links, **values):
    impairments = Impairments(Stream(1), SERVER, 4)
    impairments.change({"what": what, "links": links, **values}, True)
    return impairments


def test_each_datagram_between_clients_is_lost_once_where_it_arrives():
    peers = of_links("lossy_links", "peers", loss=1.0)
    assert [peers.receive(b"", source, 0) for source in (SERVER, PEER)] == [True, False]
    assert peers.sent([(b"", SERVER), (b"", PEER)], 0) == [(b"", SERVER), (b"", PEER)]
    server = of_links("lossy_links", "server", loss=1.0)
    assert [server.receive(b"", source, 0) for source in (SERVER, PEER)] == [False, True]
    assert server.sent([(b"", SERVER), (b"", PEER)], 0) == [(b"", PEER)]


def test_slow_links_to_the_server_delay_both_ways():
    slow = of_links("slow_links", "server", delay_ms=30)
    assert slow.receive(b"in", SERVER, 0) is False
    assert slow.sent([(b"out", SERVER), (b"", PEER)], 0) == [(b"", PEER)]
    assert slow.next_timer() == 30 * MILLISECOND
    assert list(slow.arriving.due(30 * MILLISECOND)) == [(b"in", SERVER)]
    assert slow.sent([], 30 * MILLISECOND) == [(b"out", SERVER)]
    slow.change({"what": "slow_links", "links": "server", "delay_ms": 30}, False)
    assert slow.receive(b"in", SERVER, 0) is True


def test_islands_hear_only_themselves_and_others_hear_everyone():
    cut_off = Impairments(Stream(1), SERVER, 4)
    cut_off.change({"what": "separated", "islands": "server 1 2 | 4 5"}, True)
    assert [cut_off.hears(other) for other in ("server", 2, 5, 9)] == [False, False, True, True]
    assert cut_off.receive(b"", SERVER, 0) is False
    assert cut_off.sent([(b"", SERVER), (b"", PEER)], 0) == [(b"", PEER)]
