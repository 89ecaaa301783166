"""What the filters of lists and streams select."""

from __future__ import annotations

from typing import Any

import pytest

from brokerweb.systems.context_broker.context.selection import distance_km, selection_of
from overlay.core.errors import InvalidSetting
from overlay.systems.context_broker.clients.feed_reader import Record
from overlay.systems.context_broker.wire.feed_messages import Change

NOW = 1_000_000


def matches(payload: str = "degC=21.5;state=On", entity: str = "r1", age_ms: int = 0, **parameters: str) -> bool:
    key = ("room", entity, "temp")
    record = Record(Change.ENTRY, "p", key, NOW - age_ms, 0, 2 * NOW, payload.encode())
    return selection_of(tuple(sorted(parameters.items()))).matches(record, NOW)


@pytest.mark.parametrize(
    ("q", "is_one"),
    [
        ("degC > 21", True),
        ("degC > 3", True),
        ("degC <= 21.50", True),
        ("degC = 2.15e1", True),
        ("degC != 20", True),
        ("degC < abc", True),
        ("state = on", True),
        ("state ~ O", True),
        ("state in (off, on)", True),
        ("state not in (off, on)", False),
        ("degC > 22 or state = on", True),
        ("degC > 22 and state = on", False),
        ("not degC > 22", True),
        ("lux > 0", False),
        ("lux != 0", False),
        ("lux = none and degC = any", True),
        ("21.5;STATE", True),
        ("missing", False),
    ],
)
def test_q_compares_numbers_as_numbers_and_texts_in_any_case(q: str, is_one: bool) -> None:
    assert matches(q=q) is is_one


@pytest.mark.parametrize(
    ("pattern", "entity", "is_one"),
    [
        ("r*", "r1", True),
        ("r*", "hall", False),
        ("r?", "r12", False),
        ("r[0-4]", "r3", True),
        ("^r.*$", "r12", True),
        ("*a*b", "xaab", True),
        ("r.1", "r-1", False),
        ("[", "[", True),
    ],
)
def test_a_pattern_is_of_the_complete_id(pattern: str, entity: str, is_one: bool) -> None:
    assert matches(entity=entity, id_pattern=pattern) is is_one


@pytest.mark.parametrize(
    ("payload", "is_one"),
    [
        ("lat=47.37;lon=8.54", True),
        ("latitude=47.37;longitude=8.54", True),
        ("lat=47.37;lng=8.54", True),
        ("lat=46.2;lon=6.14", False),
        ("lat=99;lon=8.54", False),
        ("lat=x;lon=8.54", False),
        ("degC=1", False),
    ],
)
def test_near_is_a_distance_on_the_globe(payload: str, is_one: bool) -> None:
    assert matches(payload, near="47.4,8.5", within_km="10") is is_one


def test_a_distance_is_known() -> None:
    assert 222 < distance_km((47.37, 8.54), (46.2, 6.14)) < 226  # Zurich and Geneva


def test_age_and_attributes() -> None:
    assert matches(age_ms=1_500, max_age_s="1.5")
    assert not matches(age_ms=1_501, max_age_s="1.5")
    assert matches(attribute="degC, state")
    assert not matches(attribute="degC,lux")
    assert not matches("no pairs", attribute="degC")


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"q": "degC"} | {"max_age_s": "soon"}, "max_age_s"),
        ({"max_age_s": "nan"}, "max_age_s"),
        ({"id_pattern": "*a" * 9}, "id_pattern"),
        ({"id_pattern": "a" * 201}, "id_pattern"),
        ({"attribute": "a," * 21}, "attribute"),
        ({"q": "(degC = 1"}, "q"),
        ({"near": "1,2,3", "within_km": "1"}, "near"),
        ({"near": "91,0", "within_km": "1"}, "near"),
        ({"near": "0,0", "within_km": "-1"}, "within_km"),
        ({"within_km": "1"}, "near"),
    ],
)
def test_a_wrong_filter_names_its_parameter(parameters: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidSetting) as raised:
        matches(**parameters)
    assert raised.value.field == field


def test_equal_parameters_are_one_selection() -> None:
    assert selection_of((("q", "a = 1"),)) is selection_of((("q", "a = 1"),))
