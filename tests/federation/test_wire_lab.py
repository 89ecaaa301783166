"""The federation in the wire lab: messages value by value, forms, verdicts, conversations, sending, pages."""

from __future__ import annotations

import msgpack
import pytest
from django.test import Client
from hypothesis import example, given, settings
from hypothesis import strategies as st

from brokerweb.systems.federation.wirelab.__main__ import PAGE, SCRIPT, made_page, made_script
from brokerweb.systems.federation.wirelab.conversations import held
from brokerweb.systems.federation.wirelab.lab import LAB
from brokerweb.systems.federation.wirelab.table import MESSAGES
from brokerweb.systems.federation.wirelab.village import Village
from brokerweb.wirelab.channel.assembling import Assembler
from brokerweb.wirelab.lab import Judgement, WrongFields
from overlay.channel import wire
from overlay.channel.records import cut, record
from overlay.core.errors import InvalidSetting
from overlay.messages.errors import BadMessage
from overlay.systems.federation.contextml.encoding import CONTEXTML
from overlay.systems.federation.wire.codec import CODEC, encode, parse
from tests.federation.drawn import messages
from tests.federation.test_wire import HOSTILE, KIND, REFUSED
from tests.thorough import examples
from tests.wire_lab import said_to, without_gap

NOW = 1_795_338_000_000


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
    return without_gap(data, found or MESSAGES.dissect(data, NOW))


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


HEAD = st.builds(wire.HEAD.pack, st.just(wire.MAGIC), st.integers(0, 12), *[st.integers(0, 9)] * 5)


@settings(max_examples=examples(200))
@given(st.lists(messages.map(encode), max_size=3), st.integers(1, 200), st.data())
def test_a_datagram_whole_or_damaged_is_taken_apart_without_a_gap(several, most, data):
    records = [one for message in several for one in cut(message, most)]
    whole = wire.HEAD.pack(wire.MAGIC, wire.DATA, 1, 2, 3, 4, 5) + b"".join(records)
    found = check(whole, LAB.decode(whole, NOW))
    assert bool(found.problems) == (not records)
    assert Assembler().take(whole) == tuple(several)
    at = data.draw(st.integers(0, len(whole) - 1))
    for damaged in (whole[:at], whole[:at] + data.draw(st.binary(max_size=3)) + whole[at + 1 :]):
        check(damaged, LAB.decode(damaged, NOW))
        assert LAB.summary(damaged) is not None


@settings(max_examples=examples(200))
@given(st.builds(bytes.__add__, HEAD, st.binary(max_size=60)) | st.binary(max_size=40).map(b"\xc5".__add__))
def test_any_bytes_of_the_channel_are_taken_apart_without_a_gap(data):
    check(data, LAB.decode(data, NOW))
    assert LAB.name_of(data)
    assert LAB.follow()(data)


@pytest.mark.parametrize(
    ("data", "name", "problems"),
    [
        ("c503010000", "channel HELLO", ["to at byte 4: is cut off"]),
        (f"c504{'00' * 26}22222222222222220262", "channel WELCOME", ["id at byte 37: is cut off"]),
        (f"c501{'00' * 26}", "channel DATA", ["records are missing after byte 28"]),
        (f"c501{'00' * 26}0000", "channel DATA", ["record 1 length at byte 28: is empty"]),
        (f"c501{'00' * 26}00059208", "channel DATA", ["record 1 length at byte 28: is cut off"]),
        (f"c501{'00' * 26}0003920880", "channel DATA", None),
        ("920880", None, None),
        ("93080100", "LOOKUP", ["scope at byte 3: 0 is no text"]),
        ("9308", "LOOKUP", ["message at byte 0: is cut off: 3 elements should follow"]),
        ("9216", "ACK", ["message at byte 0: is cut off: 2 elements should follow"]),
        ("92160700", "ACK", ["1 bytes follow after the message, at byte 3"]),
    ],
)
def test_what_is_wrong_is_said_with_its_place(data, name, problems):
    found = LAB.decode(bytes.fromhex(data), NOW)
    assert found.problems
    if name:
        assert found.layout.name == name
    if problems:
        assert [one.partition(", ")[0] for one in found.problems][:1] == [problems[0].partition(", ")[0]]


def test_the_vectors_of_the_channel_are_read_as_what_they_say():
    hello = bytes.fromhex(f"c50301{'00' * 25}1111111111111111026230").ljust(96, b"\0")
    told = {one.name: one.text for one in LAB.decode(hello, NOW).segments}
    assert (told["room"], told["incarnation"], told["id"]) == ("256", str(0x11 * 0x0101010101010101), "b0")
    ack = bytes.fromhex("c5020100111111111111111100000000000000030000000000000005")
    sack = next(one for one in LAB.decode(ack, NOW).segments if one.name == "sack")
    assert sack.words == "records ack + 2, ack + 4"
    for data in (hello, ack, wire.welcome(1, 2, b"b0", 256), wire.reset(7), wire.loose(b"c1", b"\x92\x16\x07")):
        assert LAB.decode(data, NOW).problems == (), LAB.name_of(data)
        assert LAB.compose(LAB.form_code(data), LAB.given(data), NOW) == data


def test_values_are_told_in_words_and_contextml_as_xml():
    told = {one.name: one for one in MESSAGES.dissect(MESSAGES.compose(4, {}, NOW), NOW).segments}
    assert told["expression"].text == "temperature > 25"
    assert told["expires"].words == "22 Nov 2026 09:01:00.000 UTC, in 60 s"
    assert told["priority"].words == "normal"
    assert told["req"].help == "Number of the request at its sender; 0 asks for no answer."
    xml = MESSAGES.dissect(MESSAGES.compose(6, {"encoding": "contextml"}, NOW), NOW).inside
    assert xml.startswith('<ctxEl n="1">\n  <contextProvider id="p0"')


# ---- in order


def test_messages_in_several_datagrams_are_joined_whatever_is_repeated_or_late():
    long = MESSAGES.compose(18, {"gone": str([f"b{number}" for number in range(500)]).replace("'", '"')}, NOW)
    parts = [
        wire.HEAD.pack(wire.MAGIC, wire.DATA, 1, 9, (2**32 - 2 + at) % 2**32, 0, 0) + one
        for at, one in enumerate([*cut(long, 1_000), record(b"\x92\x16\x07")])
    ]
    assembler = Assembler()
    came = [assembler.take(one) for one in (parts[0], parts[0], parts[2], parts[3], parts[1], parts[1])]
    assert came == [(), (), (), (), (long, b"\x92\x16\x07"), ()]
    follow = LAB.follow()
    assert [LAB.code_of(part) for one in parts for part in follow(one)][-2:] == [18, 22]


# ---- composed


@settings(max_examples=examples(150))
@given(messages)
def test_a_form_gives_the_message_back(message):
    data = encode(message)
    assert parse(MESSAGES.compose(MESSAGES.code_of(data), MESSAGES.given(data), NOW)) == message
    assert MESSAGES.summary(data).startswith(type(message).__name__.upper())


def test_every_message_and_datagram_has_an_example_that_is_read():
    assert [one.code for one in LAB.messages] == [*range(1, 25), *range(101, 110)]
    for one in LAB.messages:
        data = LAB.compose(one.code, {}, NOW)
        assert LAB.decode(data, NOW).problems == (), one.name
        assert LAB.form_code(data) == one.code
        assert LAB.judge(LAB.decode(data, NOW), NOW).sentence.endswith(".")


def test_all_fields_that_are_wrong_are_said_at_once():
    wrong = {
        "req": "-1",
        "added": '[[["c0", 1], ["climate"], "temperature >", "now", 1, false]]',
        "removed": "[",
        "x": "",
    }
    with pytest.raises(WrongFields) as error:
        MESSAGES.compose(4, {**wrong, "extra": "0", "encoding": "xml"}, NOW)
    assert set(error.value.errors) == {*wrong, "extra", "encoding"}
    assert "is not in 0" in error.value.errors["req"]
    assert "character" in error.value.errors["added"]
    with pytest.raises(InvalidSetting, match="no message has the kind 99"):
        LAB.compose(99, {}, NOW)
    with pytest.raises(InvalidSetting, match="no message has the kind 99"):
        LAB.compose(199, {}, NOW)


# ---- judged


@pytest.mark.parametrize(
    ("code", "given_", "judgement", "sentence"),
    [
        (1, {}, Judgement.ACCEPTED, "accepts it."),
        (2, {}, Judgement.REFUSED, "NACK 1 unknown: Register first."),
        (4, {}, Judgement.ACCEPTED, "accepts it."),
        (4, {"encoding": "contextml"}, Judgement.ACCEPTED, "accepts it."),
        (4, {"extra": "00"}, Judgement.REFUSED, "NACK 3 bad"),
        (5, {}, Judgement.ACCEPTED, "accepts it."),
        (6, {}, Judgement.REFUSED, "A broker does not take this message"),
        (17, {}, Judgement.ACCEPTED, "accepts it."),
        (22, {}, Judgement.IGNORED, "answer to no request"),
        (101, {}, Judgement.ACCEPTED, "accepts it."),
        (103, {}, Judgement.ACCEPTED, "answers it."),
        (107, {}, Judgement.REFUSED, "no such session"),
        (104, {}, Judgement.IGNORED, "unasked"),
        (109, {}, Judgement.ACCEPTED, "answers it."),
    ],
)
def test_the_verdict_is_a_servers(code, given_, judgement, sentence):
    verdict = LAB.judge(LAB.decode(LAB.compose(code, given_, NOW), NOW), NOW)
    assert (verdict.judgement, sentence in verdict.sentence) == (judgement, True), verdict


# ---- said to a server


@pytest.mark.parametrize(
    ("name", "code", "heard"),
    [
        ("b0", 1, ["ACK"]),
        ("b0", 4, ["ACK"]),
        ("b0", 8, ["FOUND"]),
        ("b0", 10, ["ANSWER"]),
        ("b0", 20, ["HERE"]),
        ("bdrs", 19, ["FOUND"]),
        ("b0", 103, ["channel WELCOME"]),
    ],
)
def test_a_message_is_said_in_a_session_that_leaves_nothing(name, code, heard):
    village = Village(NOW)
    village.wait(100)
    assert said_to(LAB, LAB.compose(code, {}, NOW), village, name, village.chance("lab"), NOW) == heard
    if name == "b0" and code != 1:
        assert village.nodes[name].statistics(village.now)["clients"] == 0


# ---- conversations, and what is generated


def test_every_message_of_a_conversation_opens_and_is_composed_again():
    names = {LAB.name_of(line.data) for one in held() for line in one.lines}
    wanted = {"REGISTER", "SUBSCRIBE", "PUBLISH", "NOTIFY", "FORWARD", "HELLO", "BROKERS", "DISCOVER", "HERE", "NACK"}
    assert wanted <= names
    for one in held():
        for line in one.lines:
            if (form := LAB.given(line.data)) is not None:
                assert LAB.compose(LAB.form_code(line.data), form, NOW) == line.data
            else:
                assert LAB.decode(line.data, NOW).problems


def test_the_page_and_the_dissector_are_up_to_date():
    again = "python -m brokerweb.systems.federation.wirelab"
    assert PAGE.read_text() == made_page(), again
    assert SCRIPT.read_text() == made_script(), again


# ---- pages


@pytest.fixture
def looking(db, django_user_model):
    browser = Client()
    browser.force_login(django_user_model.objects.create_user("olga"))
    return browser


def test_pages_show_messages_and_what_is_wrong(looking):
    opened = looking.get(f"/federation/wire/?d={LAB.compose(101, {}, NOW).hex()}").content.decode()
    assert "record 1 length</button>" in opened
    assert "scope</button>" in opened
    assert "FOUND: req 5" in opened
    broken = looking.get("/federation/wire/?d=93080100").content.decode()
    assert "0 is no text" in broken
    form = looking.get("/federation/wire/compose/?code=4&req=x")
    assert (form.status_code, "is no integer" in form.content.decode()) == (400, True)
    assert "A consumer leaves" in looking.get("/federation/wire/conversations/").content.decode()
    assert "federation.lua" in looking.get("/federation/wire/wireshark/").content.decode()
