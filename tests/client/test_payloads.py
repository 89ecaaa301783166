"""Payloads: what is stored by REST and by UDP is the same, and read as the same, whatever the values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any

import numpy
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from brokerweb.systems.context_broker.context import bodies
from overlay.systems.context_broker.clients.payload import parse_pairs
from tests.thorough import examples
from waxwing import contexts, payloads
from waxwing.calls import Answer, call
from waxwing.errors import InvalidMessage
from waxwing.udp import codec, exchange

KEY = ("room", "r1", "temp")
texts = st.text(st.characters(), max_size=12) | st.sampled_from(["", "a=b", "a;b", "21.5", "null", "\ud800", "\0"])
values = st.recursive(
    texts
    | st.booleans()
    | st.none()
    | st.integers()
    | st.floats()
    | st.decimals(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=4,
)
anything = texts | st.dictionaries(texts, values, max_size=4)


def stored_by_rest(payload: Any) -> bytes:
    """What the server's front stores of the body that the client sends."""
    body = call("PUT", "/api/", body=contexts.body(payload, "p", None)).content
    return bodies.read(KEY, json.loads(body)).payload


def stored_by_udp(payload: Any) -> bytes:
    """What a broker stores of the datagram that the client sends."""
    datagram = exchange.update("p", KEY, payloads.text_of(payload).encode(), 1).write(5, 6)
    return datagram.split(b"|", 10)[10]


@settings(max_examples=examples(120))
@given(anything)
@example({"on": True, "off": False, "none": None, "n": 1, "x": 21.5, "s": "true"})
@example({"a": float("nan")})
@example("a=1;")
def test_both_ways_store_the_same_or_refuse_the_same_and_read_it_equal(payload: str | Mapping[str, Any]) -> None:
    try:
        stored = stored_by_udp(payload)
    except InvalidMessage as error:
        with pytest.raises(InvalidMessage) as refused:
            contexts.put(*KEY, payload, provider="p")
        assert str(refused.value) == str(error)
        return
    assert stored_by_rest(payload) == stored
    text = stored.decode()
    by_rest = contexts.context(*KEY, Answer(200, {}, json.dumps({"payload": parse_pairs(text), "text": text}).encode()))
    by_udp = exchange.Answer("b:1", codec.Response(5, "p", *KEY, 6, 7, text))
    assert (by_rest.payload, by_rest.text) == (by_udp.payload, by_udp.text)
    if isinstance(payload, dict):
        assert by_udp.payload == {name: payloads.value_text(name, value) for name, value in payload.items()}


class Colour(str, Enum):  # noqa: UP042  # whose text is Colour.RED
    RED = "red"


def test_values_are_those_of_json_and_text_stays_text() -> None:
    given = {
        "on": True, "none": None, "n": 1, "x": 21.5, "big": 10**30, "text": "21.5",
        "list": [1, "a"], "map": {"a": True}, "red": Colour.RED, "money": Decimal("21.50"),
        "day": date(2026, 11, 28), "at": datetime(2026, 11, 28, tzinfo=UTC),
        "float32": numpy.float32(0.5), "int64": numpy.int64(7), "bool": numpy.bool_(True),
    }  # fmt: skip
    assert payloads.text_of(given) == (
        'on=true;none=null;n=1;x=21.5;big=1000000000000000000000000000000;text=21.5;list=[1, "a"];map={"a": true};'
        "red=red;money=21.50;day=2026-11-28;at=2026-11-28T00:00:00+00:00;float32=0.5;int64=7;bool=true"
    )


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        ({}, "0 bytes"),
        ("", "0 bytes"),
        ("x" * 60_001, "60,001 bytes"),
        ({"a": "1;2"}, "contain no ;"),
        ({"a=": 1}, "contain no ;"),
        ({"": 1}, "not empty"),
        ({1: 1}, "must be a text"),
        ({"a": float("inf")}, "not a value of JSON"),
        ({"a": numpy.float64("nan")}, "not a value of JSON"),
        ({"a": object()}, "a object cannot be stored"),
        ({"a": numpy.longdouble(1)}, "cannot be stored"),
        ({"a": Decimal("NaN")}, "cannot be stored"),
        ({"a": "\ud800"}, "surrogate"),
    ],
)
def test_what_cannot_be_stored_is_refused_before_anything_is_sent(payload: Any, why: str) -> None:
    for store in (payloads.text_of, payloads.sendable):
        with pytest.raises(InvalidMessage, match=why):
            store(payload)


def test_pairs_are_read_as_the_server_reads_them() -> None:
    for text in ("a=1;b=x", "a=1;", "a=1;b", "a=1;a=2", "", ";", "a==1", "=1", "a=;b=", "a=1;;b=2"):
        assert payloads.pairs(text) == parse_pairs(text), text
