"""The query languages of both standards."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brokerweb.ngsi.model import attribute, metadatum
from brokerweb.ngsi.patterns import pattern_of
from brokerweb.ngsi.problems import Problem
from brokerweb.ngsi.queries import ld, v2
from brokerweb.ngsi.queries.tree import meets
from tests.thorough import examples

METADATA = {name: metadatum(name, value) for name, value in [("accuracy", 0.5), ("observedAt", "2026-11-28T12:00:00Z")]}
ROOM = {
    "temp": attribute(21.5, None, METADATA),
    "name": attribute("blue, room"),
    "code": attribute("20"),
    "on": attribute(True),
    "tags": attribute(["a", "b", 3]),
    "at": attribute("2026-11-28T12:00:00Z", "DateTime"),
    "address": attribute({"city": "Berlin", "zip": {"code": 10115}}),
    "a.b": attribute(1),
    "none": attribute(None),
}  # fmt: skip


@pytest.mark.parametrize(
    ("q", "is_met"),
    [
        ("temp", True),
        ("cold", False),
        ("!cold", True),
        ("!temp", False),
        ("temp==21.5", True),
        ("temp:21.5", True),
        ("temp==21.50", True),
        ("temp=='21.5'", False),
        ("temp>21;temp<22", True),
        ("temp>=21.5;temp<=21.5;on==true", True),
        ("temp>22", False),
        ("temp==20..22", True),
        ("temp!=20..22", False),
        ("temp==1,21.5", True),
        ("temp!=1,2", True),
        ("cold!=1", False),
        ("name=='blue, room',x", True),
        ("name~=^blue", True),
        ("name~=green", False),
        ("name>alpha", True),
        ("code==20", False),
        ("code=='20'", True),
        ("on==1", False),
        ("tags==b", True),
        ("tags==3", True),
        ("tags!=b", False),
        ("at>2026-11-27", True),
        ("at==2026-11-28T13:00:00+01:00", True),
        ("at<2026-11-28", False),
        ("address.city==Berlin", True),
        ("address.zip.code>10000", True),
        ("address.street", False),
        ("'a.b'==1", True),
        ("a.b", False),
        ("none==null", True),
        ("temp>x", False),
        ("on>0", False),
    ],
)
def test_queries_of_v2(q: str, is_met: bool) -> None:
    assert meets(ROOM, v2.parse(q)) is is_met


@pytest.mark.parametrize(
    ("q", "is_met"),
    [
        ("temp", True),
        ("cold", False),
        ("temp==21.5", True),
        ("temp>21;temp<22", True),
        ("cold|temp", True),
        ("cold;temp|on==true", True),
        ("cold;(temp|on==true)", False),
        ("(cold|temp);on", True),
        ('name=="blue, room"', True),
        ('name=="x","blue, room"', True),
        ('name~="^blue"', True),
        ('name!~="^blue"', False),
        ("temp==20..22", True),
        ("temp.accuracy<1", True),
        ("temp.observedAt>2026-11-28T11:00:00Z", True),
        ("temp.unitCode", False),
        ("address[city]==\"Berlin\"", True),
        ("address[zip.code]==10115", True),
        ('code=="20"', True),
        ("code==20", False),
        ("tags==3", True),
        ("https://example.org/a.b", False),
    ],
)  # fmt: skip
def test_queries_of_ld(q: str, is_met: bool) -> None:
    assert meets(ROOM, ld.parse(q)) is is_met


@pytest.mark.parametrize(
    ("parse", "q", "said"),
    [
        (v2.parse, "", "no path"),
        (v2.parse, "temp==", "nothing to compare"),
        (v2.parse, "temp==1..2..3", "no range"),
        (v2.parse, "temp>'x", "not closed"),
        (v2.parse, "a..b", "no path"),
        (v2.parse, "temp~=(", "no regular expression"),
        (v2.parse, "a==1,", "missing"),
        (v2.parse, "x" * 3_000, "at most 2,000"),
        (v2.parse, "a;" * 60 + "a", "at most 50"),
        (ld.parse, "", "an attribute at its end"),
        (ld.parse, "a==", "a value at its end"),
        (ld.parse, "(a", ") at its end"),
        (ld.parse, "a)", "; or |"),
        (ld.parse, "a=1", "character 2"),
        (ld.parse, "a>1..2", "needs == or !="),
        (ld.parse, "a.b.c==1", "property of it"),
        (ld.parse, "a[b==1", "in brackets"),
        (ld.parse, "(" * 30 + "a" + ")" * 30, "nested"),
        (ld.parse, "|".join("a" * 60), "at most 50"),
        (ld.parse, 'a~="("', "no regular expression"),
        (ld.parse, 'a=="x', "character 4"),
    ],
)
def test_what_is_no_query_is_refused_with_the_reason(parse: Any, q: str, said: str) -> None:
    with pytest.raises(Problem, match=None) as refused:
        parse(q)
    assert said in str(refused.value)


LIKELY = st.lists(
    st.sampled_from(["temp", "name", "==", "!=", ">", "~=", "..", *",;|()'\"[].1x!:"]),
    max_size=8,
).map("".join)  # fmt: skip


@given(LIKELY | st.text(max_size=20), st.sampled_from([v2.parse, ld.parse]))
@settings(max_examples=examples(400))
def test_any_text_is_a_query_or_refused(text: str, parse: Any) -> None:
    try:
        condition = parse(text)
    except Problem as refused:
        assert str(refused).startswith("q: ")
    else:
        assert meets(ROOM, condition) in (True, False)


NUMBERS = st.integers(-50, 50)


@given(
    st.lists(st.tuples(st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), NUMBERS), min_size=1, max_size=4), NUMBERS
)
@settings(max_examples=examples(100))
def test_numbers_are_compared_as_python_does_in_both_languages(parts: list[tuple[str, int]], value: int) -> None:
    names = {"==": "__eq__", "!=": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}
    expected = [bool(getattr(value, names[operator])(other)) for operator, other in parts]
    texts, entity = [f"n{operator}{other}" for operator, other in parts], {"n": attribute(value)}
    assert meets(entity, v2.parse(";".join(texts))) is all(expected)
    assert meets(entity, ld.parse(";".join(texts))) is all(expected)
    assert meets(entity, ld.parse("|".join(texts))) is any(expected)


def test_patterns_take_linear_time_and_bounded_memory() -> None:
    assert pattern_of("q", "(a+)+$").search("a" * 5_000 + "b") is None
    for wrong in ("(", "(?:a{1000}){1000}", "x" * 501, r"(a)\1"):
        with pytest.raises(Problem):
            pattern_of("q", wrong)
