"""What a gateway does with messages of nodes."""

from __future__ import annotations

import pytest

from overlay.systems.contextnet.records.records import ContextReport, Groupcast, Inbound
from overlay.systems.contextnet.transport.packets import Kind
from tests.contextnet.site import Site


def test_a_message_of_a_node_is_appended_and_acknowledged_when_it_is_durable():
    site = Site()
    (phone,) = site.phones
    site.is_durable = False
    message = phone.send(payload=b"21.5", reply_to=phone.id.hex())
    site.run(1_000)
    assert site.log["inbound"] == [(phone.id, Inbound(message, "gateway-0", 1))]
    assert phone.acknowledged == 0
    site.make_durable()
    site.run(100)
    assert phone.acknowledged == 1


@pytest.mark.parametrize("delivery", ["mini_buffer", "none"])
def test_in_the_other_modes_it_is_acknowledged_when_it_arrives(delivery):
    site = Site(delivery=delivery)
    site.is_durable = False
    site.phones[0].send()
    site.run(100)
    assert site.phones[0].acknowledged == 1


def test_the_context_of_each_message_is_reported():
    site = Site()
    (phone,) = site.phones
    phone.send(context=b"\x81\xa1x\x01")
    phone.raw(b"\x81\xa1x\x02", Kind.CONTEXT)
    site.run(100)
    assert [(found.epoch, found.context) for found in site.records("context_report")] == [
        (1, b"\x81\xa1x\x01"),
        (1, b"\x81\xa1x\x02"),
    ]
    assert isinstance(site.records("context_report")[0], ContextReport)
    assert (len(site.records("inbound")), phone.acknowledged) == (1, 2)


def test_a_context_that_stays_the_same_is_reported_again_after_ten_minutes_and_on_a_new_connection():
    site = Site(idle_s=3_600)
    (phone,) = site.phones
    for context in (b"\x81\xa1x\x01", b"\x81\xa1x\x01", b"\x81\xa1x\x02", b"\x81\xa1x\x01"):
        phone.send(context=context)
        site.run(100)
    assert [found.context[-1] for found in site.records("context_report")] == [1, 2, 1]
    site.run(600_000)
    phone.send(context=b"\x81\xa1x\x01")
    site.run(100)
    assert len(site.records("context_report")) == 4
    phone.end.close(site.now)
    site.drain(phone)
    phone.connect()
    site.run(1_000)
    phone.send(context=b"\x81\xa1x\x01")
    site.run(100)
    assert len(site.records("context_report")) == 5


def test_nodes_may_write_to_allowed_topics_groups_and_everybody_and_to_nothing_else():
    site = Site(allowed_topics="alarms, weather", config={"answers": frozenset({"answers.shop"})})
    (phone,) = site.phones
    for to in ("alarms", "answers.shop", "*", "by_field/north", "north"):
        phone.send(to)
    for to in ("presence", "handover", "unsent", "gateway.1", "answers.bank", "mqtt.a", "mqtt_down"):
        phone.send(to)
    site.run(1_000)
    assert [len(site.records(topic)) for topic in ("alarms", "answers.shop", "broadcast", "groupcast")] == [1, 1, 1, 2]
    assert [(key, found.group) for key, found in site.log["groupcast"]] == [
        (b"by_field/north", "by_field/north"),
        (b"north", "north"),
    ]
    assert isinstance(site.records("broadcast")[0], Groupcast)
    assert site.gateway.counters["dropped_destination"] == 7
    assert phone.acknowledged == 12, "what is dropped is acknowledged, too: it would be the same again"


def test_what_cannot_be_read_or_names_another_source_is_dropped_and_counted():
    site = Site(2)
    phone, other = site.phones
    phone.raw(b"\xc1")
    phone.raw(b"\x80")
    phone.raw(bytes(1_025), Kind.CONTEXT)
    phone.id, mine = other.id, phone.id
    phone.send()
    phone.id = mine
    site.run(1_000)
    counters = site.gateway.counters
    assert (counters["dropped_unreadable"], counters["dropped_context"], counters["dropped_source"]) == (2, 1, 1)
    assert (phone.acknowledged, site.records("inbound")) == (4, [])


def test_a_gateway_whose_log_is_slow_says_that_it_is_busy_until_it_has_caught_up():
    site = Site(busy_ms=100)
    (phone,) = site.phones
    site.is_durable = False
    phone.send()
    site.run(150)
    phone.send()
    site.run(150)
    assert site.gateway.end.is_busy
    for _ in range(10):
        phone.send()
    site.run(50)
    assert len(site.records("inbound")) == 2, "the node starts nothing new"
    site.is_durable = True
    site.make_durable()
    site.run(10_000)
    assert (len(site.records("inbound")), phone.acknowledged) == (12, 12)
    assert not site.gateway.end.is_busy
