"""ContextNet in the wire lab: datagrams field by field, forms, verdicts, conversations, pages."""

from __future__ import annotations

import pytest
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st

from brokerweb.systems.contextnet.wirelab import lua, page
from brokerweb.systems.contextnet.wirelab.__main__ import PAGE, SCRIPT
from brokerweb.systems.contextnet.wirelab.conversations import held
from brokerweb.systems.contextnet.wirelab.dissecting import wrong_of
from brokerweb.systems.contextnet.wirelab.lab import LAB
from brokerweb.wirelab.lab import Judgement, WrongFields
from overlay.systems.contextnet.transport.packets import PROTECTED, read_packet
from overlay.systems.contextnet.transport.secrets import NO_SECRET
from tests.thorough import examples
from tests.wire_lab import without_gap

NOW = 1_795_338_000_000
SAID = [line.data for one in held() for line in one.lines]


def check(data):
    """Its segments are all of it, and it is wrong exactly where the transport drops it, whatever its tag."""
    found = without_gap(data, LAB.decode(data, NOW))
    assert bool(found.problems) == bool(wrong_of(data)), (found.problems, wrong_of(data))
    return found


@settings(max_examples=examples(100))
@given(st.sampled_from(SAID), st.data())
def test_a_datagram_whole_or_damaged_is_taken_apart_and_its_form_gives_it_back(whole, data):
    assert not check(whole).problems
    assert LAB.compose(LAB.code_of(whole), LAB.given(whole), NOW) == whole
    at = data.draw(st.integers(0, len(whole) - 1))
    check(whole[:at])
    check(whole[:at] + data.draw(st.binary(max_size=3)) + whole[at + 1 :])


@settings(max_examples=examples(150))
@given(
    st.binary(max_size=60)
    | st.tuples(st.integers(16, 31), st.binary(max_size=300)).map(lambda of: bytes([of[0]]) + of[1])
)
def test_any_bytes_are_taken_apart_without_a_gap(data):
    check(data)
    LAB.judge(LAB.decode(data, NOW), NOW)


def test_a_form_has_a_valid_datagram_with_a_right_tag_and_says_all_that_is_wrong_at_once():
    for one in LAB.messages:
        data = LAB.compose(one.code, {}, NOW)
        assert (LAB.code_of(data), LAB.decode(data, NOW).problems) == (one.code, ()), one.name
        if one.code in PROTECTED:
            assert read_packet(data, NO_SECRET, 8).cid == 281474976710657
    assert LAB.decode(LAB.compose(5, {}, NOW), NOW).inside == '{\n  "x": 1\n}'
    echoed = LAB.compose(6, {"flags": "9", "echo": "3", "held_us": "70"}, NOW)
    assert read_packet(echoed, NO_SECRET, 8).echo == (3, 70)
    with pytest.raises(WrongFields) as error:
        LAB.compose(3, {"window": "x", "reset_token": "00", "gateways": "nowhere", "key": "0", "extra": "?"}, NOW)
    assert set(error.value.errors) == {"window", "reset_token", "gateways", "key", "extra"}


@pytest.mark.parametrize(
    ("code", "given_", "judgement", "sentence"),
    [
        (1, {}, Judgement.ACCEPTED, "and accepts it then."),
        (1, {"epoch": "0"}, Judgement.REFUSED, "refuses it then: EPOCH"),
        (1, {"key": "11" * 32}, Judgement.ACCEPTED, "depends on the secret"),
        (1, {"extra": "00"}, Judgement.IGNORED, "Surplus at byte 256"),
        (2, {}, Judgement.IGNORED, "RETRY is for nodes"),
        (5, {}, Judgement.REFUSED, "answers RESET"),
        (11, {"reason": "9"}, Judgement.IGNORED, "must not be 9"),
    ],
)
def test_the_verdict_is_a_gateways(code, given_, judgement, sentence):
    verdict = LAB.judge(LAB.decode(LAB.compose(code, given_, NOW), NOW), NOW)
    assert (verdict.judgement, sentence in verdict.sentence) == (judgement, True), verdict


def test_a_hello_is_followed_by_one_with_the_cookie():
    hello, retry, again, accept = SAID[:4]
    assert LAB.follow_up(hello, retry) == again
    assert LAB.follow_up(again, accept) is None
    assert [LAB.name_of(one) for one in SAID[:4]] == ["HELLO", "RETRY", "HELLO", "ACCEPT"]


def test_the_page_and_the_dissector_are_up_to_date():
    again = "python -m brokerweb.systems.contextnet.wirelab"
    assert PAGE.read_text() == page.page(), again
    assert SCRIPT.read_text() == lua.script(), again


def test_pages_show_datagrams_and_what_is_wrong(db, django_user_model):
    looking = Client()
    looking.force_login(django_user_model.objects.create_user("olga"))
    opened = looking.get(f"/contextnet/wire/?d={LAB.compose(11, {}, NOW).hex()}").content.decode()
    assert "reason</button>" in opened
    assert "answers RESET" in opened
    form = looking.get("/contextnet/wire/compose/?code=7&value=x")
    assert (form.status_code, "whole number from 0" in form.content.decode()) == (400, True)
    assert "connect first, then leave" in looking.get("/contextnet/wire/conversations/").content.decode()
    assert "contextnet.lua" in looking.get("/contextnet/wire/wireshark/").content.decode()
