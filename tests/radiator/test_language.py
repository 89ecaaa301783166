"""The expression language: values, failures, and errors that point at a character."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.core.binary import canonical
from overlay.core.errors import InvalidSetting
from overlay.core.settings import check, setting
from overlay.systems.radiator.language.aggregability import aggregability, constant_threshold
from overlay.systems.radiator.language.chainability import Chainability
from overlay.systems.radiator.language.scenarios import SCENARIOS
from overlay.systems.radiator.language.source import MAX_CHARACTERS, InvalidExpression

LISBON = {"latitude": 38.7223, "longitude": -9.1393}
PORTO = {"latitude": 41.1579, "longitude": -8.6291}
S = {"location": LISBON, "speed": 50, "kind": "bump", "tags": ["a", 1], "friends": ["Carol"], "flag": True, "no": None}
R = {"location": PORTO, "speed": 50.0, "friends": ["Alice", "Carol"], "num_of_shares": 4, "people": 7}
FAILED = ("people", 99)


def result(text: str, s: dict[str, Any] = S, r: dict[str, Any] = R) -> tuple[str, int]:
    """Of a message by Alice for the client "bob"."""
    return aggregability(text, "{people: 99}").evaluate(s, ("Alice",), r, "bob")


def test_a_threshold_is_chosen_by_conditionals() -> None:
    text = "{volume: 1} if friend(s, r) else {'time': 30} if s.speed > 100 else {\"people\": 10}"
    assert result(text) == ("volume", 1)
    assert result(text, r={"friends": []}) == ("people", 10)
    assert result(text, s={"speed": 101}, r={"friends": []}) == ("time", 30)


@pytest.mark.parametrize(
    ("text", "threshold"),
    [
        ("{volume: 2.9}", ("volume", 2)),
        ("{volume: 0}", ("volume", 1)),
        ("{people: -3}", ("people", 1)),
        ("{time: 0.9}", ("time", 0)),
        ("{time: -1}", ("time", 0)),
        ("{time: 9223372036854775808}", ("time", 1 << 63)),
        ("{volume: s.speed - 2 * 3}", ("volume", 44)),
        ("{volume: 7 / 2}", ("volume", 3)),
        ("{volume: 7 // 2 + 7 % 4}", ("volume", 6)),
        ("{volume: -(-s.speed)}", ("volume", 50)),
        ("{volume: +s.speed}", ("volume", 50)),
        ("{volume: min(3, 2.5, s.speed) + max(1, 2)}", ("volume", 4)),
        ("{volume: abs(-3) + int(2.9) + round(2.5)}", ("volume", 7)),
        ("{volume: len(s.tags) + len(s.kind) + len(s.people) + len(s.location)}", ("volume", 9)),
        ("{volume: distance_km(s.location, r.location)}", ("volume", 274)),
        ("{volume: distance(s.location, r.location)}", ("volume", 274)),
        ("{volume: 3 if s.speed == r.speed else 4}", ("volume", 3)),
        ("{volume: 3 if 40 < s.speed <= 50 < 60 else 4}", ("volume", 3)),
        ("{volume: 3 if 'bum' in s.kind and 'a' in s.tags and 'latitude' in s.location else 4}", ("volume", 3)),
        ("{volume: 3 if 'x' not in s.tags and 'Alice' in s.people else 4}", ("volume", 3)),
        ("{volume: 3 if r.id == 'bob' else 4}", ("volume", 3)),
        ("{volume: r.people}", ("volume", 7)),
        ("{volume: 3 if friend_of_friend(s, r) else 4}", ("volume", 3)),
        ("{volume: 3 if s.flag and not s.no else 4}", ("volume", 3)),
        ("{volume: 3 if s.kind < 'c' else 4}", ("volume", 3)),
        ("{volume:\n   3 if s.flag  # a remark\n   else 4}", ("volume", 3)),
    ],
)
def test_values(text: str, threshold: tuple[str, int]) -> None:
    assert result(text) == threshold


@pytest.mark.parametrize(
    ("text", "is_true"),
    [
        ("s.flag == 1", False),
        ("s.flag == True", False),  # only numbers and strings are ever equal
        ("s.flag != True", True),
        ("s.no == None", False),
        ("s.tags == s.tags", False),
        ("s.speed == '50'", False),
        ("True in s.tags", False),
        ("1 in s.tags", True),
        ("1.0 in s.tags", True),
        ("1 in s.location", False),
    ],
)
def test_equality_is_of_numbers_and_of_strings(text: str, is_true: bool) -> None:
    assert result(f"{{volume: 2}} if {text} else {{volume: 3}}") == ("volume", 2 if is_true else 3)


@pytest.mark.parametrize(
    "value",
    [
        "s.missing",
        "r.missing",
        "s.kind",
        "s.flag",
        "s.flag + 1",
        "s.kind * 3",
        "s.kind % 2",
        "s.kind + s.kind",
        "-s.flag",
        "+s.kind",
        "1 / 0",
        "1 % (s.speed - 50)",
        "s.speed < s.kind",
        "1 < s.flag",
        "1 in s.speed",
        "1 in s.kind",
        "len(s.speed)",
        "min(1, s.kind)",
        "abs(s.flag)",
        "int(s.kind)",
        "round(s.no)",
        "distance_km(s.location, s.speed)",
        "distance_km(s.location, s.tags)",
        "1e308 * 10",
        "1e308 * 10 - 1e308 * 10",
        "9223372036854775807 + 2",
        "1e300 + 1",
        "int(1e300)",
        "1 if friend(s, r) and s.missing else 2",
    ],
)
def test_what_fails_gives_the_constant_and_is_counted(value: str) -> None:
    function = aggregability(f"{{volume: {value}}}", "{people: 99}")
    assert function.evaluate(S, ("Alice",), R, "bob") == FAILED
    assert function.evaluate(S, ("Alice",), R, "bob") == FAILED
    assert function.errors == 2


def test_a_constant_threshold_of_no_number_is_refused() -> None:
    with pytest.raises(InvalidExpression, match="a threshold's value is a number"):
        aggregability("{volume: 'five'}")


def test_what_is_not_reached_cannot_fail() -> None:
    assert result("{volume: 1 if s.flag or s.missing else s.missing}") == ("volume", 1)


def test_friends_that_are_no_list_fail() -> None:
    assert result("{volume: 1} if friend(s, r) else {volume: 2}", r={"friends": "Alice"}) == FAILED
    assert result("{volume: 1} if friend(s, r) else {volume: 2}", r={"friends": [[], 1, "Bob"]}) == ("volume", 2)
    text = "{volume: 1} if friend_of_friend(s, r) else {volume: 2}"
    assert result(text, r={"friends": [[], "Carol"]}) == ("volume", 1)


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("", (0, 1, 1), "an expression is missing"),
        ("{volume: 1", (0, 1, 1), "this is not an expression: '{' was never closed"),
        ("{volume: 1}}", (11, 1, 12), "this is not an expression: unmatched '}'"),
        ("1) + (2", (1, 1, 2), "this is not an expression: unmatched ')'"),
        ("1) + (2 +\n3", (0, 1, 1), "one expression is expected here, in balanced parentheses"),
        ("5", (0, 1, 1), "a threshold is expected here, such as {volume: 5}"),
        ("{}", (0, 1, 1), "a threshold has exactly one of volume, people, time"),
        ("{volume: 1, time: 2}", (0, 1, 1), "a threshold has exactly one of volume, people, time"),
        ("{**s.x}", (0, 1, 1), "a threshold has exactly one of volume, people, time"),
        ("{volum: 1}", (1, 1, 2), "a threshold is one of volume, people, time; did you mean volume?"),
        ("{users: 1}", (1, 1, 2), "users are called people here"),
        ("{volume: {time: 1}}", (9, 1, 10), "a threshold stands only at the ends of conditionals"),
        ("{volume: 1} or {volume: 2}", (0, 1, 1), "a threshold is expected here, such as {volume: 5}"),
        ("{volume: speed}", (9, 1, 10), "'speed' is unknown; write s.speed or r.speed"),
        ("{volume: s}", (9, 1, 10), "s alone is no value; write s.NAME"),
        ("{volume: min}", (9, 1, 10), "min is a function; write min(…)"),
        ("{volume: 1 if true else 2}", (14, 1, 15), "write True"),
        ("{volume: roud(1)}", (9, 1, 10), "'roud' is no function of the language; did you mean round?"),
        ("{volume: cell(s.x)}", (9, 1, 10), "'cell' is no function of the language"),
        ("{volume: s.x.y}", (9, 1, 10), "a dot follows only a message or client; write s.y or r.y"),
        ("{volume: s.x.y()}", (9, 1, 10), "only named functions can be called"),
        ("{volume: (1).real}", (10, 1, 11), "a dot follows only a message or client; write s.real or r.real"),
        ("{volume: min(1)}", (9, 1, 10), "min takes two or more arguments, not 1"),
        ("{volume: abs(1, 2)}", (9, 1, 10), "abs takes one argument, not 2"),
        ("{volume: distance(s.x)}", (9, 1, 10), "distance takes two arguments, not 1"),
        ("{volume: round(1, ndigits=2)}", (26, 1, 27), "round takes no named arguments"),
        ("{volume: min(*s.x, 1)}", (13, 1, 14), "an unpacked argument is not part of the language"),
        ("{volume:\n  1 if friend(r, s) else 2}", (16, 2, 8), "write friend(s, r)"),
        ("{volume: 2 ** 9}", (9, 1, 10), "this operator is not part of the language; the operators are + - * / // %"),
        ("{volume: ~1}", (9, 1, 10), "~ is not part of the language"),
        ("{volume: 1 if s.x is None else 2}", (21, 1, 22), "is is not part of the language; write == or !="),
        ("{volume: 'é' + ü}", (15, 1, 16), "'ü' is unknown; write s.ü or r.ü"),
        ("{volume: f'{s.x}'}", (9, 1, 10), "a formatted string is not part of the language"),
        ("{volume: [1]}", (9, 1, 10), "a list is not part of the language"),
        ("{volume: s.x[0]}", (9, 1, 10), "an index is not part of the language"),
        ("{volume: (lambda: 1)()}", (10, 1, 11), "only named functions can be called"),
        ("{volume: [x for x in s.x]}", (9, 1, 10), "a loop is not part of the language"),
        ("{volume: (x := 1)}", (10, 1, 11), "an assignment is not part of the language"),
        ("{volume: b'1'}", (9, 1, 10), "a constant is a number, a string, True, False or None"),
        ("{volume: 1j}", (9, 1, 10), "a constant is a number, a string, True, False or None"),
        ("{volume: ...}", (9, 1, 10), "a constant is a number, a string, True, False or None"),
        ("{volume: 1e999}", (9, 1, 10), "this number is not finite"),
        ("{volume: 9223372036854775809}", (9, 1, 10), "an integer is at most 2^63"),
        ("{volume: -1e300}", (9, 1, 10), "a threshold is at most 2^63"),
        ("{volume: s.from}", (11, 1, 12), "this is not an expression: invalid syntax"),
        ("x" * 2_001, (2_000, 1, 2_001), "the text has 2,001 characters; at most 2,000 are accepted"),
        ("{volume: " + "-" * 50 + "1}", (58, 1, 59), "it is nested more than 50 deep"),
        ("{volume: " + "-" * 1_900 + "1}", (58, 1, 59), "it is nested more than 50 deep"),
        ("{volume: min(" + "1," * 498 + "1)}", (1_005, 1, 1_006), "the text has more than 500 parts"),
        ("python:missing", (7, 1, 8), "no installed package has a function 'missing' in the group waxwing.radiator"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_what_is_refused_is_pointed_at(text: str, position: tuple[int, int, int], reason: str) -> None:
    with pytest.raises(InvalidExpression) as refused:
        aggregability(text)
    error = refused.value
    assert ((error.at, error.line, error.column), error.sentence) == (position, reason)
    assert str(error) == f"aggregability: line {error.line}, column {error.column}: {reason}"
    assert isinstance(error, InvalidSetting) and error.field == "aggregability"


def test_an_aggregability_is_the_language_of_a_setting() -> None:
    @dataclass(frozen=True)
    class Settings:
        aggregability: str = setting("{volume: 1}", help="G.", most=MAX_CHARACTERS, language=aggregability)

        def __post_init__(self) -> None:
            check(self)

    assert Settings("{time:\n 30}")
    with pytest.raises(InvalidSetting, match="aggregability: line 2, column 2: 'x' is unknown; write"):
        Settings("{time:\n x}")


def test_texts_at_the_limits_are_accepted() -> None:
    assert result("{volume: " + "-" * 48 + "1}") == ("volume", 1)
    assert result("{volume: min(" + "1," * 495 + "1)}") == ("volume", 1)
    assert result("{volume: 1}" + " " * 1_989) == ("volume", 1)


def test_operands_of_chained_comparisons_are_evaluated_once() -> None:
    text = "1"
    for _ in range(40):
        text = f"(1 != {text} != 1)"
    assert result(f"{{volume: 2}} if {text} else {{volume: 3}}") == ("volume", 2), "not 2^40 evaluations"


def test_a_text_reaches_nothing_but_attributes() -> None:
    assert result("{volume: s.__class__}") == FAILED
    assert result("{volume: s.__class__}", s={"__class__": 4}) == ("volume", 4)
    for name in ("__import__", "open", "eval", "fail", "add", "S", "operand_1", "constant_0"):
        with pytest.raises(InvalidExpression):
            aggregability(f"{{volume: {name}}}")
        with pytest.raises(InvalidExpression):
            aggregability(f"{{volume: {name}(1)}}")


@pytest.mark.parametrize(
    ("text", "reads", "reads_id"),
    [
        ("{volume: 5}", set(), False),
        ("{volume: s.location}", set(), False),
        ("{time: r.a} if r.b or friend(s, r) else {volume: r.a}", {"a", "b", "friends"}, False),
        ("{volume: 1} if friend_of_friend(s, r) else {volume: 2}", {"friends"}, False),
        ("{volume: 1} if r.id == 'bob' else {volume: 2}", set(), True),
    ],
)
def test_what_a_text_reads_of_the_recipient(text: str, reads: set[str], reads_id: bool) -> None:
    function = aggregability(text)
    assert (function.reads, function.reads_id) == (reads, reads_id)


def test_recipients_with_equal_values_of_what_is_read_are_of_one_class() -> None:
    function = aggregability("{volume: r.a}")
    assert function.class_key({"a": 1, "b": 2}, "bob") == function.class_key({"a": 1, "b": 3}, "eve")
    others = [
        function.class_key(attributes, "bob") for attributes in ({"a": 1}, {"a": 1.0}, {"a": True}, {"a": None}, {})
    ]
    assert len(set(others)) == 5
    by_id = aggregability("{volume: 1} if r.id == 'bob' else {volume: 2}")
    assert by_id.class_key({}, "bob") != by_id.class_key({}, "eve")


def test_the_constant_of_failures_is_a_constant() -> None:
    assert constant_threshold("{time: 30}") == ("time", 30)
    assert constant_threshold("{time: -30}") == ("time", 0)
    for text in ("{time: s.x}", "{time: 1 + 1}", "{time: 1} if s.x else {time: 2}", "5"):
        with pytest.raises(InvalidExpression) as refused:
            constant_threshold(text)
        assert refused.value.field == "on_error"


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_scenarios_of_the_paper(name: str) -> None:
    expected = {"custom": ("volume", 1), "1": ("time", 300), "2": ("volume", 5), "3": ("volume", 1), "4": ("time", 30)}
    expected |= {"5": ("volume", 274), "6": ("time", 200)}
    assert result(SCENARIOS[name].aggregability) == expected[name]


def test_strangers_and_friends_of_friends() -> None:
    stranger, indirect = {"friends": ["Dave"]}, {"friends": ["Carol"]}
    assert result(SCENARIOS["3"].aggregability, r=stranger) == ("people", 10)
    assert result(SCENARIOS["4"].aggregability, r=stranger) == ("time", 300)
    assert result(SCENARIOS["4"].aggregability, r=indirect) == ("volume", 5)


def test_chainability_is_positive_or_forbids() -> None:
    near = Chainability("1 / (1 + distance_km(a.location, b.location))")
    lisbon, porto = {"location": LISBON}, {"location": PORTO}
    assert near.value(lisbon, "x", lisbon, "y") == 1
    assert 0 < near.value(lisbon, "x", porto, "y") < 0.01
    assert near.value(lisbon, "x", {}, "y") == 0
    assert near.errors == 1
    assert Chainability("-1").value({}, "x", {}, "y") == 0
    assert Chainability("2 if a.id < b.id else 0").value({}, "x", {}, "y") == 2
    truth = Chainability("a.id != b.id")
    assert truth.value({}, "x", {}, "y") == 0, "true is no number"
    assert truth.errors == 1
    for text in ("friend(a, b)", "s.x", "{volume: 1}"):
        with pytest.raises(InvalidExpression, match="chainability: line 1"):
            Chainability(text)


# ---- total: whatever compiles is evaluated without an exception

NUMBERS = st.integers(-5, 5) | st.floats(-3, 3, width=16)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.sampled_from([1 << 62, 1 << 70, 1e308, "a", "b", ""]),
    lambda inner: st.lists(inner, max_size=2) | st.fixed_dictionaries({"latitude": inner, "longitude": inner}),
    max_leaves=4,
)
ATTRIBUTES = st.dictionaries(st.sampled_from(["x", "y", "friends"]), VALUES, max_size=3)
LEAVES = st.sampled_from(
    ["s.x", "s.y", "r.x", "r.y", "s.people", "r.id", "1", "2.5", "'a'", "True", "None", "-3", "1e308"]
)


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = ["+", "-", "*", "/", "//", "%", "==", "!=", "<", "<=", ">", ">=", "in", "and", "or", "not in"]
    calls = ["min", "max", "distance", "distance_km"]
    return (
        st.builds("({} {} {})".format, inner, st.sampled_from(operators), inner)
        | st.builds("({} < {} != {})".format, inner, inner, inner)
        | st.builds("{}({})".format, st.sampled_from(["abs", "int", "round", "len", "-"]), inner)
        | st.builds("(not {})".format, inner)
        | st.builds("{}({}, {})".format, st.sampled_from(calls), inner, inner)
        | st.builds("({} if {} else {})".format, inner, inner, inner)
        | st.sampled_from(["friend(s, r)", "friend_of_friend(s, r)"])
    )


TEXTS = st.recursive(LEAVES, _larger, max_leaves=8)


@given(TEXTS, st.sampled_from(["volume", "people", "time"]), ATTRIBUTES, ATTRIBUTES)
def test_every_evaluation_gives_a_threshold_and_depends_on_what_is_read(
    value: str, kind: str, s: dict[str, Any], r: dict[str, Any]
) -> None:
    try:
        function = aggregability(f"{{{kind}: {value}}} if {value} else {{volume: 3}}", "{people: 99}")
    except InvalidExpression as refused:
        assert refused.sentence in ("a threshold's value is a number", "a threshold is at most 2^63")
        return
    before = canonical([s, r])
    found = function.evaluate(s, ("a", "c"), r, "a")
    assert found[0] in ("volume", "people", "time") and type(found[1]) is int
    assert 0 <= found[1] <= 1 << 63 and (found[1] or found[0] == "time")
    assert (found == FAILED) == (function.errors == 1)
    assert function.reads is not None
    read = {name: one for name, one in r.items() if name in function.reads}
    assert function.evaluate(s, ("a", "c"), read, "a" if function.reads_id else "other") == found
    assert canonical([s, r]) == before, "nothing is changed"


@given(TEXTS, ATTRIBUTES, ATTRIBUTES)
def test_what_does_not_fail_means_what_python_means(value: str, s: dict[str, Any], r: dict[str, Any]) -> None:
    """Except equality, which is of numbers and strings only: such texts are left out."""
    if any(word in value for word in ("==", "!=", " in ", "distance", "friend")):
        return
    function = Chainability(value.replace("s.people", "a.z").replace("s.", "a.").replace("r.", "b."))
    found = function.value({**s, "z": ["a", "c"]}, "a", r, "a")
    if function.errors:
        assert found == 0
        return
    names = {"s": _Bag({**s, "people": ["a", "c"]}), "r": _Bag({**r, "id": "a"})}
    python = eval(value, {}, names)  # the text is ours
    assert found == max(0, python) and math.isfinite(found)


class _Bag:
    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)


@given(st.text("{volumetime:}()srx.1+-*/%<>=!\"' \n,#if else[]", max_size=40))
def test_any_text_is_compiled_or_refused_at_a_character(text: str) -> None:
    try:
        aggregability(text)
    except InvalidExpression as refused:
        assert 0 <= refused.at <= len(text)
        assert text.count("\n", 0, refused.at) == refused.line - 1
