"""The bytes of records: round trips, limits, unknown fields, and bytes that mean nothing."""

from __future__ import annotations

from dataclasses import replace

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.messages.errors import BadMessage
from overlay.systems.contextnet.records import codec, names
from overlay.systems.contextnet.records.codec import BadRecord
from overlay.systems.contextnet.records.maps import MapCoder
from overlay.systems.contextnet.records.records import (
    ConnectionReport,
    Held,
    Inbound,
    Message,
    Outbound,
    Pong,
    Presence,
    Rejected,
)
from overlay.systems.contextnet.records.table import LAYOUTS, MESSAGE_CODER
from tests.contextnet.strategies import MESSAGES, RECORDS
from tests.thorough import examples

NODE = bytes(range(16))
MESSAGE = Message(b"\x01" * 16, NODE.hex(), "inbound", 1_700_000_000_000_000, payload=b"hello")


def packed(**fields):
    return msgpack.packb({"v": 1, **fields})


def message_map(**changed):
    fields = {"id": MESSAGE.id, "source": "a", "destination": "b", "created_at": 1, **changed}
    return {name: value for name, value in fields.items() if value is not None}


# ---- what is written is read


def test_a_message_is_a_map_of_its_fields_and_the_version():
    assert msgpack.unpackb(codec.write(MESSAGE)) == {
        "v": 1,
        "id": b"\x01" * 16,
        "source": "000102030405060708090a0b0c0d0e0f",
        "destination": "inbound",
        "created_at": 1_700_000_000_000_000,
        "ttl_s": 0,
        "payload": b"hello",
        "context": b"",
        "reply_to": "",
    }


@settings(max_examples=examples(400))
@given(st.sampled_from(sorted(RECORDS)).flatmap(lambda topic: st.tuples(st.just(topic), RECORDS[topic])))
def test_every_record_is_read_as_it_was_written(found):
    topic, record = found
    assert codec.read(topic, codec.write(record)) == record


@settings(max_examples=examples(100))
@given(MESSAGES)
def test_a_message_alone_is_read_as_it_was_written(message):
    assert codec.read_message(codec.write(message)) == message


def test_every_topic_but_those_of_nodes_has_its_own_record():
    topics = {topic.name for topic in names.topics(["gateway-0"], ["applications-0"], 3, 1, ["alarms"])}
    described = {layout.topic for layout in LAYOUTS}
    assert described <= topics
    assert topics - described == {"broadcast", "gateway.0", "answers.applications-0", "alarms", "mqtt_down"}
    assert codec.read("alarms", codec.write(Inbound(MESSAGE, "gateway-0", 3))) == Inbound(MESSAGE, "gateway-0", 3)
    for topic in ("gateway.0", "mqtt_down"):
        assert codec.read(topic, codec.write(Outbound(MESSAGE, 3))) == Outbound(MESSAGE, 3)


def test_a_full_part_of_a_report_fits():
    nodes = [number.to_bytes(16, "big") for number in range(4_096)]
    pongs, held = tuple(Pong(node, 65_536) for node in nodes), tuple(Held(node, 65_536) for node in nodes)
    report = ConnectionReport("gateway-0", 7, 1, 1, 2_000, 4_096, pongs, held)
    assert codec.read("connection_report", codec.write(report)) == report


# ---- what is missing or unknown


def test_unknown_fields_are_ignored_and_fields_with_a_default_may_be_missing():
    data = packed(**message_map(colour="red", further=[{"a": 1}]))
    assert codec.read_message(data) == Message(MESSAGE.id, "a", "b", 1)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"id": None}, "Message has no id"),
        ({"id": b"short"}, "Message, id: 5 bytes instead of 16"),
        ({"id": "0123456789abcdef"}, "Message, id: '0123456789abcdef' is no bytes"),
        ({"source": ""}, "Message, source: '' does not have 1 to 64 bytes"),
        ({"created_at": -1}, "Message, created_at: -1 is not in 0 … 2^64 - 1"),
        ({"created_at": True}, "Message, created_at: true is no integer"),
        ({"ttl_s": 604_801}, "Message, ttl_s: 604801 is not in 0 … 604,800"),
        ({"payload": bytes(60_001)}, "Message, payload: 60,001 bytes instead of 0 to 60,000"),
        ({"context": bytes(1_025)}, "Message, context: 1,025 bytes instead of 0 to 1,024"),
    ],
)
def test_a_wrong_field_is_named(changed, said):
    with pytest.raises(BadRecord) as error:
        codec.read_message(packed(**message_map(**changed)))
    assert error.value.sentence.startswith(said)


@pytest.mark.parametrize(
    ("topic", "data", "said"),
    [
        ("inbound", b"", "no MessagePack"),
        ("inbound", b"\xc1", "no MessagePack"),
        ("inbound", packed() + b"\x00", "no MessagePack"),
        ("inbound", bytes(262_145), "262,145 bytes are more than a record can have"),
        ("inbound", msgpack.packb([1]), "[1] is no map"),
        ("inbound", msgpack.packb({"v": 2}), "version 2 of records is not known"),
        ("inbound", msgpack.packb({"v": True}), "version true of records is not known"),
        ("inbound", packed(message=3, gateway="gateway-0", epoch=1), "Inbound, message: 3 is no map"),
        ("inbound", packed(message={}, gateway="g", epoch=1), "Inbound, message: Message has no id"),
        ("presence", packed(node=NODE, gateway="g", epoch=1 << 32, connected=True), "Presence, epoch: 4294967296 is"),
        ("presence", packed(node=NODE, gateway="g", epoch=1, connected=1), "Presence, connected: 1 is neither"),
        ("unsent", packed(message=message_map(), gateway="g", epoch=1, reason="tired"), "Unsent, reason: 'tired' is"),
    ],
)
def test_what_is_no_record_is_refused_with_a_sentence(topic, data, said):
    with pytest.raises(BadRecord) as error:
        codec.read(topic, data)
    assert error.value.sentence.startswith(said)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"nodes": [[NODE, 1]] * 4_097}, "nodes: an array has 4097 elements instead of 0 to 4096"),
        ({"nodes": [[NODE]]}, "nodes: an array has 1 elements instead of 2"),
        ({"nodes": [[NODE, 1], [b"", 1]]}, "nodes: 0 bytes instead of 16"),
        ({"nodes": [[NODE, 1 << 32]]}, "nodes: 4294967296 is not in 0 … 4,294,967,295"),
        ({"pongs": [[NODE, 1.5]]}, "pongs: 1.5 is no integer"),
        ({"part": 2, "parts": 2}, "part 2 of 2"),
    ],
)
def test_a_wrong_report_is_refused_with_a_sentence(changed, said):
    report = {"gateway": "g", "seq": 1, "at": 1, "ping_sent_at": 1, "window_ms": 2_000, "pinged": 1}
    with pytest.raises(BadRecord) as error:
        codec.read("connection_report", packed(**report | {"pongs": [], "nodes": []} | changed))
    assert said in error.value.sentence


# ---- bytes that mean nothing


def anything():
    leaves = st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 64) - 1) | st.floats() | st.binary() | st.text()
    return st.recursive(
        leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.binary(), inner), max_leaves=8
    )


@settings(max_examples=examples(400))
@given(st.sampled_from(sorted(RECORDS)), st.binary(max_size=80) | anything().map(msgpack.packb))
def test_any_bytes_give_a_record_or_the_one_error(topic, data):
    try:
        record = codec.read(topic, data)
    except BadRecord:
        return
    assert codec.read(topic, codec.write(record)) == record


@settings(max_examples=examples(400))
@given(st.data())
def test_a_field_that_is_replaced_by_anything_gives_a_record_or_the_one_error(data):
    topic = data.draw(st.sampled_from(sorted(RECORDS)))
    fields = msgpack.unpackb(codec.write(data.draw(RECORDS[topic])))
    fields[data.draw(st.sampled_from(sorted(fields)))] = data.draw(anything())
    try:
        record = codec.read(topic, msgpack.packb(fields))
    except BadRecord:
        return
    assert codec.read(topic, codec.write(record)) == record


@settings(max_examples=examples(400))
@given(MESSAGES, st.data())
def test_the_fast_way_to_read_a_message_gives_what_the_table_gives(message, data):
    table = MapCoder(MESSAGE_CODER.layout)
    fields = table.write(message)
    if data.draw(st.booleans()):
        fields[data.draw(st.sampled_from(sorted(fields)))] = data.draw(anything())
    found = [outcome(coder.read, fields) for coder in (table, MESSAGE_CODER)]
    assert found[0] == found[1]
    if isinstance(found[0], Message):
        assert MESSAGE_CODER.write(found[0]) == table.write(found[0])


def outcome(read, fields):
    try:
        return read(fields)
    except BadMessage as error:
        return str(error)


# ---- what may not be written


def test_what_could_not_be_read_is_not_written():
    with pytest.raises(BadRecord, match="payload: 60,001 bytes"):
        codec.write(replace(MESSAGE, payload=bytes(60_001)))
    with pytest.raises(BadRecord, match="Message, source"):
        codec.write(Inbound(replace(MESSAGE, source="x" * 65), "gateway-0", 1))
    with pytest.raises(BadRecord, match="Presence, node"):
        codec.write(Presence(b"short", "gateway-0", 1, connected=True))
    with pytest.raises(BadRecord, match="surrogate"):
        codec.write(replace(MESSAGE, destination="\ud800"))


def test_a_record_that_cannot_be_read_is_told_with_its_first_bytes():
    data = b"\xc1" * 70_000
    with pytest.raises(BadRecord) as error:
        codec.read("inbound", data)
    told = codec.rejected("inbound", "applications-0", error.value, data)
    assert told == Rejected("inbound", "applications-0", error.value.sentence, data[:65_536])
    assert codec.read("rejected", codec.write(told)) == told
