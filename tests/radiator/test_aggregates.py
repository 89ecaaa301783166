"""Aggregation: the body of a propagation."""

from __future__ import annotations

from typing import Any

import pytest

from overlay.systems.radiator.context import Context, parse_body
from overlay.systems.radiator.language.aggregates import Aggregation
from overlay.systems.radiator.language.scenarios import SCENARIOS
from overlay.systems.radiator.language.source import InvalidExpression

MESSAGES = [
    Context(("Alice",), 10, 20, {"speed": 50, "road": "A1", "location": {"latitude": 38.721, "longitude": -9.139}}),
    Context(("Bob",), 5, 15, {"speed": 70, "road": "A1", "location": {"latitude": 38.719, "longitude": -9.141}}),
    Context(("Alice",), 30, 40, {"speed": 20, "road": "A2", "location": {"latitude": 38.80, "longitude": -9.139}}),
]
R = {"location": {"latitude": 38.72, "longitude": -9.14}}


def attributes(text: str, messages: list[Context] = MESSAGES) -> Any:
    (context,) = Aggregation(text).aggregate(messages, R, "bob")
    return context.attributes


def test_join_and_concat_are_words() -> None:
    assert Aggregation("join").aggregate(MESSAGES[:1], R, "bob") == MESSAGES[:1]
    assert Aggregation("join").aggregate(MESSAGES, R, "bob")[0].attributes["speed"] == [50, 70, 20]
    assert Aggregation(" concat ").aggregate(MESSAGES, R, "bob") == MESSAGES
    assert parse_body(Aggregation("join").body(MESSAGES[:1], R, "bob")) == MESSAGES[:1]
    assert parse_body(Aggregation("concat").body(MESSAGES, R, "bob")) == MESSAGES
    assert Aggregation("concat").body(MESSAGES[:1], R, "bob")[:2] == b"[{"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("avg(speed) by road", [["A1", 60.0], ["A2", 20.0]]),
        ("sum(speed) by road", [["A1", 120], ["A2", 20]]),
        ("min(speed)", 20),
        ("max(speed)", 70),
        ("count(speed)", 3),
        ("list(speed) by s.road", [["A1", [50, 70]], ["A2", [20]]]),
        ("newest(speed) by road", [["A1", 70], ["A2", 20]]),
        ("count(people)", 2),
        ("count(people) by road", [["A1", 2], ["A2", 1]]),
        ("list(people)", ["Alice", "Bob"]),
        ("newest(people)", ("Alice",)),
        ("count(speed) by cell(location)", [[[38.72, -9.14], 2], [[38.8, -9.14], 1]]),
        ("list(people) by distance(s.location, r.location)", [[0, ["Alice", "Bob"]], [8, ["Alice"]]]),
        ("count(speed) by 'a;b'", [["a;b", 3]]),
        ("count(speed) by speed > 30", [[True, 2], [False, 1]]),
    ],
)
def test_an_aggregate_is_an_attribute_with_its_text_as_name(text: str, value: Any) -> None:
    assert attributes(text) == {text: value}


def test_several_aggregates_and_everything_else_as_join_has_it() -> None:
    aggregation = Aggregation("avg(speed) ;count( people )\nby road")
    (context,) = aggregation.aggregate(MESSAGES, R, "bob")
    assert context == Context(
        ("Alice", "Bob"), 5, 40, {"avg(speed)": 140 / 3, "count(people) by road": [["A1", 2], ["A2", 1]]}, 3
    )
    assert aggregation.aggregate(MESSAGES[:1], R, "bob")[0].attributes["avg(speed)"] == 50, "also for one message"


def test_what_does_not_fit_is_left_out_and_counted() -> None:
    odd = [
        Context(("Alice",), 0, 0, {"speed": "fast", "road": "A1"}),
        Context(("Alice",), 0, 0, {"speed": True, "road": "A1"}),
        Context(("Alice",), 0, 0, {"road": "A1"}),
        Context(("Alice",), 0, 0, {"speed": 4}),
        Context(("Alice",), 0, 0, {"speed": 5, "road": "A1"}),
    ]
    aggregation = Aggregation("sum(speed) by road")
    assert aggregation.aggregate(odd, R, "bob")[0].attributes == {"sum(speed) by road": [["A1", 5]]}
    assert aggregation.left_out == 4
    huge = [Context(("Alice",), 0, 0, {"speed": 1e308})] * 2
    assert attributes("sum(speed); count(speed); max(heat)", huge) == {
        "sum(speed)": None,
        "count(speed)": 2,
        "max(heat)": None,
    }


def test_values_that_a_client_joined_are_values_of_their_own() -> None:
    joined = Context(("Alice", "Bob"), 0, 9, {"speed": [10, 20, "fast"]}, 3)
    assert attributes("avg(speed)", [joined, MESSAGES[0]]) == {"avg(speed)": 80 / 3}


def test_keys_are_equal_as_json() -> None:
    keys = [
        Context(("A",), 0, 0, {"x": 1, "k": key})
        for key in (1, True, 1.0, None, [1], {"b": 1, "a": 2}, {"a": 2, "b": 1})
    ]
    found = attributes("count(x) by k", keys)["count(x) by k"]
    assert [count for _, count in found] == [1, 1, 1, 1, 1, 2]


@pytest.mark.parametrize(
    ("text", "is_per_recipient"),
    [
        ("join", False),
        ("count(people) by cell(location)", False),
        ("count(people); list(x) by distance(location, r.location)", True),
        ("count(people) by r.id", True),
        ("count(people) by friend(s, r)", True),
    ],
)
def test_aggregates_that_name_the_recipient_are_per_recipient(text: str, is_per_recipient: bool) -> None:
    assert Aggregation(text).is_per_recipient is is_per_recipient


@pytest.mark.parametrize("name", SCENARIOS)
def test_aggregations_of_the_paper_are_accepted(name: str) -> None:
    assert Aggregation(SCENARIOS[name].aggregation).is_per_recipient is (name == "5")


EXAMPLE = "this must be join, concat, or aggregates such as avg(speed) by cell(location)"


@pytest.mark.parametrize(
    ("text", "offset", "reason"),
    [
        ("", 0, EXAMPLE),
        ("avg", 0, EXAMPLE),
        ("avg(speed) bye", 0, EXAMPLE),
        ("count(x); ", 10, EXAMPLE),
        ("join; count(x)", 0, EXAMPLE),
        ("mean(x)", 0, "'mean' is no aggregate; they are avg, sum, count, list, newest, min, max"),
        ("avgg(x)", 0, "'avgg' is no aggregate; they are avg, sum, count, list, newest, min, max; did you mean avg?"),
        ("count(1x)", 6, "'1x' is no name of an attribute"),
        ("avg(people)", 4, "avg takes numbers; people are names"),
        ("count(x); count(x)", 9, "'count(x)' is there twice"),
        ("count(x) by", 11, "an expression is missing"),
        ("count(x); list(x) by cell(y", 25, "this is not an expression: '(' was never closed"),
        ("count(x) by s.y +\n  q()", 20, "'q' is no function of the language"),
        ("count(x) by {volume: 1}", 12, "a threshold stands only at the ends of conditionals"),
        ("x" * 2_001, 2_000, "the text has 2,001 characters; at most 2,000 are accepted"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_what_is_refused_is_pointed_at(text: str, offset: int, reason: str) -> None:
    with pytest.raises(InvalidExpression) as refused:
        Aggregation(text)
    assert (refused.value.at, refused.value.sentence) == (offset, reason)
