"""What the page of a subscription says of a notification: which predicates decide, and what negations overlook."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given

from overlay.systems.federation.language.compiler import compiled
from overlay.systems.federation.language.explaining import explained, warnings
from overlay.systems.federation.language.text import parse
from tests.federation.drawn import expressions, notifications

ROOM = SimpleNamespace(
    scope="climate", entity_type="room", entity_id="r17", timestamp=0, data={"temperature": 21.5, "floor": "3"}
)


def said(text):
    found = explained(parse(text), ROOM)
    return found.holds, [(one.predicate, one.holds, one.why) for one in found.decisive]


def test_the_failing_part_of_a_conjunction_is_named_with_its_value():
    assert said("entity.id = r17 and temperature > 25") == (
        False,
        [("temperature > 25", False, "temperature is 21.5")],
    )
    assert said("humidity > 1") == (False, [("humidity > 1", False, "humidity is missing")])
    assert said("floor = 3") == (False, [("floor = 3", False, "floor is “3”, of another type")])


def test_what_holds_is_said_too_also_under_a_negation():
    assert said("not temperature > 25 or humidity exists") == (
        True,
        [("not temperature > 25", True, "temperature is 21.5")],
    )
    assert said("not temperature > 20") == (False, [("not temperature > 20", False, "temperature is 21.5")])
    assert said("not (not temperature > 20)") == (True, [("temperature > 20", True, "temperature is 21.5")])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "not x > 3",
            ["“not x > 3” also holds where there is no “x”. If that is not meant, write: x exists and not x > 3"],
        ),
        ("x exists and not x > 3", []),
        ("not entity.id = r17", []),
        ("not (not x > 3)", []),
        ("not x exists", []),
    ],
)
def test_a_negation_that_holds_without_the_parameter_is_warned_of(text, expected):
    assert warnings(parse(text)) == expected


@given(expressions, notifications())
def test_the_explanation_agrees_with_the_matcher(expression, notification):
    assert explained(expression, notification).holds is compiled(expression)(notification)
