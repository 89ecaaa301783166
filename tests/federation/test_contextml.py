"""ContextML: the document of the contract, round trips, limits, and hostile documents."""

from __future__ import annotations

from dataclasses import replace

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.messages.errors import BadMessage, Reason
from overlay.systems.federation.contextml.documents import Document, Response, read_document, write_document
from overlay.systems.federation.contextml.elements import Announcement, Flag
from overlay.systems.federation.contextml.encoding import CONTEXTML
from overlay.systems.federation.contextml.scalars import LAST_MS, read_time, write_time
from overlay.systems.federation.contextml.xml import InvalidContextML
from overlay.systems.federation.language.text import parse
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire import values as v
from overlay.systems.federation.wire.codec import encode
from tests.federation.drawn import ADVS, MESSAGES, NOTES, SIDS, SUBS, messages
from tests.thorough import examples

EXAMPLE = """<contextML>
  <ctxSubscrs>
    <ctxSubscr id="c3-17" expires="2026-11-23T10:05:00Z" priority="low" kind="stream">
      <scopes><scope>climate</scope></scopes>
      <constraint>
        <and>
          <pred n="entity.id" op="eq">r17</pred>
          <or><pred n="temperature" op="gt" t="n">25</pred><not><pred n="occupied" op="eq" t="b">true</pred></not></or>
        </and>
      </constraint>
    </ctxSubscr>
  </ctxSubscrs>
  <ctxAdvs>
    <ctxAdv id="cxp-7" role="provider" url="http://10.0.0.7:8080/climate" flag="register">
      <scopes><scope needs="location">climate</scope></scopes>
    </ctxAdv>
  </ctxAdvs>
  <ctxEls>
    <ctxEl>
      <contextProvider id="cxp-7" v="1.0"/>
      <entity type="room" id="r17"/>
      <scope>climate</scope>
      <timestamp>2026-11-23T10:00:00.000Z</timestamp>
      <expires>2026-11-23T10:02:00.000Z</expires>
      <dataPart>
        <par n="temperature" t="n">26.5</par>
        <parS n="position"><par n="x" t="n">1.5</par><par n="floor" t="n">3</par></parS>
        <parA n="history"><par t="n">26.1</par><par t="n">26.4</par></parA>
      </dataPart>
    </ctxEl>
  </ctxEls>
</contextML>"""
"""The document of the contract, ``001-federation-contextml.xml``."""
TEN = 1_795_428_000_000
"""2026-11-23, 10 o'clock, in ms since 1970."""
SUB = v.Subscription(
    v.SubscriptionId("c3", 17),
    ("climate",),
    TEN + 300_000,
    parse("entity.id = r17 and (temperature > 25 or not occupied = true)"),
    v.Priority.LOW,
)
ADV = v.Advertisement(
    "cxp-7", 0, v.Role.PROVIDER, "http://10.0.0.7:8080/climate", ("climate",), {"climate": ("location",)}
)
DATA = {"temperature": 26.5, "position": {"x": 1.5, "floor": 3}, "history": [26.1, 26.4]}
NOTE = v.Notification(v.NotificationId("cxp-7", 0), "room", "r17", "climate", TEN, TEN + 120_000, DATA)


def test_the_document_of_the_contract_is_read_as_it_is_meant():
    document = read_document(EXAMPLE)
    assert document == Document(subscriptions=(SUB,), announcements=(Announcement(ADV),), notifications=(NOTE,))
    assert read_document(write_document(document).encode()) == document


def test_an_expression_is_written_with_words_for_operators():
    text = write_document(Document((replace(SUB, expression=parse("a >= 1 and b in (x, true) and c exists")),)))
    assert '<pred n="a" op="ge" t="n">1</pred>' in text
    assert '<pred n="b" op="in"><par>x</par><par t="b">true</par></pred>' in text
    assert '<pred n="c" op="exists"/>' in text
    assert "<constraint>" not in write_document(Document((replace(SUB, expression=parse("true")),)))


def of_this_age(one):
    """With times that ContextML can write."""
    times = {name: getattr(one, name) % LAST_MS for name in ("timestamp", "expires") if hasattr(one, name)}
    return replace(one, **times)


def test_white_space_and_marks_are_kept_in_texts_and_attributes():
    text = " \r\n\t<>&\"' ]]>\n"
    note = replace(NOTE, entity_id=text, scope=text, data={text: text, "empty": "", "none": {}, "no": []})
    assert read_document(write_document(Document(notifications=(note,)))).notifications == (note,)


def served(one):
    """Without needs of scopes that it does not serve."""
    return replace(one, needs={scope: needed for scope, needed in one.needs.items() if scope in one.scopes})


RESPONSES = st.builds(
    Response,
    st.integers(0, 9),
    st.sampled_from(m.Code),
    st.sampled_from(["", "too late"]),
    st.lists(NOTES.map(of_this_age), max_size=1).map(tuple),
)
ONE_OF_EACH = {
    "subscriptions": SUBS.map(of_this_age),
    "removed": SIDS,
    "announcements": st.builds(Announcement, ADVS.map(served), st.sampled_from(Flag)),
    "notifications": NOTES.map(of_this_age),
    "queries": MESSAGES[m.Query],
    "responses": RESPONSES,
}
DOCUMENTS = st.sampled_from(sorted(ONE_OF_EACH)).flatmap(
    lambda name: st.lists(ONE_OF_EACH[name], max_size=2).map(lambda found: Document(**{name: tuple(found)}))
)


@settings(max_examples=examples(300))
@given(DOCUMENTS)
def test_what_is_written_is_read(document):
    try:
        text = write_document(document)
    except InvalidContextML:  # what XML cannot carry
        return
    assert read_document(text) == document


def aged(message):
    """A message whose values have times that ContextML can write."""
    if hasattr(message, "notification"):
        return replace(message, notification=of_this_age(message.notification))
    return (
        replace(message, added=tuple(map(of_this_age, message.added))) if isinstance(message, m.SubTable) else message
    )


@settings(max_examples=examples(200))
@given(messages.map(aged))
def test_messages_with_contextml_have_the_same_values(message):
    try:
        data = CONTEXTML.encode(message)
    except BadMessage as error:
        assert error.reason in (Reason.ENCODING, Reason.SIZE)  # what XML cannot carry
        return
    assert CONTEXTML.parse(data) == message


def test_only_three_values_of_messages_are_contextml():
    array = msgpack.unpackb(CONTEXTML.encode(m.Publish(9, (v.Publication(NOTE, (SUB.id,)),))))
    assert array[:2] == [5, 9]
    ((element, sids),) = array[2]
    assert element.startswith("<ctxEl><contextProvider id=")
    assert sids == [["c3", 17]]
    assert CONTEXTML.encode(m.Ack(1)) == encode(m.Ack(1))


@pytest.mark.parametrize(
    ("array", "reason", "sentence"),
    [
        ([5, 9, [[[], []]]], Reason.TYPE, r"PUBLISH, publications: \[\] is no text"),
        ([5, 9, [["<ctxEl", []]]], Reason.ENCODING, "it is not XML"),
        ([5, 9, [["<ctxAdv/>", []]]], Reason.TYPE, "'ctxAdv' instead of ctxEl"),
        ([5, 9, [["<ctxEl/>", []]]], Reason.ENCODING, "ctxEl has no contextProvider"),
        ([1, 9, '<ctxAdv id="a" role="consumer" flag="unregister"/>'], Reason.RANGE, "has the flag register"),
    ],
)
def test_what_is_wrong_in_a_message_is_counted_by_a_reason(array, reason, sentence):
    with pytest.raises(BadMessage, match=sentence) as refused:
        CONTEXTML.parse(msgpack.packb(array))
    assert (refused.value.reason, refused.value.kind, refused.value.req) == (reason, array[0], 9)


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        (m.Forward(replace(NOTE, entity_id="")), "1 to 64 bytes"),
        (m.Forward(replace(NOTE, data={"a": "\0"})), "no character of XML"),
        (m.Forward(replace(NOTE, expires=LAST_MS + 1)), "a year up to 9999"),
        (m.Register(1, replace(ADV, needs={"climate": ("two words",)})), "white space"),
        (m.Register(1, replace(ADV, needs={"light": ()})), "not among the scopes"),
    ],
)
def test_what_cannot_be_read_is_not_written(message, sentence):
    with pytest.raises(BadMessage, match=sentence) as refused:
        CONTEXTML.encode(message)
    assert refused.value.kind in (1, 15)


def test_expressions_have_six_levels_in_messages():
    fit, unfit = (m.Offer((replace(SUB, expression=parse("not " * n + "a = 1")),)) for n in (5, 6))
    assert CONTEXTML.parse(CONTEXTML.encode(fit)) == fit
    with pytest.raises(BadMessage, match="nested more than 8"):
        CONTEXTML.encode(unfit)


def with_data(content):
    return EXAMPLE.replace('<par n="temperature" t="n">26.5</par>', content)


def subscribed(content):
    return f"<contextML><ctxSubscrs>{content}</ctxSubscrs></contextML>"


def constrained(content):
    head = '<ctxSubscr id="c3-17" expires="2026-11-23T10:05:00Z"><scopes><scope>a</scope></scopes>'
    return subscribed(f"{head}<constraint>{content}</constraint></ctxSubscr>")


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><contextML>&b;</contextML>'
EXTERNAL = '<!DOCTYPE x SYSTEM "http://127.0.0.1:1/x.dtd"><contextML/>'
FILE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><contextML>&a;</contextML>'


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ("", "it is not XML"),
        ("<contextML>", "it is not XML"),
        ("no XML", "it is not XML"),
        (BOMB, "a DTD, entities and external references"),
        (EXTERNAL, "a DTD"),
        (FILE, "a DTD"),
        ("<contextML>&a;</contextML>", "it is not XML"),
        (b'<?xml version="1.0" encoding="none-such"?><contextML/>', "unknown encoding|cannot be decoded"),
        ("<contextML>\ud800</contextML>", "cannot be decoded"),
        (b"<contextML>\xff</contextML>", "it is not XML"),
        ("<a>" * 20_000 + "</a>" * 20_000, "more than 65,536"),
        ("<a>" * 9 + "</a>" * 9, "nested more than 8 deep"),
        ("<contextML>" + "<ctxEls/>" * 2_000 + "</contextML>", "more than 2,000 elements"),
        ("<a/>", "'a' instead of contextML"),
        ('<contextML xmlns="urn:x"/>', "instead of contextML"),
        ('<contextML a="1"/>', "unknown attribute, 'a'"),
        ("<contextML><a/></contextML>", "unknown element, 'a'"),
        ("<contextML>words</contextML>", "the text 'words' between"),
        (EXAMPLE.replace("<scope>climate</scope>\n", ""), "ctxEl has no scope"),
        (EXAMPLE.replace("</dataPart>", "</dataPart><dataPart/>"), "ctxEl has dataPart twice"),
        (EXAMPLE.replace('v="1.0"', 'w="1.0"'), "unknown attribute, 'w'"),
        (EXAMPLE.replace("<timestamp>2026-11-23T10:00:00.000Z", "<timestamp>2026-11-23"), "is no time"),
        (EXAMPLE.replace("10:00:00.000Z", "10:00:60.000Z"), "is no time"),
        (EXAMPLE.replace("<timestamp>2026", "<timestamp>1969"), "before 1970"),
        (EXAMPLE.replace('"c3-17"', '"c3"'), "no id such as c3-17"),
        (EXAMPLE.replace('"c3-17"', '"c3-x"'), "no number of 1 to 20 digits"),
        (EXAMPLE.replace('"c3-17"', '"c3-99999999999999999999"'), "not in 0"),
        (EXAMPLE.replace('"low"', '"lowest"'), "'lowest', none of low, normal, high"),
        (EXAMPLE.replace('"provider"', '"broker"'), "'broker', none of consumer, provider"),
        (EXAMPLE.replace('id="r17"', f'id="{"x" * 65}"'), "ctxEl: 'x.* 1 to 64 bytes"),
        (EXAMPLE.replace('op="gt"', 'op="more"'), "'more' is none of the operators eq"),
        (with_data('<par t="n">1</par>'), "no attribute n"),
        (with_data('<par n="history">1</par>'), "two values of the name 'history'"),
        (with_data('<par n="a" t="x">1</par>'), "'x', none of s, n, b"),
        (with_data('<par n="a" t="n">nan</par>'), "'nan' is no number"),
        (with_data('<par n="a" t="n">1e999</par>'), "inf is not finite"),
        (with_data(f'<par n="a" t="n">{"9" * 401}</par>'), "is no number"),
        (with_data(f'<par n="a" t="n">{"9" * 400}</par>'), "more than 64 bits"),
        (with_data('<par n="a" t="b">yes</par>'), "neither true nor false"),
        (with_data('<par n="a"><b/></par>'), "must have a text"),
        (with_data('<par n="a" m="1">1</par>'), "unknown attribute, 'm'"),
        (with_data(f'<par n="a">{"x" * 1_025}</par>'), "more than 1,024 bytes"),
        (with_data('<parA n="a">' + "<par>1</par>" * 256 + "</parA>"), "more than 256 values"),
        (constrained(""), "constraint has 0 elements"),
        (constrained("<not/>"), "not takes one expression"),
        (constrained('<pred n="a" op="in" t="n">1</pred>'), "pred with in has a type"),
        (constrained('<pred n="a" op="between"><par>1</par></pred>'), "takes 2 constants, not 1"),
        (constrained("<and>" + '<pred n="a" op="exists"/>' * 65 + "</and>"), "more than 64 predicates"),
        ('<contextML><ctxQuery id="1" ms="5"/></contextML>', "ctxQuery has no scopes"),
        ('<contextML><ctxQuery id="1" ms="5"><scopes/></ctxQuery></contextML>', "instead of 1 to 64"),
        ('<contextML><ctxResp id="1" code="fine"/></contextML>', "'fine', none of good, unknown"),
    ],
    ids=range(51),
)
def test_what_is_wrong_is_named(document, sentence):
    with pytest.raises(InvalidContextML, match=sentence):
        read_document(document)


def test_limits_are_inclusive():
    deep = '<parS n="a"><parA n="b"><parA><par t="n">1</par></parA></parA></parS>'
    assert read_document(with_data(deep)).notifications[0].data["a"] == {"b": [[1]]}
    assert read_document("<contextML>" + "<ctxEls/>" * 1_999 + "</contextML>") == Document()
    assert read_document("<contextML>" + " " * (65_536 - 23) + "</contextML>") == Document()


def test_a_document_that_is_too_long_is_not_written():
    with pytest.raises(InvalidContextML, match="more than 65,536"):
        write_document(Document(notifications=(replace(NOTE, data={"a": "x" * 1_000}),) * 60))


@settings(max_examples=examples(300))
@given(st.data())
def test_a_changed_document_is_read_or_refused(data):
    text = EXAMPLE
    for _ in range(data.draw(st.integers(1, 3))):
        begin = data.draw(st.integers(0, len(text) - 1))
        end = min(len(text), begin + data.draw(st.integers(0, 9)))
        text = (
            text[:begin]
            + data.draw(st.sampled_from(["", "<", ">", '"', "&#0;", "x", "9", "<par>", "</ctxEl>"]))
            + text[end:]
        )
    try:
        document = read_document(text)
    except InvalidContextML as error:
        assert str(error)
        return
    assert read_document(write_document(document)) == document


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:00.001Z", 1),
        ("2026-11-23T10:00:00.5Z", TEN + 500),
        ("9999-12-31T23:59:59.999Z", LAST_MS),
    ],
)
def test_times_are_milliseconds(text, ms):
    assert read_time(text) == ms
    assert read_time(write_time(ms)) == ms
