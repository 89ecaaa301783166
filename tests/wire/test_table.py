"""One description of each message, and that everything made from it is up to date."""

from dataclasses import fields
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given, settings

from brokerweb.systems.context_broker.wirelab.__main__ import PAGE, SCRIPT
from brokerweb.systems.context_broker.wirelab.dissecting import dissect
from brokerweb.systems.context_broker.wirelab.dissector import renewed
from brokerweb.systems.context_broker.wirelab.page import page
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.wire.codec import encode, parse
from overlay.systems.context_broker.wire.kinds import FORMATS, TAIL_PRESENCE, Kind, Tail
from overlay.systems.context_broker.wire.table import BY_CLASS, LAYOUTS, NEVER_ANSWERED, OPERATIONS, AnyMessage
from telemetry.systems.context_broker.messages import FAMILIES, kind_of
from telemetry.systems.context_broker.sequence import CODES
from tests.broker.strategies import built
from tests.thorough import examples

NOW = 1_795_338_000_000
AGAIN = "python -m brokerweb.systems.context_broker.wirelab"


@pytest.mark.parametrize("message", BY_CLASS, ids=lambda message: message.__name__)
def test_what_is_encoded_is_parsed_and_taken_apart(message):
    @settings(max_examples=examples(160))
    @given(built(message))
    def check(sent):
        data = encode(sent)
        assert parse(data) == sent
        found = dissect(data, NOW)
        assert found.problems == ()
        assert found.layout is BY_CLASS[message]
        assert b"".join(data[one.offset : one.end] for one in found.segments) == data
        assert all(after.offset == before.end for before, after in pairwise(found.segments))

    check()


def test_every_message_is_described_once():
    assert set(BY_CLASS) == set(get_args(AnyMessage))
    assert len(LAYOUTS) == len(BY_CLASS)
    assert len({layout.short for layout in LAYOUTS.values()}) == len(LAYOUTS)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=lambda layout: layout.name)
def test_a_description_is_complete(layout):
    assert layout.fields[0].kind == Kind.TIME
    for one in layout.fields:
        assert one.meaning.endswith("."), one
        assert one.kind in FORMATS
        assert one.example or one.kind == Kind.SIZE
    assert layout.purpose.endswith(".")
    assert bool(TAIL_PRESENCE[layout.tail]) == (layout.tail != Tail.NONE)
    assert len(layout.attributes) == len(fields(layout.message))


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=lambda layout: layout.name)
def test_a_message_is_known_with_the_settings_that_it_needs(layout):
    assert layout.is_known_with(BrokerConfig(**layout.needs))
    assert layout.is_known_with(BrokerConfig()) == (not layout.needs)


def test_operations_and_answers_are_those_of_the_protocol():
    assert list(OPERATIONS) == [0, 2, 3, 7, 8, 35, 37, 38]
    assert {4, 5, 6, 9, 19, 21, 23, 25, 27, 29, 31, 36, 39} == NEVER_ANSWERED


def test_recorded_messages_have_their_names():
    assert [kind_of(code) for code in (3, 34, 40)] == [
        ("request", "request"),
        ("replica confirmation", "update"),
        ("unreadable", "upkeep"),
    ]
    assert FAMILIES == ("request", "answer", "refusal", "update", "acknowledgement", "upkeep")
    assert CODES == {"request": 3, "lookahead": 16, "answer": 4, "refusal": 6}


def test_the_page_is_up_to_date():
    assert PAGE.read_text() == page(), AGAIN


def test_the_dissector_for_wireshark_is_up_to_date():
    script = SCRIPT.read_text()
    assert script == renewed(script), AGAIN
