"""The messages: exact arrays, total parsing, encoding as its inverse, and every limit."""

from __future__ import annotations

from dataclasses import fields, replace

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.hashes import blake2b
from overlay.messages.errors import BadMessage, Reason
from overlay.systems.federation.language.tree import And, Not, Predicate
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire import values as v
from overlay.systems.federation.wire.codec import CODEC, _read_usual, encode, notifications_of, parse
from overlay.systems.federation.wire.notes import encoded
from overlay.systems.federation.wire.sums import RunningSum, sum_of
from tests.federation.drawn import MESSAGES, NOTES, SUBS, U, messages
from tests.thorough import examples

SID = v.SubscriptionId("c3", 17)
HOT = And((Predicate("entity.id", "=", ("r17",)), Not(Predicate("temperature", "<=", (25, 26.5)[:1]))))
SUB = v.Subscription(SID, ("climate",), 2_000, HOT, v.Priority.LOW, once=True)
SUB_ARRAY = [
    ["c3", 17],
    ["climate"],
    ["and", ["entity.id", "=", "r17"], ["not", ["temperature", "<=", 25]]],
    2_000,
    0,
    True,
]
NOTE = v.Notification(v.NotificationId("p7", 1), "room", "r17", "climate", 1_000, 2_000, {"v": [1, {"x": True}]})
NOTE_ARRAY = [["p7", 1], "room", "r17", "climate", 1_000, 2_000, {"v": [1, {"x": True}]}]
ADV = v.Advertisement("p7", 5, v.Role.PROVIDER, "", ("climate",), {"climate": ("location",)})
ADV_ARRAY = ["p7", 5, 1, "", ["climate"], {"climate": ["location"]}]
ENTRY, ENTRY_ARRAY = v.Entry(ADV, "127.0.0.1:7000", "b0", 3), [ADV_ARRAY, "127.0.0.1:7000", "b0", 3]
BADV = v.BrokerAdvertisement("b0", "[::1]:1", True, (1.5, 2.0), "north", (v.Candidate("b1", 1_000, True),))
BADV_ARRAY = ["b0", "[::1]:1", True, [1.5, 2.0], "north", [["b1", 1_000, True]]]
STRANGER, STRANGER_ARRAY = v.BrokerAdvertisement("b0", "[::1]:1"), ["b0", "[::1]:1", False, None, "", []]
SUM = v.Summary(1, 2)
ARRAYS = [
    (m.Register(9, ADV), [1, 9, ADV_ARRAY]),
    (m.KeepAlive(5), [2, 5]),
    (m.Unregister(9, 5), [3, 9, 5]),
    (m.Subscribe(9, (SUB,), (SID,)), [4, 9, [SUB_ARRAY], [["c3", 17]]]),
    (m.Publish(9, (v.Publication(NOTE, (SID,)),)), [5, 9, [[NOTE_ARRAY, [["c3", 17]]]]]),
    (m.Notify(NOTE, (SID,), True, 2), [6, NOTE_ARRAY, [["c3", 17]], True, 2]),
    (m.Offer((SUB,), (SID,)), [7, [SUB_ARRAY], [["c3", 17]]]),
    (m.Lookup(9, "climate"), [8, 9, "climate"]),
    (m.Found(9, (v.Found("p7", "127.0.0.1:7", "http://x"),)), [9, 9, [["p7", "127.0.0.1:7", "http://x"]]]),
    (m.Query(9, None, "r17", ("climate",), 500), [10, 9, None, "r17", ["climate"], 500]),
    (m.Answer(9, m.Code.NO_PROVIDER, (NOTE,)), [11, 9, 5, [NOTE_ARRAY]]),
    (m.Hello(BADV, 4, SUM, SUM), [12, BADV_ARRAY, 4, [1, 2], [1, 2]]),
    (m.SubTable(3, m.Whole.PART, (SUB,), (SID,)), [13, 3, 2, [SUB_ARRAY], [["c3", 17]]]),
    (m.RegTable(3, m.Whole.LAST, (ENTRY,), ("c3",), SUM), [14, 3, 1, [ENTRY_ARRAY], ["c3"], [1, 2]]),
    (m.Forward(NOTE, 2, ("b0",), (SID,)), [15, NOTE_ARRAY, 2, ["b0"], [["c3", 17]]]),
    (m.Tables(m.Table.REGISTRATIONS), [16, 2]),
    (m.Broker(9, BADV, 4, True), [17, 9, BADV_ARRAY, 4, True]),
    (m.Brokers(4, m.Whole.LAST, (BADV,), ("b2",), (("b0", "b1"),)), [18, 4, 1, [BADV_ARRAY], ["b2"], [["b0", "b1"]]]),
    (m.Find(9, (0.5, 1.0), ""), [19, 9, [0.5, 1.0], ""]),
    (m.Discover(7), [20, 7, bytes(400)]),
    (m.Here(7, STRANGER), [21, 7, STRANGER_ARRAY]),
    (m.Ack(9), [22, 9]),
    (m.Nack(4, 9, m.Code.LIMIT, "too many"), [23, 4, 9, 4, "too many"]),
    (m.Link(True), [24, True]),
]


@pytest.mark.parametrize(("message", "array"), ARRAYS, ids=lambda value: type(value).__name__)
def test_each_message_is_this_array(message, array):
    assert encode(message) == msgpack.packb(array)
    assert parse(msgpack.packb(array)) == message


def test_the_table_has_the_24_kinds_and_their_fields_are_the_messages_attributes():
    assert [layout.code for layout in CODEC.layouts] == list(range(1, 25))
    for layout in CODEC.layouts:
        assert [field.name for field in layout.fields if field.name] == [one.name for one in fields(layout.message)]
        assert all(field.meaning.endswith(".") for field in layout.fields)
    assert {layout.message for layout in CODEC.layouts} == set(MESSAGES) == {type(one) for one, _ in ARRAYS}


@settings(max_examples=examples(400))
@given(messages)
def test_what_is_written_is_read(message):
    data = encode(message)
    read = parse(data)
    assert read == message
    assert type(read) is type(message)
    assert encode(read) == data


KIND = st.integers(0, 26)
HOSTILE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=5)
    | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=examples(600))
@given(
    st.binary(max_size=60)
    | st.tuples(KIND, st.binary(max_size=60)).map(lambda pair: b"\x95%c" % pair[0] + pair[1])
    | st.tuples(KIND, st.lists(HOSTILE, max_size=5)).map(lambda pair: msgpack.packb([pair[0], *pair[1]]))
)
def test_any_bytes_give_a_message_or_the_one_error(data):
    try:
        message = parse(data)
    except BadMessage as error:
        assert isinstance(error.reason, Reason)
        assert 0 <= error.kind <= 24
        return
    assert parse(encode(message)) == message


@settings(max_examples=examples(400))
@given(messages, st.data())
def test_a_message_with_a_changed_byte_is_read_or_refused(message, data):
    changed = bytearray(encode(message))
    changed[data.draw(st.integers(0, len(changed) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        assert parse(encode(parse(bytes(changed)))) is not None
    except BadMessage as error:
        assert str(error)


def with_field(place, value, array):
    """``array`` with another value at a place, which leads into arrays."""
    array = list(array)
    array[place[0]] = value if len(place) == 1 else with_field(place[1:], value, array[place[0]])
    return array


SUBSCRIBE, PUBLISH = [4, 9, [SUB_ARRAY], []], [5, 9, [[NOTE_ARRAY, []]]]
REGISTER, HELLO = [1, 9, ADV_ARRAY], [12, BADV_ARRAY, 4, [1, 2], [1, 2]]
DEEP = {"a": {"a": {"a": {"a": {"a": 1}}}}}
REFUSED = [
    (b"", Reason.ENCODING, "no MessagePack"),
    (b"<contextML/>", Reason.ENCODING, "extra data"),
    (b"\x92\x02\x05\x05", Reason.ENCODING, "extra data"),
    (b"\x92\x02", Reason.ENCODING, "incomplete"),
    (b"\x93\x08\x01\xa1\xff", Reason.ENCODING, "utf-8"),
    (b"\xc1", Reason.ENCODING, "no MessagePack"),
    (b"\x91" * 2_000, Reason.ENCODING, "no MessagePack"),
    (b"\x92\x02\xc7\x05\xff\0\0\0\0\0", Reason.ENCODING, "no MessagePack"),  # a broken timestamp
    (bytes(70_000), Reason.SIZE, "70,000 bytes"),
    (5, Reason.KIND, "begins with its kind"),
    ([], Reason.KIND, "begins with its kind"),
    ([25], Reason.KIND, "25 is not the kind"),
    ([True, 5], Reason.KIND, "true is not the kind"),
    ([2], Reason.COUNT, "KEEPALIVE, its fields: an array has 0 elements instead of 1"),
    ([2, 5, 5], Reason.COUNT, "2 elements instead of 1"),
    ([2, -1], Reason.RANGE, "-1 is not in 0"),
    ([2, True], Reason.TYPE, "true is no integer"),
    ([2, 1.0], Reason.TYPE, "1.0 is no integer"),
    ([8, 9, ""], Reason.RANGE, "LOOKUP, scope: '' does not have 1 to 64 bytes"),
    ([8, 9, "é" * 33], Reason.RANGE, "1 to 64 bytes"),
    ([8, 9, b"climate"], Reason.TYPE, "is no text"),
    ([24, 1], Reason.TYPE, "1 is neither true nor false"),
    ([16, 3], Reason.RANGE, "3 is none of 1 subscriptions, 2 registrations"),
    (with_field([2, 0, 1], [], SUBSCRIBE), Reason.COUNT, "0 elements instead of 1 to 16"),
    (with_field([2, 0, 1], ["s"] * 17, SUBSCRIBE), Reason.COUNT, "17 elements instead of 1 to 16"),
    (with_field([2, 0, 4], 3, SUBSCRIBE), Reason.RANGE, "3 is none of 0 low, 1 normal, 2 high"),
    (with_field([2, 0, 2], ["a", "==", 1], SUBSCRIBE), Reason.EXPRESSION, "SUBSCRIBE, added: .* none of the operators"),
    (with_field([2, 0, 2], ["and", *[["or"]] * 65], SUBSCRIBE), Reason.LIMIT, "more than 64 predicates"),
    (with_field([2, 0, 0], ["c3", 1, 1], SUBSCRIBE), Reason.COUNT, "3 elements instead of 2"),
    ([4, 9, [], [["c3", n] for n in range(1_001)]], Reason.LIMIT, "1,001 removals are more than 1,000"),
    ([4, 9, {}, []], Reason.TYPE, "is no array"),
    (with_field([2, 0, 0, 6], [], PUBLISH), Reason.TYPE, "is no structure"),
    (with_field([2, 0, 0, 6], {"": 1}, PUBLISH), Reason.RANGE, "1 to 64 bytes"),
    (with_field([2, 0, 0, 6], {"a": None}, PUBLISH), Reason.TYPE, "null is no value"),
    (with_field([2, 0, 0, 6], {"a": b"x"}, PUBLISH), Reason.TYPE, "is no value"),
    (with_field([2, 0, 0, 6], {"a": float("nan")}, PUBLISH), Reason.RANGE, "nan is not finite"),
    (with_field([2, 0, 0, 6], {"a": [float("inf")]}, PUBLISH), Reason.RANGE, "inf is not finite"),
    (with_field([2, 0, 0, 6], {"a": "x" * 1_025}, PUBLISH), Reason.RANGE, "more than 1,024 bytes"),
    (with_field([2, 0, 0, 6], {"a": ["é" * 513]}, PUBLISH), Reason.RANGE, "more than 1,024 bytes"),
    (with_field([2, 0, 0, 6], DEEP, PUBLISH), Reason.RANGE, "nested more than 4 deep"),
    (with_field([2, 0, 0, 6], {"a": [[[[1]]]]}, PUBLISH), Reason.RANGE, "nested more than 4 deep"),
    (with_field([2, 0, 0, 6], {"a": {"": 1}}, PUBLISH), Reason.RANGE, "1 to 64 bytes"),
    (with_field([2, 0, 0, 6], {"a": [1] * 256}, PUBLISH), Reason.RANGE, "more than 256 values"),
    (with_field([2, 0, 0, 6], {str(i): 1 for i in range(257)}, PUBLISH), Reason.RANGE, "more than 256 values"),
    (with_field([2, 0, 0, 6], {str(i): "x" * 1_000 for i in range(61)}, PUBLISH), Reason.RANGE, "more than 60,000"),
    ([15, with_field([6], {str(i): "x" * 1_000 for i in range(61)}, NOTE_ARRAY), 0, [], []], Reason.RANGE, "60,000"),
    ([15, NOTE_ARRAY, 0, ["b"] * 33, []], Reason.COUNT, "33 elements instead of 0 to 32"),
    (with_field([2, 3], "x" * 513, REGISTER), Reason.RANGE, "0 to 512 bytes"),
    (with_field([2, 4], ["s"] * 65, REGISTER), Reason.COUNT, "65 elements"),
    (with_field([2, 5], [], REGISTER), Reason.TYPE, "is no structure of scopes"),
    (with_field([2, 5], {str(i): [] for i in range(65)}, REGISTER), Reason.COUNT, "65 scopes"),
    (with_field([1, 1], "localhost:80", HELLO), Reason.RANGE, "not a numeric address"),
    (with_field([1, 1], "127.0.0.1", HELLO), Reason.RANGE, "not host:port"),
    (with_field([1, 3], [1.5], HELLO), Reason.COUNT, "1 elements instead of 2"),
    (with_field([1, 3], ["x", 1], HELLO), Reason.TYPE, "'x' is no number"),
    (with_field([1, 3], [float("nan"), 1], HELLO), Reason.RANGE, "nan is not finite"),
    ([20, 7, bytes(399)], Reason.RANGE, "DISCOVER, padding: .* 400 bytes of 0"),
    ([20, 7, b"\1" * 400], Reason.RANGE, "400 bytes of 0"),
    ([21, 7, BADV_ARRAY], Reason.COUNT, "not told to strangers"),
    ([23, 4, 9, 9, ""], Reason.RANGE, "9 is none of 0 good"),
    ([23, 4, 9, 3, "x" * 201], Reason.RANGE, "0 to 200 bytes"),
]


@pytest.mark.parametrize(("array", "reason", "sentence"), REFUSED)
def test_what_is_wrong_is_named_and_counted_by_a_reason(array, reason, sentence):
    data = array if isinstance(array, bytes) else msgpack.packb(array)
    with pytest.raises(BadMessage, match=sentence) as refused:
        parse(data)
    assert refused.value.reason is reason


def test_every_reason_is_tried():
    assert {reason for _, reason, _ in REFUSED} == set(Reason)


def test_limits_are_inclusive():
    for array in [
        with_field([2, 0, 0, 6], {"a": {"a": {"a": {"a": 1}}}, "b": [[[[]]]]}, PUBLISH),
        with_field([2, 0, 0, 6], {"a": [1] * 255}, PUBLISH),
        with_field([2, 0, 0, 6], {"é" * 32: "é" * 512, "n": -(2**63), "m": 2**64 - 1}, PUBLISH),
        with_field([2, 0, 0, 6], {str(i): "x" * 1_000 for i in range(58)}, PUBLISH),
        with_field([1, 3], [1, 2], HELLO),
        [4, 9, [], [["c3", n] for n in range(1_000)]],
        [15, NOTE_ARRAY, 0, ["b"] * 32, []],
        [10, 9, "room", None, ["s"] * 64, 0],
    ]:
        assert encode(parse(msgpack.packb(array))) is not None


@pytest.mark.parametrize(
    ("data", "kind", "req"),
    [
        (msgpack.packb([4, 9, None, []]), 4, 9),
        (msgpack.packb([4, 9]), 4, 9),
        (msgpack.packb([4, -9, [], []]), 4, 0),
        (msgpack.packb([4, "9", [], []]), 4, 0),
        (msgpack.packb([4]), 4, 0),
        (msgpack.packb([2, None]), 2, 0),
        (msgpack.packb([24, None]), 24, 0),
        (msgpack.packb(with_field([2, 0, 0, 6], {str(i): "x" * 1_000 for i in range(61)}, PUBLISH)), 5, 9),
        (b"\xc1", 0, 0),
    ],
)
def test_an_error_names_the_message_and_its_request_so_that_it_can_be_answered(data, kind, req):
    with pytest.raises(BadMessage) as refused:
        parse(data)
    assert (refused.value.kind, refused.value.req) == (kind, req)


def test_nothing_is_written_that_could_not_be_read():
    for message in [
        m.KeepAlive(-1),
        m.Lookup(1, ""),
        m.Lookup(1, "\ud800"),
        m.Subscribe(1, (replace(SUB, scopes=()),)),
        m.Subscribe(1, (replace(SUB, expression=Predicate("a", "?")),)),
        m.Forward(replace(NOTE, data={"a": float("nan")})),
        m.Forward(replace(NOTE, data={"a": 2**64})),
        m.Notify(NOTE, (SID,), 1, 0),
        m.Found(1, (v.Found("p7", "", ""),)),
        m.SubTable(1, m.Whole.LAST, tuple(replace(SUB, id=v.SubscriptionId("c" * 60, n)) for n in range(1_000))),
        m.Forward(replace(NOTE, data={str(i): "x" * 1_000 for i in range(61)})),
    ]:
        with pytest.raises(BadMessage) as refused:
            encode(message)
        assert refused.value.kind == next(one.code for one in CODEC.layouts if one.message is type(message))


def test_a_notification_is_written_once_and_a_changed_copy_again():
    note = parse(encode(m.Forward(NOTE))).notification
    assert note.encoded == b""
    assert encode(m.Notify(note, ())) != encode(m.Forward(note))
    kept = note.encoded
    assert kept == msgpack.packb(NOTE_ARRAY)
    assert encoded(note) is kept
    assert encoded(replace(note, expires=9)) != kept


def test_bytes_that_are_longer_than_needed_are_read_and_written_shortest():
    long = b"\x95\x0f" + msgpack.packb(NOTE_ARRAY) + b"\xcf\0\0\0\0\0\0\0\2" + b"\xdc\0\0" + b"\x90"
    assert parse(long) == m.Forward(NOTE, 2)
    assert encode(parse(long)) == encode(m.Forward(NOTE, 2))


@settings(max_examples=examples(200))
@given(NOTES, U, st.booleans(), st.none() | st.tuples(st.integers(0, 2), HOSTILE))
def test_usual_messages_are_read_and_written_as_the_layouts_do(note, number, is_forward, change):
    message = m.Forward(note, number) if is_forward else m.Publish(number, (v.Publication(note),))
    array = msgpack.unpackb(encode(message))
    assert encode(message) == msgpack.packb(array)
    assert parse(encode(message)) == message
    if change is not None:
        array[1 + change[0] % (len(array) - 1)] = change[1]
    try:
        wanted = CODEC._coders[array[0]].read(array)
    except BadMessage:
        wanted = None
    found = _read_usual(array)
    assert found == wanted if change is None else found in (None, wanted)


def test_receivers_in_one_process_share_what_is_told_to_all():
    data = encode(m.Brokers(7, m.Whole.LAST, (), (), (("b0", "b1"),)))
    assert parse(data) is parse(bytes(bytearray(data)))
    for _ in range(2):
        with pytest.raises(BadMessage):
            parse(data[:-1])
    ack = encode(m.Ack(7))
    assert parse(ack) == parse(ack) and parse(ack) is not parse(ack)


def test_receivers_in_one_process_share_an_entry_that_several_messages_have():
    first, second = (parse(encode(m.RegTable(n, m.Whole.CHANGES, (ENTRY,), (), v.Summary(n, 2)))) for n in (1, 2))
    assert first.added[0] is second.added[0]
    moved = parse(encode(m.RegTable(3, m.Whole.CHANGES, (replace(ENTRY, version=4),), (), SUM)))
    assert moved.added == (replace(ENTRY, version=4),)


@pytest.mark.parametrize(("message", "array"), ARRAYS, ids=lambda value: type(value).__name__)
def test_the_notifications_of_a_message(message, array):
    assert list(notifications_of(message)) == ([NOTE] if str(NOTE_ARRAY) in str(array) else [])


@settings(max_examples=examples(40))
@given(st.lists(SUBS, max_size=4), st.randoms())
def test_a_sum_is_of_the_rows_in_any_order(rows, random):
    total = RunningSum()
    for row in rows:
        total.add(row)
    assert total.summary == sum_of(random.sample(rows, len(rows)))
    for row in random.sample(rows, len(rows)):
        total.remove(row)
    assert total.summary == v.Summary()


def test_a_sum_adds_64_bits_of_blake2b():
    total = sum(
        int.from_bytes(blake2b(msgpack.packb(row), digest_size=8).digest(), "big") for row in (SUB_ARRAY, ENTRY_ARRAY)
    )
    assert sum_of([SUB, ENTRY]) == v.Summary(2, total % 2**64)
