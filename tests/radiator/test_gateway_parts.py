"""The pure parts of the HTTP gateway: translation of pushes, memory within bounds, sources."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.binary import canonical
from overlay.core.errors import WireError
from overlay.programs.radiator import requests
from overlay.programs.radiator.limits import Limits, Rates, source_of
from overlay.programs.radiator.outlets import signature
from overlay.programs.radiator.remembered import Bodies, Body, Events
from overlay.programs.radiator.routes import read_document
from overlay.programs.radiator.translation import push_document
from overlay.systems.radiator.chains.blobs import Opened
from overlay.systems.radiator.wire import messages as m
from overlay.systems.radiator.wire.proofs import is_authentic
from tests.thorough import examples

KEY = b"k" * 16
BODY = '{"a":{"x":"é"},"n":1,"p":["alice"],"t":[1,2]}'.encode()
HOME = ("10.0.0.8", 8_003)


def push(chain, **more):
    return m.Push(9, 1, chain, 0, 2, 0, 0, 0, 1, b"", b"")._replace(**more)


def document_of(chain, opened, **more):
    places = {"a": ("10.1.0.1", 5_000)}
    return json.loads(push_document(push(chain, **more), opened, KEY, lambda place: places.get(place.id), HOME))


def test_a_direct_push_is_its_body_with_a_mac_over_the_canonical_form():
    document = document_of(m.DIRECT, Opened([], ("", 0), BODY))
    assert document["blob"] == json.loads(BODY)
    assert is_authentic(bytes.fromhex(document["mac"]), KEY, 9, 1, m.DIRECT, BODY)
    assert list(document) == ["attempt", "blob", "chain", "epoch", "mac", "position", "propagation"]


def test_a_chain_has_the_addresses_of_phones_and_nobody_for_those_who_left():
    opened = Opened([["10.0.0.8", 1_000, "a"], ["10.0.0.8", 1_001, "gone"]], ("10.0.0.1", 7_000), BODY)
    document = document_of(0, opened, position=1, attempt=3)
    members = [["10.1.0.1", 5_000, "a"], ["0.0.0.0", 0, "gone"]]
    assert document["blob"] == [members, list(HOME), json.loads(BODY)]
    assert (document["position"], document["attempt"]) == (1, 3)
    assert is_authentic(bytes.fromhex(document["mac"]), KEY, 9, 1, 0, canonical(document["blob"]))


def test_members_that_are_none_raise_the_one_error():
    with pytest.raises(WireError, match="not a member of a chain"):
        document_of(0, Opened([["10.0.0.8"]], HOME, BODY))


def test_equal_documents_are_made_once_and_counted_until_the_last_is_let_go():
    bodies, made = Bodies(10), []

    def share(key, size):
        return bodies.share(key, lambda: made.append(key) or b"x" * size)

    first, second = share("a", 6), share("a", 6)
    assert (first is second, made, bodies.bytes) == (True, ["a"], 6)
    assert share("b", 5) is None, "there is no room"
    del first
    assert bodies.bytes == 6
    del second
    assert (bodies.bytes, len(bodies)) == (0, 0)
    assert share("b", 10).data == b"x" * 10


def numbers(events, after=0):
    found = []
    while (event := events.after(after)) is not None:
        found.append(after := event.number)
    return found


def test_events_that_were_not_sent_are_not_displaced():
    events = Events(2, 10)
    assert [events.add(Body(b"")) for _ in range(3)] == [True, True, False]
    assert (numbers(events), events.unsent) == ([1, 2], 2)
    events.sent(1)
    assert events.add(Body(b""))
    assert (numbers(events), events.unsent, len(events)) == ([2, 3], 2, 2)
    assert (events.clear(), len(events), events.unsent) == (2, 0, 0)


def test_a_stream_goes_on_after_the_last_event_and_says_what_is_missing():
    events = Events(3, 255)
    for number in range(1, 6):
        events.add(Body(b""))
        events.sent(min(number, 4))
    assert events.id_of(events.after(4)) == "ff-5"
    assert events.resume("") == (4, 0), "what was never sent"
    assert events.resume("ff-5") == (5, 0)
    assert events.resume("ff-3") == (3, 0)
    assert events.resume("ff-2") == (2, 0)
    assert events.resume("ff-1") == (2, 1)
    for other in ("fe-4", "ff-6", "ff--1", "ff-²", "x" * 5_000, "ff-" + "9" * 5_000):
        assert events.resume(other) == (2, None), "of another registration, or none"


def test_a_source_is_an_address_or_the_network_of_one_owner():
    assert source_of("192.0.2.7") == "192.0.2.7"
    assert source_of("2001:db8::7") == source_of("2001:db8::8") == "2001:db8::/64"
    assert source_of("fe80::1%eth0") == "fe80::/64"


def test_requests_of_a_source_are_limited_in_each_second():
    rates = Rates(2)
    assert [rates.allows("a", 5.1) for _ in range(3)] == [True, True, False]
    assert rates.allows("b", 5.9)
    assert len(rates) == 2
    assert rates.allows("a", 6.0)
    assert len(rates) == 1
    assert Limits().with_clients_per_source(800).connections_per_source == 1_000


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 1 << 65) | st.floats() | st.text(max_size=3) | st.just("DONE"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("antp"), inner, max_size=4),
    max_leaves=8,
)
NAMES = "id client instance attributes port callback p2p req context kind epoch propagation chain attempt position"


@settings(max_examples=examples(80))
@given(st.dictionaries(st.sampled_from(NAMES.split()), JSON, max_size=15))
def test_any_document_is_read_or_refused_with_a_sentence(document):
    for read in (requests.read_registration, requests.read_call, requests.read_report):
        try:
            read(document)
        except requests.Wrong as wrong:
            assert wrong.status in (400, 413)
            assert str(wrong)


@settings(max_examples=examples(80))
@given(st.binary(max_size=40) | JSON.map(lambda value: json.dumps(value).encode()), st.booleans())
def test_any_body_is_an_object_or_refused(data, is_zipped):
    headers = {"content-encoding": "gzip"} if is_zipped else {}
    try:
        document = read_document(gzip.compress(data) if is_zipped else data, headers, 200)
    except requests.Wrong as wrong:
        assert wrong.status in (400, 413)
    else:
        assert document == json.loads(data)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (
            b"{bad",
            "the body: b'{bad' is not JSON: Expecting property name enclosed in double quotes in line 1, column 2",
        ),
        (b"\xff", "the body: b'\\xff' is not UTF-8: invalid start byte at byte 0"),
    ],
)
def test_what_is_wrong_with_a_body_is_said_once(data, sentence):
    with pytest.raises(requests.Wrong) as caught:
        read_document(data, {}, 200)
    assert str(caught.value) == sentence


def test_a_signature_is_that_of_the_products_webhooks():
    from brokerweb.notices import payload

    assert signature(b"{}", "secret") == payload.signature(b"{}", "secret")
