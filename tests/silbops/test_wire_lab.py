"""SilboPS in the wire lab: messages value by value, forms, verdicts, conversations, sending, pages."""

from __future__ import annotations

import msgpack
import pytest
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st

from brokerweb.systems.silbops.wirelab.__main__ import PAGE, SCRIPT, made_page, made_script
from brokerweb.systems.silbops.wirelab.conversations import held
from brokerweb.systems.silbops.wirelab.lab import LAB
from brokerweb.systems.silbops.wirelab.table import MESSAGES, TABLE
from brokerweb.systems.silbops.wirelab.verdicts import settled
from brokerweb.wirelab.channel.village import chances_of
from brokerweb.wirelab.lab import Judgement, WrongFields
from overlay.messages.errors import BadMessage
from overlay.systems.silbops.wire.codec import SIENA, SILBOPS
from tests.silbops.drawn_messages import messages
from tests.silbops.test_wire import CODES, HOSTILE
from tests.thorough import examples
from tests.wire_lab import said_to, without_gap

NOW = 1_795_338_000_000


def reads(data):
    for codec in (SILBOPS, SIENA):
        try:
            codec.parse(data)
        except BadMessage:
            continue
        return True
    return False


def check(data):
    """Its segments are all of it, in order and without a gap, and it is wrong exactly where no arm reads it."""
    found = without_gap(data, MESSAGES.dissect(data, NOW))
    assert bool(found.problems) != reads(data), found.problems


@settings(max_examples=examples(50))
@given(messages, st.data())
def test_a_message_whole_or_damaged_is_taken_apart_without_a_gap_and_its_form_gives_it_back(message, data):
    whole = SILBOPS.encode(message)
    check(whole)
    at = data.draw(st.integers(0, len(whole) - 1))
    check(whole[:at])
    check(whole[:at] + data.draw(st.binary(max_size=3)) + whole[at + 1 :])
    assert SILBOPS.parse(MESSAGES.compose(MESSAGES.code_of(whole), MESSAGES.given(whole), NOW)) == message
    assert MESSAGES.summary(whole).startswith(type(message).__name__.upper())


@settings(max_examples=examples(150))
@given(
    st.binary(max_size=60)
    | st.tuples(CODES, st.lists(HOSTILE, max_size=7)).map(lambda pair: msgpack.packb([pair[0], *pair[1]]))
)
def test_any_bytes_are_taken_apart_without_a_gap(data):
    check(data)


def test_values_are_told_as_people_write_them():
    told = {one.name: one for one in MESSAGES.dissect(MESSAGES.compose(24, {}, NOW), NOW).segments}
    assert told["scope"].text == "this.x - 20 <= pub.x and pub.x <= this.x + 20"
    assert told["owner"].text == "0123456789abcdef0123456789abcdef"
    assert "speed" in [one.text for one in MESSAGES.dissect(MESSAGES.compose(24, {}, NOW), NOW).segments]


def test_a_form_has_the_values_of_its_arm_and_says_all_that_is_wrong_at_once():
    for one in LAB.messages:
        data = LAB.compose(one.code, {}, NOW)
        assert LAB.decode(data, NOW).problems == (), one.name
        assert LAB.form_code(data) == one.code
    siena = {"arm": "siena", "filter": '[["@x", "<=", 32.5]]', "scope": ""}
    data = MESSAGES.compose(13, siena, NOW)
    assert (TABLE.choice_of(data), MESSAGES.given(data)["arm"]) == ("siena", "siena")
    assert {one.key for one in MESSAGES.blanks(13, {})} >= {"arm", "filter"}
    assert "arm" not in {one.key for one in MESSAGES.blanks(17, {})}
    with pytest.raises(WrongFields) as error:
        MESSAGES.compose(13, {"req": "-1", "filter": "[", "scope": "this.x <", "ttl_ms": "x", "extra": "0"}, NOW)
    assert set(error.value.errors) == {"req", "filter", "scope", "ttl_ms", "extra"}
    assert "character" in error.value.errors["scope"]
    with pytest.raises(WrongFields, match="no functions of context"):
        MESSAGES.compose(13, {"arm": "siena"}, NOW)


@pytest.mark.parametrize(
    ("code", "given_", "judgement", "sentence"),
    [
        (1, {}, Judgement.ACCEPTED, "accepts it."),
        (10, {}, Judgement.ACCEPTED, "accepts it."),
        (12, {}, Judgement.REFUSED, "REFUSED 3 unknown id"),
        (13, {}, Judgement.ACCEPTED, "accepts it."),
        (13, {"extra": "00"}, Judgement.REFUSED, "REFUSED 1 malformed"),
        (15, {}, Judgement.ACCEPTED, "no immediate answer"),
        (17, {}, Judgement.IGNORED, "dropped and counted"),
        (24, {}, Judgement.ACCEPTED, "no immediate answer"),
        (101, {}, Judgement.ACCEPTED, "accepts it."),
        (103, {}, Judgement.ACCEPTED, "answers it."),
        (107, {}, Judgement.REFUSED, "no such session"),
    ],
)
def test_the_verdict_is_a_brokers(code, given_, judgement, sentence):
    verdict = LAB.judge(LAB.decode(LAB.compose(code, given_, NOW), NOW), NOW)
    assert (verdict.judgement, sentence in verdict.sentence) == (judgement, True), verdict


@pytest.mark.parametrize(("code", "heard"), [(1, ["ATTACHED"]), (10, ["OK"]), (13, ["OK"]), (12, ["REFUSED"])])
def test_a_message_is_said_in_a_session_and_what_it_sets_is_ended(code, heard):
    village = settled(NOW)
    said = said_to(LAB, LAB.compose(code, {}, NOW), village, "b0", chances_of("lab").walks, NOW)
    assert said[-1:] == heard
    assert village.nodes["b0"].statistics(village.now)["rows_subscriptions"] == 0


def test_every_message_of_a_conversation_opens_and_the_move_of_a_square_sends_no_subscription():
    names = {one.title: [LAB.name_of(line.data) for line in one.lines] for one in held()}
    (away,) = [said for title, said in names.items() if "no subscription is sent" in title]
    assert "CTX" in away
    assert not {"SUB", "UNSUB", "SUBSCRIBE", "UNSUBSCRIBE"} & set(away)
    assert {"MOVE", "TAKE", "PEER", "ADV", "SUB", "UNSUB", "REFUSED"} <= {
        name for one in names.values() for name in one
    }
    for one in held():
        for line in one.lines:
            if (form := LAB.given(line.data)) is not None:
                assert LAB.compose(LAB.form_code(line.data), form, NOW) == line.data
            else:
                assert LAB.decode(line.data, NOW).problems


def test_the_page_and_the_dissector_are_up_to_date():
    again = "python -m brokerweb.systems.silbops.wirelab"
    assert PAGE.read_text() == made_page(), again
    assert SCRIPT.read_text() == made_script(), again


def test_pages_show_messages_and_what_is_wrong(db, django_user_model):
    looking = Client()
    looking.force_login(django_user_model.objects.create_user("olga"))
    opened = looking.get(f"/silbops/wire/?d={LAB.compose(101, {}, NOW).hex()}").content.decode()
    assert "record 1 length</button>" in opened
    assert "OK: req 4" in opened
    form = looking.get("/silbops/wire/compose/?code=13&req=x")
    assert (form.status_code, "is no integer" in form.content.decode()) == (400, True)
    assert "no subscription is sent" in looking.get("/silbops/wire/conversations/").content.decode()
    assert "silbops.lua" in looking.get("/silbops/wire/wireshark/").content.decode()
