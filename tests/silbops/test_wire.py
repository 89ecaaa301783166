"""The messages: exact arrays, total parsing, encoding as its inverse, every limit, and the sizes of the contract."""

from __future__ import annotations

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.messages.errors import BadMessage, Reason
from overlay.systems.silbops.content.constraints import constraint
from overlay.systems.silbops.content.filters import filter_of
from overlay.systems.silbops.scope.text import parse as parse_scope
from overlay.systems.silbops.tables.rows import Context, Key
from overlay.systems.silbops.wire import messages as m
from overlay.systems.silbops.wire.codec import MAX_BYTES, SIENA, SILBOPS, code_of
from tests.silbops.drawn_messages import MESSAGES, messages
from tests.thorough import examples

A, B = bytes(range(16)), bytes(16)
FILTER = filter_of([constraint("kind", "=", "car"), constraint("speed", ">", 30), constraint("plate", "any")])
FILTER_ARRAY = [["kind", "=", "car"], ["plate", "any"], ["speed", ">", 30]]
NEAR = parse_scope("this.x - 20 <= pub.x <= this.x + 20")
NEAR_ARRAY = ["and", ["<=", ["-", ["s", "x"], 20], ["p", "x"]], ["<=", ["p", "x"], ["+", ["s", "x"], 20]]]
CAR, PLACE = {"kind": "car", "speed": 31.5}, {"x": 1.5, "y": 2}
XY, GROUP = frozenset("yx"), frozenset({"group"})
ADV, ADV_ARRAY = m.Adv.of(Key(A, 7), FILTER, XY, GROUP, 500), [[A, 7], FILTER_ARRAY, ["x", "y"], ["group"], 500]
SUB, SUB_ARRAY = m.Sub.of(A, 7, FILTER, NEAR, 500), [A, 7, FILTER_ARRAY, NEAR_ARRAY, 500]
NOTIFY, NOTIFY_ARRAY = m.Notify(2**64 - 1, 4, CAR, (7, 8)), [2**64 - 1, 4, CAR, [7, 8]]
ARRAYS = [
    (m.Attach(A, m.Mode.RESUME, "b3"), [1, A, 1, "b3"]),
    (m.Attached(True), [2, True]),
    (m.SetCtx(9, PLACE), [10, 9, PLACE]),
    (m.Advertise(9, 7, FILTER, XY, None, 500), [11, 9, 7, FILTER_ARRAY, ["x", "y"], None, 500]),
    (m.Unadvertise(9, 7), [12, 9, 7]),
    (m.Subscribe(9, 7, FILTER, NEAR, 500), [13, 9, 7, FILTER_ARRAY, NEAR_ARRAY, 500]),
    (m.Unsubscribe(9, 7), [14, 9, 7]),
    (m.Publish(9, CAR, PLACE, NEAR), [15, 9, CAR, PLACE, NEAR_ARRAY]),
    (NOTIFY, [16, *NOTIFY_ARRAY, None]),
    (m.Ok(9), [17, 9]),
    (m.Refused(9, m.Code.NOT_ADVERTISED, "no"), [18, 9, 7, "no"]),
    (m.Peer("b0", 3, 1), [20, "b0", 3, 1]),
    (ADV, [21, *ADV_ARRAY]),
    (m.Unadv(Key(A, 7)), [22, [A, 7]]),
    (m.Ctx.of(A, 3, PLACE), [23, A, 3, PLACE]),
    (SUB, [24, *SUB_ARRAY]),
    (m.Unsub(Key(A, 7)), [25, A, 7]),
    (m.Forget(A), [26, A]),
    (m.Pub(A, 9, CAR, PLACE, None), [27, A, 9, CAR, PLACE, None]),
    (m.Pctx.of(A, 3, PLACE), [28, A, 3, PLACE]),
    (m.Move(B), [29, B]),
    (
        m.Take(B, A, Context(3, PLACE), (SUB,), (ADV,), (NOTIFY,), False),
        [30, B, A, [3, PLACE], [SUB_ARRAY], [ADV_ARRAY], [NOTIFY_ARRAY], False],
    ),
]


@pytest.mark.parametrize(("message", "array"), ARRAYS, ids=lambda value: type(value).__name__)
def test_each_message_is_this_array(message, array):
    assert SILBOPS.encode(message) == msgpack.packb(array)
    assert SILBOPS.parse(msgpack.packb(array)) == message


def test_the_table_has_all_codes_and_its_fields_are_attributes_of_messages():
    assert [layout.code for layout in SILBOPS.layouts] == [1, 2, *range(10, 19), *range(20, 31)]
    for message, _ in ARRAYS:
        layout = next(one for one in SILBOPS.layouts if one.message is type(message))
        assert all(hasattr(message, field.name) and field.meaning.endswith(".") for field in layout.fields)
    assert {layout.message for layout in SILBOPS.layouts} == set(MESSAGES) == {type(one) for one, _ in ARRAYS}


@settings(max_examples=examples(300))
@given(messages)
def test_what_is_written_is_read(message):
    data = SILBOPS.encode(message)
    read = SILBOPS.parse(data)
    assert read == message
    assert type(read) is type(message)
    assert SILBOPS.encode(read) == data


CODES = st.integers(0, 32)
HOSTILE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=5)
    | st.binary(max_size=16),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize("codec", [SILBOPS, SIENA], ids=["silbops", "siena"])
@settings(max_examples=examples(200))
@given(
    data=st.binary(max_size=60)
    | st.tuples(CODES, st.lists(HOSTILE, max_size=7)).map(lambda pair: msgpack.packb([pair[0], *pair[1]]))
)
def test_any_bytes_give_a_message_or_the_one_error(codec, data):
    try:
        message = codec.parse(data)
    except BadMessage as error:
        assert code_of(error) in m.Code
        assert str(error)
        return
    assert codec.parse(codec.encode(message)) == message


@settings(max_examples=examples(300))
@given(messages, st.data())
def test_a_message_with_a_changed_byte_is_read_or_refused(message, data):
    changed = bytearray(SILBOPS.encode(message))
    changed[data.draw(st.integers(0, len(changed) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        assert SILBOPS.parse(SILBOPS.encode(SILBOPS.parse(bytes(changed)))) is not None
    except BadMessage as error:
        assert str(error)


DEEP = NEAR_ARRAY
for _ in range(12):
    DEEP = ["not", DEEP]
LONG = {"a": "é" * 513}
REFUSED = [
    ([13, 9, 7, [["a", "~", 1]], None, 0], m.Code.MALFORMED, "SUBSCRIBE, filter: '~' is none of the operators"),
    ([13, 9, 7, [["@x", "=", 1]], None, 0], m.Code.MALFORMED, "SUBSCRIBE, filter: '@x' is no name"),
    ([13, 9, 7, [["a", "=", n] for n in range(17)], None, 0], m.Code.LIMIT, "17 constraints; 16 are the most"),
    ([13, 9, 7, [], ["<", ["p", "x"], True], 0], m.Code.BAD_SCOPE, "SUBSCRIBE, scope: < does not compare true and"),
    ([13, 9, 7, [], DEEP, 0], m.Code.BAD_SCOPE, "SUBSCRIBE, scope: it is nested more than 12 deep"),
    ([13, 9, 7, [], None, 86_400_001], m.Code.MALFORMED, "SUBSCRIBE, ttl_ms: 86,400,001 ms are longer than a day"),
    ([13, 9, 7, [], None], m.Code.MALFORMED, "SUBSCRIBE, its fields: an array has 4 elements instead of 5"),
    ([15, 9, {}, {}, None], m.Code.MALFORMED, "PUBLISH, notification: there are 0 names instead of 1 to 64"),
    ([15, 9, {f"a{n}": 1 for n in range(65)}, {}, None], m.Code.LIMIT, "there are 65 names instead of 1 to 64"),
    ([15, 9, {"a": [1]}, {}, None], m.Code.MALFORMED, "PUBLISH, notification: [1] is no value"),
    ([15, 9, LONG, {}, None], m.Code.LIMIT, "PUBLISH, notification: a text has more than 1,024 bytes"),
    ([15, 9, {"a": 2**63}, {}, None], m.Code.MALFORMED, "an integer has more than 64 bits"),
    ([10, 9, {"x": float("nan")}], m.Code.MALFORMED, "SETCTX, values: nan is no finite number"),
    ([10, 9, {b"x": 1}], m.Code.MALFORMED, "SETCTX, values: "),
    ([11, 9, 7, [], ["x"] * 65, None, 0], m.Code.MALFORMED, "ADVERTISE, variables: an array has 65 elements"),
    ([1, A[1:], 0, None], m.Code.MALFORMED, "ATTACH, client: "),
    ([1, A, 2, None], m.Code.MALFORMED, "ATTACH, mode: 2 is none of 0 new, 1 resume"),
    ([16, 1, 2, {"a": 1}, [], None], m.Code.MALFORMED, "NOTIFY, ids: an array has 0 elements"),
    ([19, 1], m.Code.MALFORMED, "19 is not the kind of a message"),
]


@pytest.mark.parametrize(("array", "code", "sentence"), REFUSED, ids=lambda value: str(value)[:30])
def test_what_exceeds_its_limits_is_refused_with_the_request_and_the_reason(array, code, sentence):
    with pytest.raises(BadMessage) as caught:
        SILBOPS.parse(msgpack.packb(array))
    assert sentence in str(caught.value)
    assert code_of(caught.value) is code
    assert caught.value.req == (9 if array[1] == 9 else 0)


def test_a_message_has_at_most_60_000_bytes():
    notification = {f"a{n}": "x" * 1_000 for n in range(58)}
    assert SILBOPS.parse(SILBOPS.encode(m.Publish(1, notification, {}))).notification == notification
    too_long = m.Publish(1, {f"a{n}": "x" * 1_000 for n in range(60)}, {})
    for refused in (lambda: SILBOPS.encode(too_long), lambda: SILBOPS.parse(bytes(MAX_BYTES + 1))):
        with pytest.raises(BadMessage) as caught:
            refused()
        assert caught.value.reason is Reason.SIZE
        assert code_of(caught.value) is m.Code.TOO_LARGE


def test_the_siena_arm_has_context_in_content_and_no_functions():
    box = [["@x", ">=", 1.5], ["@x", "<=", 41.5]]
    data = msgpack.packb([13, 9, 7, box, None, 0])
    assert SIENA.encode(SIENA.parse(data)) == msgpack.packb([13, 9, 7, box[::-1], None, 0])
    with pytest.raises(BadMessage) as caught:
        SIENA.parse(msgpack.packb([13, 9, 7, box, NEAR_ARRAY, 0]))
    assert code_of(caught.value) is m.Code.BAD_SCOPE
    assert "no functions of context" in str(caught.value)


def test_equal_contexts_and_functions_have_equal_bytes():
    assert SILBOPS.encode(m.SetCtx(1, {"x": 1, "y": 2})) == SILBOPS.encode(m.SetCtx(1, {"y": 2, "x": 1}))
    one, other = (
        parse_scope(text)
        for text in ("pub.x > 1 and (pub.y > 2.0 and exists pub.z)", "pub.x>1 and pub.y>2 and exists pub.z")
    )
    assert SILBOPS.encode(m.Subscribe(1, 1, (), one)) == SILBOPS.encode(m.Subscribe(1, 1, (), other))


def test_the_sizes_of_messages_of_the_use_case():
    """The prototype of seed 002 had 43 B for a context, 71 B for a subscription of three constraints and a function,
    116 B for one with a box instead, 25 B for an unsubscription. Here the function is written out."""
    three = [constraint("a12", "=", 5), constraint("b345", "=", "v17"), constraint("c678", "=", 7)]
    bounds = [("x", 100.5), ("y", 200.5)]
    box = [
        constraint(f"@{name}", op, place + way, is_siena=True)
        for name, place in bounds
        for op, way in ((">=", -20), ("<=", 20))
    ]
    function = parse_scope("this.x-20 <= pub.x <= this.x+20 and this.y-20 <= pub.y <= this.y+20")
    subscribed = m.Sub.of(A, 300, filter_of(three), function, 0)
    with_box = m.Sub.of(A, 300, filter_of(three + box, is_siena=True), None, 0)
    sizes = {
        "context": len(SILBOPS.encode(m.Ctx.of(A, 7, {"x": 1.5, "y": 2.5}))),
        "function": len(SILBOPS.encode(subscribed)),
        "box": len(SIENA.encode(with_box)),
        "unsubscription": len(SILBOPS.encode(m.Unsub(Key(A, 70_000)))),
    }
    assert sizes == {"context": 44, "function": 131, "box": 119, "unsubscription": 25}
