"""The rules of an open network, and what is answered to what cannot be read."""

import pytest

from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.broker.opennet import Ledger, OpenNetwork, RateLimit
from tests.broker.transcript import STRANGER, B, C, D, K, Talk, hop


@pytest.mark.parametrize(
    ("text", "operation", "stamp"),
    [
        ("", "Unknown", None),
        ("hello", "Unknown", None),
        ("x|7", "Unknown", 7),
        ("03|7|a|b|c", "Unknown", 7),
        ("3|7|a|b", "ContextRequest", 7),
        ("3|007|a|b|c", "ContextRequest", None),
        ("3|7|a|b|c|", "ContextRequest", 7),
        ("3|7||b|c", "ContextRequest", 7),
        ("3|7|a|b|c|10.0.0.1", "ContextRequest", 7),
        ("3|7|a|b|c|10.0.0.1|99999", "ContextRequest", 7),
        ("3|7|a|b|c|example.org|80", "ContextRequest", 7),
        (b"3|7|a|b|\xff", "ContextRequest", 7),
        ("3|7|" + "a" * 256 + "|b|c", "ContextRequest", 7),
        ("2|7|2|A|p|a|b|c|1|2|x", "ContextUpdateAdvertisement", 7),
        ("2|7|1|A|p|a|b|c|1|2|xy", "ContextUpdateAdvertisement", 7),
        ("2|7|0|A|p|a|b|c|1|2|", "ContextUpdateAdvertisement", 7),
        ("2|7|1|B|p|a|b|c|1|2|x", "ContextUpdateAdvertisement", 7),
        ("2|7|1|A|p|a|b|c|2|2|x", "ContextUpdateAdvertisement", 7),
        ("2|7|1|A|p|a|b|c|-1|2|x", "ContextUpdateAdvertisement", 7),
        ("2|7|1|A|p|a|b|c|1|12345678901234567890|x", "ContextUpdateAdvertisement", 7),
        ("0|7|surplus", "StartNeighborsMonitoring", 7),
        ("0", "StartNeighborsMonitoring", None),
        ("7|7|x", "BrokerLeaving", 7),
        ("8|7", "BrokerJoining", 7),
        ("8|7|*", "BrokerJoining", 7),
        ("8|7|10.0.0.1", "BrokerJoining", 7),
        ("1|7|surplus", "Unknown", 7),
        ("10|7", "Unknown", 7),
        ("90|1|key|10.0.0.3:4003|1|1|tag|1|7", "Unknown", 1),
    ],
)
def test_what_cannot_be_read_is_refused_by_name_where_it_tells_one(text, operation, stamp):
    talk = Talk(B)
    before = talk.stats()["entries"], talk.broker.neighbours
    assert talk.hear(C, text) == [talk.nack(301, operation, talk.wall if stamp is None else stamp)]
    assert (talk.stats()["entries"], talk.broker.neighbours) == before
    assert talk.stats()["rejected_unreadable"] == 1


@pytest.mark.parametrize("code", [4, 5, 6, 9, 19, 21])
def test_a_malformed_answer_is_never_answered(code):
    talk = Talk(B)
    assert talk.hear(B, f"{code}|7|nonsense") == []
    assert talk.hear(B, f"{code}") == []


def test_ten_refusals_a_second_to_one_address():
    talk = Talk()
    assert sum(len(talk.hear(C, "nonsense")) for _ in range(25)) == 10
    assert len(talk.hear(K, "nonsense")) == 1, "another address has its own ten"
    talk.wait(999)
    assert talk.hear(C, "nonsense") == []
    talk.wait(1)
    assert len(talk.hear(C, "nonsense")) == 1
    assert talk.stats()["unanswered_unreadable"] == 16


def test_a_forged_port_zero_is_ignored():
    talk = Talk()
    talk.broker.receive_datagram(b"1|7", ("10.0.0.3", 0), 0)
    assert talk.broker.datagrams_to_send() == []


def test_a_stranger_gets_three_times_its_bytes_and_no_more():
    talk = Talk()
    talk.provide("temperature|room1|inside", payload="x" * 1000)
    request = f"3|{talk.wall}|temperature|room1|inside"
    sent = talk.hear(STRANGER, request)
    assert sent == [talk.ack(101, "ContextRequest", STRANGER)], "the acknowledgement fits, the data does not"
    assert talk.stats()["withheld"] == 1
    assert [event.detail() for event in talk.broker.events()] == [{"limit": "budget"}]
    got = sum(len(text) for _, text in sent)
    for _ in range(5):
        got += sum(len(text) for _, text in talk.hear(STRANGER, "1|7"))
    assert got <= 3 * (len(request) + 5 * 3)


@pytest.mark.parametrize("settings", [{}, {"hop_ack": True}, {"arm": "structured"}, {"search": "lookahead"}], ids=str)
@pytest.mark.parametrize(
    "text",
    [
        "1|{now}",
        "3|{now}|room|r1|temp",
        "3|{now}|room|r1|temp|10.0.0.3|4003",
        "3|{now}|room|r1|temp" + hop(C, D) * 20,
        "3|{now}|room|nowhere|temp|10.0.0.3|4003",
        "16|{now}|1|room|r1|temp|10.0.0.3|4003",
        "16|{now}|3|room|nowhere|temp|10.0.0.3|4003",
        "18|{now}",
        "20|{now}",
        "22|{now}|1|3|{now}|room|r1|temp|10.0.0.3|4003",
        "26|{now}|" + "0" * 40,
        "32|{now}|room|r1|temp",
        "32|{now}|room|r1|temp|10.0.0.3|4003",
        "8|{now}|10.0.0.3:4003|*",
        "nonsense",
    ],
)
def test_no_code_draws_more_than_three_times_its_bytes_for_a_stranger_with_hops_or_without(text, settings):
    talk = Talk(**settings)
    talk.provide(payload="x" * 50_000)
    received = sent = 0
    for _ in range(5):
        asked = text.format(now=talk.wall)
        received += len(asked)
        sent += sum(len(data) for name, data in talk.hear(STRANGER, asked) if name == "STRANGER")
        sent += sum(len(data) for _, name, data in talk.wait(1000) if name == "STRANGER")
        assert sent <= 3 * received


@pytest.mark.parametrize("hops", [(), (C,)], ids=["none", "one"])
def test_a_neighbours_answer_is_passed_back_to_a_stranger_within_its_budget(hops):
    talk = Talk(B)
    asked = f"3|{talk.wall}|room|r1|temp{hop(*hops)}"
    assert talk.hear(STRANGER, asked)[-1] == ("B", asked + hop(STRANGER))
    withheld = talk.stats()["withheld"]
    answer = f"4|1|50000|p|room|r1|temp|1|{talk.wall * 2}|{'x' * 50_000}{hop(*hops, STRANGER)}"
    assert talk.hear(B, answer) == []
    assert talk.stats()["withheld"] == withheld + 1


def test_a_neighbour_outside_the_trusted_networks_is_exempt():
    talk = Talk()
    talk.hear(K, "8|7|203.0.113.7:4007")
    talk.hear(STRANGER, "5|1|ACK|Status:101|Operation BrokerJoining|Requested by 10.0.0.1:4001")
    assert talk.broker.neighbours == (STRANGER,)
    assert len(talk.hear(STRANGER, "20|7")) == 1
    assert [name for name, _ in talk.ask()] == ["C", "STRANGER"]
    assert talk.hear(STRANGER, f"4|1|1|p|room|r1|temp|1|2|x{hop(C)}")[0][0] == "C"


def test_the_ledger_holds_in_every_window_and_forgets():
    ledger = Ledger()
    ledger.receive(C, 100, 50 * MILLISECOND)
    assert ledger.may_send(C, 300, 9 * SECOND)
    assert not ledger.may_send(C, 1, 9 * SECOND)
    ledger.receive(B, 100, 50 * MILLISECOND)
    assert not ledger.may_send(B, 1, 10_060 * MILLISECOND), "what came more than ten seconds ago pays for nothing"
    ledger.receive(C, 100, 10 * SECOND)
    assert not ledger.may_send(C, 1, 18 * SECOND), "300 sent within ten seconds, 100 received"
    ledger.receive(C, 10, 20 * SECOND)
    assert ledger.may_send(C, 30, 20 * SECOND)
    ledger.check_invariants()


def test_full_books_give_new_strangers_nothing_until_the_old_fall_silent():
    ledger, limit = Ledger(most_strangers=1), RateLimit(most_addresses=1)
    ledger.receive(C, 100, 0)
    ledger.receive(B, 100, 1)
    assert not ledger.may_send(B, 1, 1)
    ledger.receive(B, 100, 11 * SECOND)
    assert ledger.may_send(B, 300, 11 * SECOND)
    assert limit.permits(C, 0)
    assert not limit.permits(B, 1)
    assert limit.permits(B, SECOND)


def test_the_ports_of_one_host_do_not_fill_the_book_of_strangers():
    talk = Talk()
    for port in range(1, 6001):
        talk.broker.receive_datagram(b"1|7", ("198.51.100.1", port), talk.now)
    talk.broker.datagrams_to_send()
    assert talk.hear(STRANGER, f"3|{talk.wall}|room|r1|temp|10.0.0.3|4003") != [], "another stranger is heard"


@pytest.mark.parametrize(
    ("networks", "host", "is_trusted"),
    [
        ("127.0.0.0/8", "127.11.3.4", True),
        ("127.0.0.0/8", "128.11.3.4", False),
        ("10.1.2.0/24", "10.1.2.255", True),
        ("10.1.2.0/24", "10.1.3.0", False),
        ("10.1.2.4/30", "10.1.2.7", True),
        ("10.1.2.4/30", "10.1.2.8", False),
        ("10.0.0.0/8,::1/128", "::1", True),
        ("10.0.0.0/8,::1/128", "::2", False),
    ],
)
def test_a_host_is_trusted_where_a_network_has_it(networks: str, host: str, is_trusted: bool) -> None:
    trust = OpenNetwork(BrokerConfig(trusted_networks=networks))
    for _ in range(2):  # what is remembered is the same
        assert trust.trusts((host, 7000)) is is_trusted
