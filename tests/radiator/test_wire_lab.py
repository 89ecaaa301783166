"""Radiator in the wire lab: datagrams field by field, verdicts, forms with all their errors, conversations, pages."""

from __future__ import annotations

import re
from html import unescape
from itertools import pairwise
from urllib.parse import parse_qsl

import pytest
from django.test import Client
from hypothesis import example, given, settings
from hypothesis import strategies as st

from brokerweb.systems.radiator.wirelab.__main__ import PAGE, SCRIPT, made_page, made_script
from brokerweb.systems.radiator.wirelab.conversations import held
from brokerweb.systems.radiator.wirelab.lab import LAB
from brokerweb.wirelab.binary.lua import abbreviations
from brokerweb.wirelab.lab import Judgement, WrongFields
from overlay.core.errors import InvalidSetting, WireError
from overlay.systems.radiator.wire import messages as m
from overlay.systems.radiator.wire.codec import encode, parse
from overlay.systems.radiator.wire.compression import CODECS, deflate
from overlay.systems.radiator.wire.table import FORMAT, LAYOUTS
from tests.radiator.strategies import messages
from tests.thorough import examples

NOW = 1_795_338_000_000
BODY = b'{"a":{},"n":1,"p":["Alice"],"t":[0,0]}'
URL = "/radiator/wire/"


def reads(data):
    try:
        parse(data)
    except WireError:
        return False
    return True


def check(data):
    """Its segments are all of it, in order and without a gap, and it is wrong exactly where the parser refuses it."""
    found = LAB.decode(data, NOW)
    assert b"".join(data[one.offset : one.end] for one in found.segments) == data
    assert all(after.offset == before.end for before, after in pairwise(found.segments))
    assert bool(found.problems) != reads(data), found.problems
    return found


# ---- taken apart


@settings(max_examples=examples(300))
@given(messages, st.data())
def test_a_message_whole_or_damaged_is_taken_apart_without_a_gap(message, data):
    whole = encode(message)
    names = [one.name for one in check(whole).segments if one.kind != "length"]
    assert names[:2] == ["magic", "kind"]
    assert set(names[2:]) <= set(message._fields)
    at = data.draw(st.integers(0, len(whole) - 1))
    check(whole[:at])
    check(whole[:at] + data.draw(st.binary(max_size=3)) + whole[at + 1 :])


@settings(max_examples=examples(300))
@given(
    st.binary(max_size=60)
    | st.integers(0, 15).flatmap(lambda k: st.binary(max_size=60).map(lambda b: b"RD\1%c" % k + b))
)
@example(b"")
@example(b"RD\1")
@example(bytes(65_508))
def test_any_bytes_are_taken_apart_without_a_gap(data):
    check(data)


@pytest.mark.parametrize(
    ("data", "problems"),
    [
        (b"RD\1\x0d\0\0", ["instance at byte 4: is cut off"]),
        (b"RD\1\x03\0\0\0\7", ["instance, id are missing after byte 8"]),
        (b"RD\1\x11", ["kind at byte 3: no message has this kind"]),
        (b"RX\1\x0d" + bytes(8), ["magic at byte 0: is not 524401, the beginning of a message"]),
        (b"RD\1\x0d" + bytes(9), ["Surplus at byte 12: not a field of this message"]),
        (b"RD\1\x06" + bytes(4) + b"\x09\0\0", ["code at byte 8: must not be 9"]),
        (b"RD\1\x03" + bytes(12) + b"\5ab", ["id at byte 17: is cut off"]),
    ],
)
def test_what_is_wrong_is_said_with_its_place(data, problems):
    assert list(check(data).problems) == problems


@pytest.mark.parametrize("codec", range(len(CODECS)))
def test_bodies_are_inflated(codec):
    context = m.Context(1, 7, 0, codec, deflate(BODY, codec))
    push = m.Push(1, 2, 65_535, 0, 0, 0, codec, 0, 1, bytes(8), deflate(BODY, codec))
    assert [LAB.decode(encode(one), NOW).inside for one in (context, push)] == [BODY.decode()] * 2
    assert LAB.decode(encode(push._replace(segments=2)), NOW).inside == "", "a part of a blob"
    assert LAB.decode(encode(context._replace(codec=1, body=b"x")), NOW).inside == "", "damaged"


def test_values_are_told_in_words():
    told = {one.name: one.words for one in LAB.decode(encode(m.Context(1, 7, NOW * 10**6, 1, b"x")), NOW).segments}
    assert told["called_at"] == "22 Nov 2026 09:00:00.000 UTC, now"
    assert told["codec"] == "gzip"
    ack = m.Ack(1, 2, m.DIRECT, 0, 1, b"\xc0" + bytes(31))
    told = {one.name: one.words for one in LAB.decode(encode(ack), NOW).segments}
    assert (told["chain"], told["bitmap"]) == ("a direct push", "2 of the next 256 segments")


# ---- judged


@pytest.mark.parametrize(
    ("message", "judgement", "sentence"),
    [
        (m.Register(1, 7, 0, 1, "Alice", {}), Judgement.ACCEPTED, "repeat it with this token"),
        (m.Context(1, 7, 0, 0, BODY), Judgement.ACCEPTED, "accepts it."),
        (m.Context(1, 7, 0, 0, b"{}"), Judgement.REFUSED, "ACCEPTED 3 malformed"),
        (m.Context(1, 7, 0, 0, b"[" * 20_000), Judgement.REFUSED, "ACCEPTED 4 too large"),
        (m.Unregister(1, 7, "Alice"), Judgement.ACCEPTED, "accepts it."),
        (m.Done(1, 2, 0, 0, 0, 7), Judgement.ACCEPTED, "accepts it."),
        (m.Alive(7), Judgement.ACCEPTED, "no immediate answer"),
        (m.RegisterAgain(7), Judgement.IGNORED, "it is for clients"),
    ],
)
def test_the_verdict_is_a_servers(message, judgement, sentence):
    verdict = LAB.judge(LAB.decode(encode(message), NOW), NOW)
    assert (verdict.judgement, sentence in verdict.sentence) == (judgement, True), verdict


@settings(max_examples=examples(60))
@given(messages, st.booleans())
def test_everything_has_a_verdict(message, is_damaged):
    verdict = LAB.judge(LAB.decode(encode(message)[: -1 if is_damaged else None], NOW), NOW)
    assert verdict.sentence.endswith(".")


# ---- composed


@settings(max_examples=examples(300))
@given(messages)
def test_a_message_is_composed_again_from_its_form(message):
    data = encode(message)
    assert LAB.compose(LAB.code_of(data), LAB.given(data), NOW) == data
    assert LAB.summary(data).startswith(type(message).__name__)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.short)
def test_every_message_has_an_example_and_every_field_a_description(layout):
    data = LAB.compose(layout.code, {}, NOW)
    assert type(parse(data)) is layout.message
    assert layout.purpose.endswith(".")
    for field in layout.fields:
        assert field.meaning.endswith(".")
        assert field.example
        assert len(field.words) == len(field.choices)


def test_a_body_is_compressed_as_the_codec_says_and_bytes_are_taken_as_they_are():
    given_ = {"codec": "1", "body": BODY.decode(), "called_at": "now-1s", "instance": "0x10"}
    assert parse(LAB.compose(5, given_, NOW)) == m.Context(1, 16, (NOW - 1000) * 10**6, 1, deflate(BODY, 1))
    assert parse(LAB.compose(5, {"body": "0x00 ff"}, NOW)).body == b"\0\xff"
    assert LAB.compose(13, {"extra": "0a0b"}, NOW).endswith(b"\x0a\x0b")


def test_all_fields_that_are_wrong_are_said_at_once():
    wrong = {"req": "-1", "instance": "x", "flags": "2", "id": "", "attributes": "[1]", "extra": "0", "colour": "red"}
    with pytest.raises(WrongFields) as error:
        LAB.compose(1, wrong, NOW)
    assert error.value.errors == {
        "colour": "Register has no such field",
        "req": "must be a whole number from 0 to 4,294,967,295, not '-1'",
        "instance": "must be a whole number from 0 to 18,446,744,073,709,551,615, not 'x'",
        "flags": "must not be 2; permitted are 0 the server; 1 other clients, too; 3 other clients by HTTP only, too",
        "id": "has 0 bytes; 1 to 255 are permitted",
        "attributes": "must be a JSON object, not '[1]'",
        "extra": "must be hexadecimal digits, two for each byte, not '0'",
    }


@pytest.mark.parametrize(
    ("code", "given_", "field", "sentence"),
    [
        (99, {}, "code", "no message has the kind 99"),
        (2, {"key": "00"}, "key", "has 1 bytes; 16 are needed"),
        (7, {"position": "9"}, "message", "position 9 in a chain of 3"),
        (5, {"body": "0x" + "00" * 65_507}, "message", "more than a datagram"),
        (5, {"body": "x" * 200_001}, "body", "at most 200,000"),
        (1, {"attributes": '{"a":1,"a":2}'}, "attributes", "twice"),
        (3, {"id": "\ud800"}, "id", "unpaired surrogate"),
    ],
)
def test_what_cannot_be_composed_is_named(code, given_, field, sentence):
    with pytest.raises(InvalidSetting, match=sentence) as error:
        LAB.compose(code, given_, NOW)
    assert error.value.field == field


def test_a_field_that_is_absent_is_not_read():
    assert parse(LAB.compose(2, {"code": "1", "key": "no digits"}, NOW)) == m.Registered(1, 1, 1)


# ---- conversations


def test_a_chain_goes_on_behind_a_silent_member_and_every_datagram_opens():
    said = {one.title.partition(":")[0]: [type(parse(line.data)) for line in one.lines] for one in held()}
    registration = [m.Register, m.Registered] * 2
    assert said["A client registers"] == registration
    chain = said["A member of the chain does not acknowledge"]
    assert chain.count(m.Failed) == 1
    assert chain.index(m.Failed) < chain.index(m.Done)
    for one in held():
        for line in one.lines:
            assert LAB.compose(LAB.code_of(line.data), LAB.given(line.data), NOW) == line.data


# ---- generated


def test_the_page_and_the_dissector_are_up_to_date():
    again = "python -m brokerweb.systems.radiator.wirelab"
    assert PAGE.read_text() == made_page(), again
    assert SCRIPT.read_text() == made_script(), again


def test_every_field_has_one_name_in_filters_and_one_type():
    script = SCRIPT.read_text()
    names = re.findall(r'ProtoField\.\w+\("([\w.]+)"', script)
    assert len(names) == len(set(names))
    for (code, name), short in abbreviations(FORMAT).items():
        assert f"radiator.{short}" in names
        assert re.search(rf'\[{code}\] = {{"\w+", "[^"]*\b{name}:\w+:\d+:{re.escape(short)}[ :"]', script)
    assert not re.search("@[A-Z]+@", script)


# ---- pages


@pytest.fixture
def looking(db, django_user_model):
    browser = Client()
    browser.force_login(django_user_model.objects.create_user("olga"))
    return browser


def test_pages_show_examples_fields_and_what_is_wrong(looking):
    page = looking.get(URL).content.decode()
    links = re.findall(r'href="/radiator/wire/(\?d=[0-9a-f]+)">(\w+)</a>', page)
    assert [name for _, name in links] == [layout.name for layout in LAYOUTS]
    opened = looking.get(f"{URL}{links[4][0]}").content.decode()
    assert "called_at</button>" in opened
    assert "accepted" in opened
    broken = looking.post(URL, {"text": "5244010d00"})
    assert broken.url == f"{URL}?d=5244010d00"
    assert "is cut off" in looking.get(broken.url).content.decode()
    assert "an odd number" in looking.post(URL, {"text": "52 4"}).content.decode()


def test_a_form_keeps_what_was_typed_and_says_all_that_is_wrong(looking):
    answer = looking.get(f"{URL}compose/?code=1&req=x&id=&instance=9")
    page = unescape(answer.content.decode())
    assert answer.status_code == 400
    assert "Must be a whole number from 0 to 4,294,967,295, not 'x'" in page
    assert "Has 0 bytes; 1 to 255 are permitted" in page
    assert 'name="instance" value="9"' in page
    part = unescape(looking.post(f"{URL}composed/", {"code": "1", "req": "x", "id": "Bob"}).content.decode())
    assert '<p class="wrong" id="req-wrong" hx-swap-oob="true">Must be' in part
    assert '<p class="wrong" id="id-wrong" hx-swap-oob="true"></p>' in part


def test_a_conversation_is_loaded_into_the_form(looking):
    page = unescape(looking.get(f"{URL}conversations/").content.decode())
    (link, *_) = re.findall(r'href="/radiator/wire/compose/(\?code=9[^"]*)"', page)
    composed = looking.get(f"{URL}compose/{link}").content.decode()
    failed = next(line.data for one in held() for line in one.lines if LAB.code_of(line.data) == 9)
    assert failed.hex() in composed
    assert dict(parse_qsl(link[1:]))["position"] == "1"


def test_a_field_named_as_the_code_of_the_message_has_its_own_place_in_the_form(looking):
    refused = m.Accepted(3, m.Acceptance.BUSY, 50)
    opened = unescape(looking.get(f"{URL}?d={encode(refused).hex()}").content.decode())
    (link,) = re.findall(r'href="/radiator/wire/compose/(\?code=6&[^"]*)"', opened)
    composed = looking.get(f"{URL}compose/{link}").content.decode()
    assert encode(refused).hex() in composed
    assert 'name="field-code" value="2"' in composed
    part = unescape(looking.post(f"{URL}composed/", {"code": "6", "field-code": "9"}).content.decode())
    assert '<p class="wrong" id="field-code-wrong" hx-swap-oob="true">Must not be 9' in part
