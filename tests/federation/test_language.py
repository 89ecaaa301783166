"""Expressions: limits, evaluation, canonical form, and the text form."""

from __future__ import annotations

import gc
import json
import weakref

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.errors import InvalidSetting
from overlay.core.settings import InvalidText, SettingInfo
from overlay.systems.federation.language.canonical import canonical, identity
from overlay.systems.federation.language.compiler import compiled
from overlay.systems.federation.language.text import formatted, parse
from overlay.systems.federation.language.tree import EVERYTHING, And, InvalidExpression, Not, Or, read, written
from overlay.systems.federation.language.values import accepts
from overlay.systems.federation.wire.values import Notification, NotificationId
from tests.federation.drawn import any_predicates, expressions, notifications
from tests.federation.naive import satisfies
from tests.thorough import examples

DATA = {
    "temperature": 26.5,
    "floor": 3,
    "occupied": True,
    "label": "north wing",
    "position": {"x": 1.5, "inner": {"y": "deep"}},
    "history": [26.1, "warm", [1]],
    "sensors": [{"id": "s1"}, {"id": "s2", "load": 7}],
    "nothing": [],
}
NOTE = Notification(NotificationId("cxp-7", 1), "room", "r17", "climate", 1_000, 2_000, DATA)


@pytest.mark.parametrize(
    ("text", "is_true"),
    [
        ("temperature > 26", True),
        ("temperature >= 26.5 and temperature <= 26.5", True),
        ("temperature > 26.5", False),
        ("floor = 3.0", True),  # numbers compare as numbers
        ('floor = "3"', False),
        ('floor != "3"', False),  # another type is neither equal nor unequal
        ("floor != 4", True),
        ("missing != 4", False),
        ("not missing = 4", True),
        ("not missing > 3", True),
        ("missing exists", False),
        ("occupied = true", True),
        ("occupied = 1", False),
        ("occupied != false", True),
        ("occupied > false", False),  # booleans have no order
        ("floor in (1, 2, 3)", True),
        ("floor in (true, a)", False),
        ("floor between 3 and 4", True),
        ("floor between 4 and 3", False),
        ("label between north and o", True),
        ("label between 1 and z", False),
        ("label prefix north", True),
        ('label contains "h w"', True),
        ("label contains 1", False),
        ("floor prefix 3", False),
        ("label < o", True),
        ("position.x = 1.5", True),
        ("position.inner.y = deep", True),
        ("position.z exists", False),
        ("position exists", True),
        ("position = 1", False),
        ("history = warm and history > 26", True),
        ("history = 1", True),  # an array in an array
        ("history != 1", True),  # one element is enough
        ("nothing exists", True),
        ("nothing != 1", False),
        ("sensors.id = s2 and sensors.load = 7", True),
        ("scope = climate and entity.type = room and entity.id = r17 and timestamp between 1 and 1000", True),
        ("entity.id exists", True),
        ("true", True),
        ("false", False),
        ("not false and not not true", True),
        ("floor = 1 or floor = 2 or floor = 3", True),
        ("(floor = 1 or floor = 3) and occupied = true", True),
    ],
)
def test_values(text, is_true):
    expression = parse(text)
    assert compiled(expression)(NOTE) is is_true
    assert satisfies(expression, NOTE) is is_true


@settings(max_examples=examples(400))
@given(expressions, notifications())
def test_compiled_expressions_and_their_canonical_forms_evaluate_as_the_contract_says(expression, note):
    wanted = satisfies(expression, note)
    assert compiled(expression)(note) is wanted
    assert compiled(canonical(expression))(note) is wanted


@settings(max_examples=examples(300))
@given(expressions | any_predicates)
def test_an_expression_is_read_as_it_is_written_in_lists_and_as_text(expression):
    assert repr(read(written(expression))) == repr(expression)  # to Python, 1 and True are equal
    assert identity(parse(formatted(expression))) == identity(expression)
    assert identity(canonical(expression)) == identity(expression)


def test_an_and_or_or_of_one_part_is_that_part():
    inner = parse("a = 1 and b = 2")
    for expression in (Not(And((inner,))), And((Or((Or((inner, parse("c = 3"))),)), inner)), Or((And(()),))):
        assert identity(parse(formatted(expression))) == identity(expression)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a = 1 and b = 2", "b = 2 and a = 1.0"),
        ("a = 1 and (b = 2 and c = 3)", "(c = 3 and a = 1) and b = 2 and a = 1"),
        ("not not a = 1", "a = 1"),
        ("a in (1, 2, 2.0)", "a in (2, 1)"),
        ("a in (1)", "a = 1"),
        ("a = -0.0", "a = 0"),
    ],
)
def test_what_differs_in_order_and_spelling_is_the_same(first, second):
    assert identity(parse(first)) == identity(parse(second))


@pytest.mark.parametrize(
    ("first", "second"),
    [("a = 1", "a = true"), ("a = 1", 'a = "1"'), ("a in (1, 2)", "a between 1 and 2"), ("true", "false")],
)
def test_what_differs_in_meaning_is_not(first, second):
    assert identity(parse(first)) != identity(parse(second))


def nested(levels):
    value = ["a", "=", 1]
    for _ in range(levels - 1):
        value = ["not", value]
    return value


def test_limits_are_inclusive():
    assert read(nested(8))
    assert read(["and", *[["a", "=", 1]] * 64])
    assert read(["a", "in", *["x" * 256] * 64])
    assert read(["é" * 32, "=", 2**64 - 1])
    assert read(["and"]) == EVERYTHING


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (nested(9), "nested more than 8"),
        (["and", *[["a", "=", 1]] * 65], "more than 64 predicates"),
        (["and", *[["or"]] * 65], "more than 64 predicates"),
        (["a", "in", *range(65)], "more than 64 constants"),
        (["a", "=", "x" * 257], "more than 256 characters"),
    ],
)
def test_an_exceeded_limit_is_told_apart(value, sentence):
    with pytest.raises(InvalidExpression, match=sentence) as refused:
        read(value)
    assert refused.value.is_limit


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (None, "no list"),
        ([], "no list"),
        ("and", "no list"),
        ([1, "=", 1], "no list"),
        (["and", 1], "no list"),
        (["not"], "one expression, not 0"),
        (["not", ["and"], ["and"]], "one expression, not 2"),
        (["a"], "nothing is none of the operators"),
        (["a", "=="], "'==' is none of the operators"),
        (["a", "="], "takes 1 constants, not 0"),
        (["a", "between", 1], "takes 2 constants, not 1"),
        (["a", "exists", 1], "takes 0 constants, not 1"),
        (["a", "in"], "takes 1 to 64 constants, not 0"),
        (["a", "=", None], "null is no constant"),
        (["a", "=", [1]], "is no constant"),
        (["a", "=", float("nan")], "nan is no finite number"),
        (["a", "=", float("inf")], "inf is no finite number"),
        (["a", "=", 2**64], "more than 64 bits"),
        (["a", "=", "\ud800"], "half a surrogate"),
        (["", "=", 1], "1 to 64 bytes"),
        (["é" * 33, "=", 1], "1 to 64 bytes"),
        (["a..b", "=", 1], "empty part"),
        (["\ud800", "=", 1], "half a surrogate"),
    ],
)
def test_what_is_wrong_is_named(value, sentence):
    with pytest.raises(InvalidExpression, match=sentence) as refused:
        read(value)
    assert not refused.value.is_limit


@pytest.mark.parametrize(
    ("text", "at", "sentence"),
    [
        ("", 0, "a name, not, or ( is expected"),
        ("a", 1, "an operator is expected after a"),
        ("a = ", 4, "a constant is expected"),
        ("a = and", 4, 'the text and is written "and"'),
        ("a = 1 b = 2", 6, "and, or, or the end"),
        ("(a = 1", 6, "balanced parentheses"),
        ("a between 1 2", 12, "and is expected"),
        ("a in 1", 5, "( is expected after in"),
        ("a in (1", 7, ") is expected"),
        ('a = "b', 4, "a string has no end"),
        ('a = "\\x"', 4, "an escape that JSON does not know"),
        ("a ! 1", 2, "'!' is not part"),
        ("and = 1", 0, "a name, not, or ("),
        ('b = 1 and "" = 1', 10, "1 to 64 bytes"),
        ("a = 1e999", 0, "no finite number"),
        ("a = " + "9" * 500, 4, "more than 400 characters"),
        ("(" * 40, 33, "nested more than 32"),
        ("not " * 9 + "a = 1", 0, "nested more than 8"),
    ],
)
def test_an_error_of_a_text_has_its_position(text, at, sentence):
    with pytest.raises(InvalidText) as refused:
        parse(text)
    assert sentence in refused.value.sentence
    assert refused.value.at == at


@settings(max_examples=examples(500))
@given(st.text(st.sampled_from('ab1 .()",=<>!andortinexists\\-e'), max_size=30))
def test_any_text_is_an_expression_or_has_an_error(text):
    try:
        expression = parse(text)
    except InvalidText as error:
        assert 0 <= error.at <= len(text)
        return
    assert json.dumps(written(expression))


@pytest.mark.parametrize("text", ["x > 1", "x = true", "x in (1, a)", "x between 1 and 2", "x prefix a", "x != a"])
def test_what_is_compiled_is_no_cycle_so_it_goes_with_its_subscription(text):
    """Simulated runs have no garbage collector most of the time."""
    gc.disable()
    try:
        found = weakref.ref(accepts(parse(text)))
        assert found() is None
    finally:
        gc.enable()


def test_a_text_can_be_a_setting():
    info = SettingInfo("filter", "text", "", "", "", None, None, (), most=1_000, language=parse)
    info.check("temperature > 25")
    with pytest.raises(InvalidSetting, match="line 2, column 1"):
        info.check("temperature >\n")
