"""The datagrams: exact bytes, total parsing, encoding as its inverse; bounded inflation; proofs."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.errors import WireError
from overlay.core.strangers import token_of
from overlay.systems.radiator.load import contents, population
from overlay.systems.radiator.wire import dictionary
from overlay.systems.radiator.wire import messages as m
from overlay.systems.radiator.wire.codec import encode, parse
from overlay.systems.radiator.wire.compression import CODECS, TooLarge, deflate, inflate
from overlay.systems.radiator.wire.dictionary import DICTIONARY
from overlay.systems.radiator.wire.proofs import is_authentic, mac_of
from overlay.systems.radiator.wire.table import LAYOUTS
from tests.radiator.strategies import messages
from tests.thorough import examples

ONE = b"\0\0\0\0\0\0\0\1"
KEY, MAC = b"k" * 16, b"macmacma"
BYTES = [
    (
        m.Register(7, 1, 2, 1, "é", {"b": 1, "a": [2]}),
        b"RD\1\1\0\0\0\7" + ONE + b'\0\0\0\0\0\0\0\2\1\2\xc3\xa9\0\x0f{"a":[2],"b":1}',
    ),
    (m.Registered(7, 0, 1, key=KEY), b"RD\1\2\0\0\0\7\0" + ONE + KEY),
    (m.Registered(7, 4, 1, token=1), b"RD\1\2\0\0\0\7\4" + ONE + ONE),
    (m.Registered(7, 1, 1), b"RD\1\2\0\0\0\7\1" + ONE),
    (m.Unregister(7, 1, "a"), b"RD\1\3\0\0\0\7" + ONE + b"\1a"),
    (m.Unregistered(7, 0), b"RD\1\4\0\0\0\7\0"),
    (m.Context(7, 1, 1, 2, b"body"), b"RD\1\5\0\0\0\7" + ONE + ONE + b"\2body"),
    (m.Accepted(7, 2, 300), b"RD\1\6\0\0\0\7\2\1\x2c"),
    (
        m.Push(1, 1, 2, 3, 4, 5, 1, 6, 7, MAC, b"part"),
        b"RD\1\7" + ONE + ONE + b"\0\2\0\3\0\4\0\5\1\0\6\0\7" + MAC + b"part",
    ),
    (m.Ack(1, 1, 2, 3, 4, b"\x80" + bytes(31)), b"RD\1\x08" + ONE + ONE + b"\0\2\0\3\0\4\x80" + bytes(31)),
    (m.Failed(1, 1, 2, 3, 4, 1), b"RD\1\x09" + ONE + ONE + b"\0\2\0\3\0\4" + ONE),
    (m.Done(1, 1, 2, 3, 4, 1), b"RD\1\x0a" + ONE + ONE + b"\0\2\0\3\0\4" + ONE),
    (m.Progress(1, 1, 2, 3, 4, 1), b"RD\1\x0b" + ONE + ONE + b"\0\2\0\3\0\4" + ONE),
    (m.Noted(1, 1, 2, 3, 4, 1, 9), b"RD\1\x0c" + ONE + ONE + b"\0\2\0\3\0\4" + ONE + b"\x09"),
    (m.Alive(1), b"RD\1\x0d" + ONE),
    (m.RegisterAgain(1), b"RD\1\x0e" + ONE),
    (m.Inspect(7, 1, 1, 2, 3, 4, b"pad"), b"RD\1\x0f\0\0\0\7" + ONE + b"\1\2\0\0\0\3\0\4pad"),
    (m.Inspected(7, 0, body=b"{}"), b"RD\1\x10\0\0\0\7\0{}"),
    (m.Inspected(7, 1, 1), b"RD\1\x10\0\0\0\7\1" + ONE),
    (m.Inspected(7, 2), b"RD\1\x10\0\0\0\7\2"),
]


@pytest.mark.parametrize(("message", "data"), BYTES, ids=lambda value: type(value).__name__)
def test_each_datagram_has_these_bytes(message, data):
    assert encode(message) == data
    assert parse(data) == message
    assert type(parse(data)) is type(message)


def test_the_table_has_the_sixteen_kinds_and_their_fields_are_the_messages_attributes():
    assert [layout.code for layout in LAYOUTS] == list(range(1, 17))
    for layout in LAYOUTS:
        assert tuple(field.name for field in layout.fields) == layout.message._fields


@settings(max_examples=examples(2_000))
@given(messages)
def test_what_is_written_is_read(message):
    read = parse(encode(message))
    assert read == message
    assert type(read) is type(message)


@settings(max_examples=examples(5_000))
@given(
    st.binary(max_size=80)
    | st.integers(0, 17).flatmap(lambda k: st.binary(max_size=80).map(lambda b: b"RD\1%c" % k + b))
)
def test_any_bytes_give_a_message_or_the_one_error(data):
    try:
        message = parse(data)
    except WireError:
        return
    assert type(parse(encode(message))) is type(message)


@settings(max_examples=examples(1_000))
@given(messages, st.data())
def test_a_datagram_that_is_cut_off_is_refused_or_has_a_shorter_rest(message, data):
    whole = encode(message)
    part = whole[: data.draw(st.integers(0, len(whole) - 1))]
    try:
        assert isinstance(parse(part), m.Context | m.Push | m.Inspect | m.Inspected)
    except WireError as error:
        assert str(error)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "not the beginning"),
        (b"RD\2\x0d" + ONE, "not the beginning"),
        (b"RD\1\x11" + ONE, "17 is not the kind"),
        (b"RD\1\x0d" + ONE + b"\0", "1 surplus bytes"),
        (b"RD\1\x0d" + ONE[:7], "too few"),
        (b"RD\1\3\0\0\0\7" + ONE + b"\0", "id is empty"),
        (b"RD\1\3\0\0\0\7" + ONE + b"\2a", "id is cut off"),
        (b"RD\1\3\0\0\0\7" + ONE + b"\1\xff", "id is not UTF-8"),
        (b"RD\1\1\0\0\0\7" + ONE + ONE + b"\0\1a\0\2[]", "attributes is not a JSON object"),
        (b"RD\1\1\0\0\0\7" + ONE + ONE + b"\2\1a\0\2{}", "flags must not be 2"),
        (b"RD\1\1\0\0\0\7" + ONE + ONE + b'\0\1a\0\x0d{"a":1,"a":2}', "twice"),
        (b"RD\1\1\0\0\0\7" + ONE + ONE + b'\0\1a\0\x16{"a":[[[[[[[[]]]]]]]]}', "8 levels"),
        (b"RD\1\6\0\0\0\7\6\0\0", "code must not be 6"),
        (b"RD\1\7" + ONE + ONE + b"\0\2\0\3\0\4\0\5\3\0\6\0\7" + MAC, "codec must not be 3"),
        (b"RD\1\7" + ONE + ONE + b"\0\2\0\3\0\4\0\5\1\0\7\0\7" + MAC, "segment 7 of 7"),
        (b"RD\1\7" + ONE + ONE + b"\0\2\0\4\0\4\0\5\1\0\6\0\7" + MAC, "position 4 in a chain of 4"),
        (b"RD\1\7" + ONE + ONE + b"\xff\xff\0\1\0\2\0\5\1\0\6\0\7" + MAC, "position 1 of a direct push"),
    ],
)
def test_what_is_wrong_is_named(data, sentence):
    with pytest.raises(WireError, match=sentence):
        parse(data)


@settings(max_examples=examples(300))
@given(st.binary(max_size=3_000), st.sampled_from(range(3)))
def test_what_is_deflated_is_inflated_and_never_beyond_the_limit(data, codec):
    packed = deflate(data, codec)
    assert packed == deflate(data, codec)
    assert inflate(packed, codec, len(data)) == data
    if data:
        with pytest.raises(TooLarge):
            inflate(packed, codec, len(data) - 1)


@settings(max_examples=examples(500))
@given(st.binary(max_size=200), st.sampled_from([1, 2]))
def test_hostile_compressed_bytes_raise_the_one_error(data, codec):
    try:
        assert len(inflate(data, codec, 1_000)) <= 1_000
    except WireError as error:
        assert str(error)


def test_a_bomb_is_not_inflated_and_compressed_data_end_where_they_end():
    bomb = deflate(bytes(50_000_000), 1)
    with pytest.raises(TooLarge, match="more than 16384 bytes"):
        inflate(bomb, 1, 16_384)
    with pytest.raises(WireError, match="cut off or followed"):
        inflate(deflate(b"abc", 1) + b"x", 1, 100)
    with pytest.raises(WireError, match="cut off or followed"):
        inflate(deflate(b"abc" * 50, 2)[:-2], 2, 1_000)


def test_the_dictionary_has_these_bytes_and_compresses_a_context_to_half_of_gzip():
    assert sha256(DICTIONARY).hexdigest()[:16] == "5e7f8817aa870e26"
    context = (
        b'{"a":{"events":[{"latitude":38.712345,"longitude":-9.134567,"type":"bump"},{"latitude":38.715432,'
        b'"longitude":-9.138765,"type":"swerve"}],"hazards":2,"location":{"latitude":38.71,"longitude":-9.13},'
        b'"speed":54.3},"n":1,"p":["client-00042"],"t":[1700000004242,1700000004242]}'
    )
    none, gzip, dictionary = (len(deflate(context, codec)) for codec in range(len(CODECS)))
    assert dictionary < gzip / 2 < none


def test_the_dictionary_has_the_words_of_the_workload():
    assert set(dictionary.EVENTS) == set(contents.EVENTS)
    assert set(dictionary.LATITUDES) == _first_digits(*population.LATITUDES)
    assert set(dictionary.LONGITUDES) == _first_digits(*population.LONGITUDES)


def _first_digits(low, high):
    """Of numbers between them: all before the second digit after the point."""
    return {f"{low + share * (high - low):.2f}"[:-1] for share in (0.1, 0.5, 0.9)}


def test_a_mac_is_of_the_key_the_numbers_and_the_blob():
    mac = mac_of(KEY, 1, 2, 3, b"blob")
    assert len(mac) == 8
    assert is_authentic(mac, KEY, 1, 2, 3, b"blob")
    for other in [
        (b"x" * 16, 1, 2, 3, b"blob"),
        (KEY, 2, 2, 3, b"blob"),
        (KEY, 1, 2, 4, b"blob"),
        (KEY, 1, 2, 3, b"blub"),
    ]:
        assert not is_authentic(mac, *other)


def test_a_token_is_of_the_secret_the_address_and_the_epoch_and_never_0():
    token = token_of(KEY, ("10.0.0.1", 1000), 1)
    assert 0 < token < 2**64
    others = [(b"x" * 16, ("10.0.0.1", 1000), 1), (KEY, ("10.0.0.2", 1000), 1), (KEY, ("10.0.0.1", 1001), 1)]
    assert token not in [token_of(*other) for other in [*others, (KEY, ("10.0.0.1", 1000), 2)]]
