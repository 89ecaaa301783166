"""Entities as entries of a network, and back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brokerweb.ngsi.entries import SCOPE, Entry, Put, Withdraw, entity_of, replaced, steps
from brokerweb.ngsi.ld.bodies import read_entity as read_ld
from brokerweb.ngsi.ld.bodies import read_fragment
from brokerweb.ngsi.ld.merging import merged, typed
from brokerweb.ngsi.ld.rendering import Shape as LdShape
from brokerweb.ngsi.ld.terms import plain_id
from brokerweb.ngsi.model import Attribute, Entity, attribute, metadatum
from brokerweb.ngsi.pairs import attributes_of, pairs_of
from brokerweb.ngsi.problems import Problem
from brokerweb.ngsi.scopes import scopes_of
from brokerweb.ngsi.times import read_time, write_time
from brokerweb.ngsi.v2.bodies import read_entity
from brokerweb.ngsi.v2.rendering import Shape
from brokerweb.ngsi.values import text_of, value_of
from overlay.systems.context_broker.clients.payload import format_pairs, parse_pairs
from tests.ngsi.strategies import NAMES, VALUES, attributes, entities
from tests.thorough import examples


def same(one: Any, other: Any) -> bool:
    """Equal, and not only as ``1 == True`` is."""
    return repr(one) == repr(other)


def entry(scope: str, pairs: dict[str, str] | None, stored_ms: int = 1, text: str = "", **more: Any) -> Entry:
    return Entry("room", "r1", scope, pairs, text, stored_ms, more.pop("end_ms", 100), **more)


@given(VALUES)
@settings(max_examples=examples(200))
def test_a_value_is_a_text_of_a_pair_and_back(value: Any) -> None:
    text = text_of(value)
    assert same(value_of(text), value)
    assert parse_pairs(f"x={text}") == {"x": text}


@pytest.mark.parametrize(
    ("value", "text"),
    [(21.5, "21.5"), ("on", "on"), ("21.5", '"21.5"'), (True, "true"), (None, "null"), ([1, "a"], '[1,"a"]'), ("", ""),
     ("a;b", '"a\\u003bb"'), ({"x": "="}, '{"x":"\\u003d"}'), ("007", "007"), ("ä", "ä")],
)  # fmt: skip
def test_texts_are_what_a_client_without_ngsi_would_write(value: Any, text: str) -> None:
    assert text_of(value) == text
    assert same(value_of(text), value)


@given(st.text(max_size=30) | st.dictionaries(st.text(max_size=9), st.text(max_size=9), max_size=4), NAMES)
@settings(max_examples=examples(200))
def test_every_payload_has_attributes(payload: Any, scope: str) -> None:
    pairs = parse_pairs(payload) if isinstance(payload, str) else payload
    found = attributes_of(pairs, str(payload), scope)
    assert not {"id", "type"} & found.keys()


@given(entities())
@settings(max_examples=examples(200))
def test_an_entity_is_entries_and_the_same_entity_again(entity: Entity) -> None:
    plan = steps([], changed=entity.attributes)
    assert [type(one) for one in plan] == [Put]
    text = format_pairs(pairs_of(plan[0].attributes))
    found = entity_of([Entry(entity.type, entity.id, SCOPE, parse_pairs(text), text, 1, 2)])
    assert found is not None
    assert same(found.attributes, entity.attributes)
    assert (found.id, found.type) == (entity.id, entity.type)


@given(entities())
@settings(max_examples=examples(200))
def test_an_entity_is_v2_json_and_the_same_entity_again(entity: Entity) -> None:
    usable = {name: one for name, one in entity.attributes.items() if one.type != "a=b" and "a=b" not in str(one)}
    clean = Entity(entity.id, entity.type, usable)
    again = read_entity(Shape().entity(clean), is_short=False)
    assert same(again.attributes, clean.attributes)
    assert (again.id, again.type) == (entity.id, entity.type)


def test_pairs_of_a_provider_are_attributes_and_its_plain_text_is_one() -> None:
    found = attributes_of({"degC": "21.5", "on": "true", "user@host": "x", "id": "7"}, "", "temp")
    assert found == {"degC": attribute(21.5), "on": attribute(True), "user@host": attribute("x")}
    assert attributes_of(None, "21.5", "temp") == {"temp": attribute(21.5)}
    typed = attributes_of(
        {"t": "1", "t@type": "Celsius", "t@acc": "2", "t@acc@type": "E", "t@observedAt": "x"}, "", "s"
    )
    assert typed["t"].type == "Celsius"
    assert {name: (one.value, one.type) for name, one in typed["t"].metadata.items()} == {
        "acc": (2, "E"),
        "observedAt": ("x", "DateTime"),
    }


def test_an_entity_has_the_attributes_of_all_scopes_and_the_later_of_two() -> None:
    found = entity_of(
        [
            entry("temp", {"degC": "1", "by": "p"}, 5, provider="p"),
            entry("temp", {"degC": "2"}, 9, provider="q", end_ms=70),
            entry("air", {"co2": "400", "degC": "3"}, 7),
        ]
    )
    assert found == Entity("r1", "room", {"co2": attribute(400), "degC": attribute(2)}, 9, 100)
    assert entity_of([]) is None


def test_a_change_goes_where_the_attribute_is_and_a_new_one_to_the_scope_of_the_request() -> None:
    entries = [entry("temp", {"degC": "1", "by": "p"}, end_ms=70), entry("air", {"co2": "400"}, end_ms=80)]
    new, warm = attribute("x"), attribute(2)
    assert steps(entries, changed={"degC": warm, "new": new}) == [
        Put(SCOPE, {"new": new}, None),
        Put("temp", {"degC": warm, "by": attribute("p")}, 70),
    ]
    assert steps(entries, changed={}, removed=["co2", "by"]) == [
        Withdraw("air"),
        Put("temp", {"degC": attribute(1)}, 70),
    ]
    assert steps(entries, changed={}, until_ms=90) == [
        Put("air", {"co2": attribute(400)}, 90),
        Put("temp", {"degC": attribute(1), "by": attribute("p")}, 90),
    ]
    emptied = steps(entries, changed={}, removed=["co2", "by", "degC"])
    assert emptied == [Put(SCOPE, {}, 80), Withdraw("air"), Withdraw("temp")], "an entity without attributes exists"
    assert replaced(entries, {"a": new}, "air", None) == [Put("air", {"a": new}, 80), Withdraw("temp")]
    assert steps(entries, changed={}) == []


@given(st.dictionaries(st.sampled_from("abcd"), attributes(), max_size=3), st.sets(st.sampled_from("abcd")), st.lists(
    st.tuples(st.sampled_from(["s", "t", SCOPE]), st.dictionaries(st.sampled_from("abcd"), attributes(), max_size=3)),
    max_size=3, unique_by=lambda one: one[0]))  # fmt: skip
@settings(max_examples=examples(200))
def test_after_the_steps_the_entity_is_what_was_asked_for(
    changed: dict[str, Attribute], removed: set[str], before: list[tuple[str, dict[str, Attribute]]]
) -> None:
    entries = {scope: entry(scope, pairs_of(given), number) for number, (scope, given) in enumerate(before)}
    old = entity_of(entries.values())
    for number, step in enumerate(steps(list(entries.values()), changed=changed, removed=removed - changed.keys()), 10):
        if isinstance(step, Withdraw):
            entries.pop(step.scope)
        else:
            entries[step.scope] = entry(step.scope, pairs_of(step.attributes), number)
    expected = dict(old.attributes if old else {}) | changed
    for name in removed - changed.keys():
        expected.pop(name, None)
    found = entity_of(entries.values())
    assert found is not None
    assert {name: repr(one) for name, one in found.attributes.items()} == {k: repr(v) for k, v in expected.items()}


def test_service_paths_are_scopes() -> None:
    assert "anything" in scopes_of("", is_write=True)
    assert scopes_of("/", is_write=True).home == SCOPE
    one = scopes_of("/temp", is_write=True)
    assert ("temp" in one, "temp/x" in one, one.home) == (True, False, "temp")
    some = scopes_of("/a/#, /b", is_write=False)
    assert [scope in some for scope in ("a", "a/x", "b", "b/x", "ax")] == [True, True, True, False, False]
    for wrong, is_write in [("temp", False), ("/a,/b", True), ("/a/#", True), ("/ä", False), ("/a b", False)]:
        with pytest.raises(Problem):
            scopes_of(wrong, is_write=is_write)


def test_times_are_read_in_utc_and_written_with_milliseconds() -> None:
    assert read_time("2026-11-28T12:00:00.5Z") == read_time("2026-11-28T13:00:00,500+01:00") == 1795867200500
    assert write_time(1795867200500) == "2026-11-28T12:00:00.500Z"
    assert read_time("2026-11-28") == read_time("2026-11-28T00:00:00")
    for wrong in ("", "2026-13-01", "yesterday", None, 5, "0001-01-01T00:00:00+23:59", "2026-11-28T12:00:00.5Zx"):
        assert read_time(wrong) in (None, -62135683140000)


LD_TYPES = st.none() | st.sampled_from(
    ["DateTime", "Relationship", "LanguageProperty", "geo:json", "JsonProperty", "Celsius"]
)
POINT = {"type": "Point", "coordinates": [1, 2]}
LD_VALUES = (
    st.integers()
    | st.text("ab;=", max_size=4)
    | st.sampled_from(["urn:a:b", "2026-11-28T12:00Z", ["x"], {"en": "y"}, POINT])
)


@given(st.dictionaries(NAMES, st.tuples(LD_VALUES, LD_TYPES, st.booleans()), max_size=3))
@settings(max_examples=examples(200))
def test_an_entity_is_ld_json_and_the_same_json_again(given_attributes: dict[str, Any]) -> None:
    metadata = {"unitCode": metadatum("unitCode", "CEL"), "near": metadatum("near", "urn:x:y", "Relationship")}
    stored = {
        name: attribute(value, type, metadata if has_more else {})
        for name, (value, type, has_more) in given_attributes.items()
    }
    body = LdShape().entity(Entity("urn:a:b", "Room", stored))
    again = read_ld(body)
    assert same(LdShape().entity(Entity(again.id, str(again.type), again.attributes)), body)
    for name, one in again.attributes.items():
        assert same(one.value, stored[name].value)
        assert one.metadata.keys() == stored[name].metadata.keys()


def test_both_standards_read_what_the_other_stored() -> None:
    given_by_ld = read_ld(
        {
            "id": "urn:ngsi-ld:Room:r1",
            "type": ["https://uri.etsi.org/ngsi-ld/default-context/Room"],
            "temp": {"type": "Property", "value": 21, "unitCode": "CEL", "observedAt": "2026-11-28T12:00:00Z"},
            "owner": {"object": "urn:p:1"},
            "place": POINT,
            "since": {"value": {"@type": "DateTime", "@value": "2026-11-28T12:00:00Z"}},
            "https://uri.etsi.org/ngsi-ld/location": {"type": "GeoProperty", "value": POINT},
            "speed": 5,
        }
    )
    assert given_by_ld.type == "Room"
    shown = Shape().entity(Entity("x", "Room", given_by_ld.attributes))
    assert shown["temp"]["metadata"] == {
        "unitCode": {"type": "Text", "value": "CEL"},
        "observedAt": {"type": "DateTime", "value": "2026-11-28T12:00:00Z"},
    }
    types = {name: one["type"] for name, one in shown.items() if isinstance(one, dict)}
    assert types == {
        "temp": "Number",
        "owner": "Relationship",
        "place": "geo:json",
        "since": "DateTime",
        "location": "geo:json",
        "speed": "Number",
    }
    by_v2 = {
        "t": attribute(1, "Celsius", {"TimeInstant": metadatum("TimeInstant", "2026-11-28T12:00:00Z")}),
        "r": attribute("not a URI", "Relationship"),
        "createdAt": attribute(1),
    }
    assert LdShape().entity(Entity("r1", "Room", by_v2)) == {
        "id": "urn:ngsi-ld:Room:r1",
        "type": "Room",
        "t": {"type": "Property", "value": 1, "observedAt": "2026-11-28T12:00:00Z"},
        "r": {"type": "Property", "value": "not a URI"},
    }
    assert plain_id("urn:ngsi-ld:Room:r1") == ("Room", "r1")
    assert plain_id("urn:ngsi-ld:Room:a:b") is plain_id("urn:x:y") is None


def test_parts_of_attributes_are_merged() -> None:
    old = {
        "t": attribute(1, "Celsius", {"unitCode": metadatum("unitCode", "CEL")}),
        "o": attribute("urn:a:b", "Relationship"),
    }
    entity = Entity("urn:e:1", "T", old)
    found = read_fragment(merged(entity, {"t": {"value": 2}, "o": {"object": "urn:a:c"}, "n": 5}), "urn:e:1")
    assert typed(old["t"], found.attributes["t"]) == attribute(2, "Celsius", old["t"].metadata)
    assert found.attributes["o"] == attribute("urn:a:c", "Relationship")
    assert (
        read_fragment(merged(entity, {"t": {"unitCode": "urn:ngsi-ld:null"}}), "urn:e:1").attributes["t"].metadata == {}
    )
    assert read_fragment(merged(entity, {"t": None, "o": "urn:ngsi-ld:null"}), "urn:e:1").removed == ("t", "o")
    with pytest.raises(Problem):
        merged(entity, {"t": {"type": "Relationship", "object": "urn:a:b"}})
