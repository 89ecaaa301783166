"""What one node, one host and all strangers together may cost a gateway (contract, section 13)."""

from __future__ import annotations

import pytest

from overlay.core.errors import InvalidSetting
from overlay.core.node import MILLISECOND
from overlay.runtime import datagrams
from overlay.sim import served
from overlay.systems.contextnet.gateway.inbound import BATCH
from overlay.systems.contextnet.gateway.revocation import PERIOD
from overlay.systems.contextnet.gateway.settings import GatewaySettings
from overlay.systems.contextnet.records.records import GatewayList, GroupReport, Ranked
from overlay.systems.contextnet.transport import layouts, secrets
from overlay.systems.contextnet.transport.connection import Connection
from overlay.systems.contextnet.transport.events import Ended, Ending, Refused
from overlay.systems.contextnet.transport.layouts import Hello, Refusal, Type
from overlay.systems.contextnet.transport.packets import Kind
from overlay.systems.contextnet.transport.secrets import NO_SECRET
from overlay.systems.contextnet.transport.settings import HANDSHAKES_PER_S
from tests.contextnet.site import GATEWAY, Site

PUBLIC, PRIVATE = "203.0.113.9", "10.0.0.9"
OTHER = "127.0.0.1", 4_001


def hello(site, host, number=0, cookie=b"", secret=NO_SECRET):
    """From a node of its own; returns the types of what came back."""
    nonce = number.to_bytes(16, "big")
    data = layouts.write_hello(Hello(nonce, 1, nonce, cookie=cookie))
    data += secrets.proof(secret, b"hello", data)
    site.gateway.receive_datagrams([(data, (host, 1))], site.now)
    return [layouts.type_of(data) for data, _ in site.gateway.datagrams_to_send()]


@pytest.mark.parametrize(("host", "answered"), [(PUBLIC, 5), ("127.0.0.1", 9)])
def test_a_host_gets_answers_to_so_many_hellos_a_second_unless_it_is_trusted(host, answered):
    site = Site(nodes=0, hello_per_ip=5)
    found = [hello(site, host, number) for number in range(9)]
    assert found.count([Type.RETRY]) == answered
    assert site.gateway.statistics(site.now).get("transport_hello_rate", 0) == 9 - answered
    assert hello(site, "203.0.113.10") == [Type.RETRY], "another host has its own"
    site.run(1_000)
    assert hello(site, host, 10) == [Type.RETRY]


@pytest.mark.parametrize(("host", "open"), [(PUBLIC, 2), ("127.0.0.1", 3)])
def test_a_host_has_so_many_connections_unless_it_is_trusted(host, open):
    site = Site(3, host, is_connected=False, connections_per_ip=2)
    for phone in site.phones:
        phone.connect()
    site.run(300)
    assert sum(phone.end.is_open for phone in site.phones) == open
    assert {event.code for phone in site.phones for event in phone.heard(Refused)} <= {Refusal.FULL}
    site.phones[0].end.close(site.now)
    site.drain(site.phones[0])
    site.run(60_000)
    assert sum(phone.end.is_open for phone in site.phones) == 2, "there is room again"


def test_only_so_many_proofs_are_checked_a_second():
    site = Site(nodes=0)
    asked = []
    site.gateway.end.gate.secret_of = asked.append
    cookies = secrets.Cookies(b"g" * 32)
    for number in range(HANDSHAKES_PER_S + 100):
        name = number.to_bytes(16, "big")
        hello(site, "127.0.0.1", number, cookies.now(("127.0.0.1", 1), name, name, site.now))
    assert len(asked) == HANDSHAKES_PER_S


def test_without_secrets_only_private_addresses_may_connect():
    site = Site(nodes=0, auth="none")
    cookies = secrets.Cookies(b"g" * 32)

    def connect(host):
        return hello(site, host, 1, cookies.now((host, 1), (1).to_bytes(16, "big"), (1).to_bytes(16, "big"), site.now))

    assert connect(PRIVATE) == [Type.ACCEPT]
    assert connect("8.8.8.8") == [Type.REFUSE]


def test_a_node_that_sends_too_much_is_held_back_and_closed_if_it_goes_on(monkeypatch):
    site = Site(queue_per_connection=10_000)
    (phone,) = site.phones
    for _ in range(4_000):
        phone.send()
    site.run(3_000)
    assert phone.end.is_open, "it obeys"
    assert 500 <= len(site.records("inbound")) < 2_000
    monkeypatch.setattr(Connection, "_note_busy", lambda connection, flags: None)
    site.run(20_000)
    assert Ending.PROTOCOL in [event.reason for event in phone.heard(Ended)]
    assert site.gateway.end.counters["rate of a node"] == 1


def test_a_node_is_in_at_most_64_groups_of_a_definer():
    site = Site()
    groups = tuple(map(str, range(65)))
    data = b"\x85\xa1v\x01" + _map(definer="d", node=site.phones[0].id, groups=groups, version=1)
    site.feed("group_advertisement", data)
    assert site.gateway.groups.of(site.phones[0].id) == set()
    assert [found.topic for found in site.records("rejected")] == ["group_advertisement"]
    site.feed("group_advertisement", GroupReport("d", site.phones[0].id, groups[:64], 1))
    assert len(site.gateway.groups.of(site.phones[0].id)) == 64


def _map(**fields):
    """The entries of a MessagePack map."""
    import msgpack

    return b"".join(msgpack.packb(name) + msgpack.packb(value) for name, value in fields.items())


def test_a_message_has_at_most_64_parts():
    site = Site()
    with pytest.raises(ValueError, match="1 to 73,408 bytes"):
        site.phones[0].end.send(Kind.MESSAGE, bytes(73_409), 1, site.now)


def test_a_node_with_a_revoked_secret_is_closed_its_messages_are_stored_and_it_cannot_return():
    site = Site(2)
    revoked, other = site.phones
    revoked.is_on = False
    site.give(revoked)
    site.secrets[revoked.id] = site.secrets[revoked.id]._replace(is_revoked=True)
    site.run(100)
    revoked.is_on = True
    site.run(PERIOD / 10**6 + 100)
    assert Ending.PROTOCOL in [event.reason for event in revoked.heard(Ended)]
    assert [(key, found.reason) for key, found in site.log["unsent"]] in ([], [(revoked.id, "revoked")])
    assert [event.code for event in revoked.heard(Refused)] == [Refusal.SECRET]
    site.run(60_000)
    assert (revoked.end.is_open, other.end.is_open) == (False, True)


def test_a_refused_node_tries_the_alternatives_that_it_was_told():
    site = Site(2, is_connected=False, max_connections=1)
    site.feed("gw_list", GatewayList(1, (Ranked("gateway-1", OTHER, 2.0), Ranked("gateway-0", GATEWAY, 1.0))))
    first, second = site.phones
    first.connect()
    site.run(100)
    second.connect()
    site.run(20)
    assert [event.code for event in second.heard(Refused)] == [Refusal.FULL]
    assert any(to == OTHER for _, _, _, source, to in site.sent if source == second.address)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"allowed_topics": "alarms, presence"}, "allowed_topics: presence is a topic of the system"),
        ({"allowed_topics": "mqtt_down"}, "allowed_topics: mqtt_down is a topic of the system"),
        ({"allowed_topics": "gateway.1"}, "allowed_topics: gateway.1 is no name of 1 to 64 letters, digits, - and _"),
        ({"trusted": "10.0.0.0/33"}, "trusted: '10.0.0.0/33' does not appear to be an IPv4 or IPv6 network"),
        ({"delivery": "twice"}, "delivery: must be one of exact, mini_buffer, none, not 'twice'"),
        ({"pool_size": 0}, "pool_size: must be at least 1 records, not 0"),
        ({"tag_bytes": 9}, "tag_bytes: a tag has 8 or 16 bytes, not 9"),
    ],
)
def test_what_is_wrong_with_a_setting_is_said(values, sentence):
    with pytest.raises(InvalidSetting, match="^" + sentence.replace("(", "\\(")):
        GatewaySettings(**values)


def flooded(site, ms):
    """Full batches of what no connection sent, one each millisecond."""
    for _ in range(ms):
        site.gateway.receive_datagrams([(b"\x15" + bytes(40), OTHER)] * BATCH, site.now)
        site.gateway.datagrams_to_send()
        site.now += MILLISECOND


def test_full_batches_with_a_pause_between_them_are_no_queue():
    site = Site(busy_ms=100, pool_size=1)
    flooded(site, 1)
    site.run(1_000)
    site.gateway.handle_timer(site.now)
    assert site.room() == 1
    assert not site.gateway.end.is_busy
    flooded(site, 50)
    assert not site.gateway.end.is_busy
    assert "shed" not in site.gateway.counters


def test_a_gateway_is_busy_while_datagrams_wait_and_drops_data_unread_once_they_waited_too_long():
    site = Site(busy_ms=100, pool_size=1)
    (phone,) = site.phones
    flooded(site, 50)
    assert not site.gateway.end.is_busy
    assert site.room() == BATCH, "acknowledgements wait, too, so a full pool says nothing"
    flooded(site, 100)
    assert site.gateway.end.is_busy
    assert "shed" not in site.gateway.counters
    flooded(site, 200)
    shed = site.gateway.counters["shed"]
    assert shed, "what has waited for 300 ms comes again anyway"
    phone.send()
    data = [(one, phone.address) for one, _ in phone.end.datagrams_to_send()]
    site.gateway.receive_datagrams(data, site.now)
    assert site.gateway.counters["shed"] == shed, "a batch that is not full says that nothing waits"
    assert site.room() == 1
    site.run(500)
    assert site.gateway.end.is_busy, "what was dropped comes again"
    site.run(2_000)
    phone.send()
    site.run(100)
    assert not site.gateway.end.is_busy
    assert phone.acknowledged == 2


def test_acknowledgements_are_read_also_while_data_is_dropped():
    site = Site(busy_ms=100)
    (phone,) = site.phones
    site.give(phone)
    site.run(1)
    site.flying.clear()
    flooded(site, 400)
    phone.end.handle_timer(site.now)
    (ack,) = [data for data, _ in phone.end.datagrams_to_send()]
    assert layouts.type_of(ack) is Type.ACK
    assert site.gateway.waiting_ids()
    others = [(b"\x15" + bytes(40), OTHER)] * (BATCH - 1)
    site.gateway.receive_datagrams([*others, (ack, phone.address)], site.now)
    assert not site.gateway.waiting_ids()


def test_a_full_batch_is_one_of_the_drivers():
    assert datagrams.BATCH == served.BATCH == BATCH
