"""The federation in the wire lab: messages value by value, forms, verdicts, conversations, sending, pages."""

from __future__ import annotations

from itertools import pairwise

import msgpack
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from brokerweb.systems.federation.wirelab.messages import FederationMessages
from overlay.systems.federation.contextml.encoding import CONTEXTML
from overlay.systems.federation.wire.codec import CODEC, encode
from overlay.systems.federation.wire.errors import BadMessage
from tests.federation.drawn import messages
from tests.federation.test_wire import HOSTILE, KIND, REFUSED
from tests.thorough import examples

NOW = 1_795_338_000_000
MESSAGES = FederationMessages()


def reads(data):
    for codec in (CODEC, CONTEXTML):
        try:
            codec.parse(data)
        except BadMessage:
            continue
        return True
    return False


def check(data, found=None):
    """Its segments are all of it, in order and without a gap, and it is wrong exactly where the codec refuses it."""
    found = found or MESSAGES.dissect(data, NOW)
    assert b"".join(data[one.offset : one.end] for one in found.segments) == data
    assert all(after.offset == before.end for before, after in pairwise(found.segments))
    return found


def check_message(data):
    found = check(data)
    assert bool(found.problems) != reads(data), found.problems
    return found


# ---- taken apart


@settings(max_examples=examples(200))
@given(messages, st.data(), st.booleans())
def test_a_message_whole_or_damaged_is_taken_apart_without_a_gap(message, data, is_xml):
    try:
        whole = (CONTEXTML if is_xml else CODEC).encode(message)
    except BadMessage:  # XML cannot carry it
        whole = encode(message)
    found = check_message(whole)
    assert not found.missing
    at = data.draw(st.integers(0, len(whole) - 1))
    check_message(whole[:at])
    check_message(whole[:at] + data.draw(st.binary(max_size=3)) + whole[at + 1 :])


@settings(max_examples=examples(300))
@given(
    st.binary(max_size=60)
    | st.tuples(KIND, st.binary(max_size=60)).map(lambda pair: b"\x95%c" % pair[0] + pair[1])
    | st.tuples(KIND, st.lists(HOSTILE, max_size=5)).map(lambda pair: msgpack.packb([pair[0], *pair[1]]))
)
@example(b"\x91" * 600)
@example(bytes(65_537))
@example(b"\x81\xc0\xc0")
def test_any_bytes_are_taken_apart_without_a_gap(data):
    check_message(data)


@pytest.mark.parametrize(("array", "reason", "sentence"), REFUSED)
def test_what_the_codec_refuses_is_marked(array, reason, sentence):
    check_message(array if isinstance(array, bytes) else msgpack.packb(array))
