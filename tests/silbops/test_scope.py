"""Functions of context: text, meaning, and the ways to evaluate them (seed 002, spec section 4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.core.settings import InvalidText
from overlay.systems.silbops.content.constraints import satisfies
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.scope.compiling import closures, compiled
from overlay.systems.silbops.scope.evaluation import ScopeError, holds, operand
from overlay.systems.silbops.scope.intervals import inside, intervals_of, placed
from overlay.systems.silbops.scope.reducing import constraints_of, reduced
from overlay.systems.silbops.scope.text import formatted, parse
from overlay.systems.silbops.scope.tree import InvalidScope, Tree, read, variables
from tests.silbops.drawn import CONTEXTS, boxes, trees

SQUARE = "this.x-20 <= pub.x <= this.x+20 and this.y-20 <= pub.y <= this.y+20"


def outcome(test: object, pub: Values, this: Values) -> bool | str:
    """What a test says, or that it met an error."""
    try:
        return test(pub, this)  # type: ignore[operator, no-any-return]
    except ScopeError:
        return "error"


def test_the_square_of_the_use_case() -> None:
    tree = parse(SQUARE)
    assert tree == (
        "and",
        ("<=", ("-", ("s", "x"), 20), ("p", "x")),
        ("<=", ("p", "x"), ("+", ("s", "x"), 20)),
        ("<=", ("-", ("s", "y"), 20), ("p", "y")),
        ("<=", ("p", "y"), ("+", ("s", "y"), 20)),
    )
    assert (variables(tree, "p"), variables(tree, "s")) == (("x", "y"), ("x", "y"))
    sees = compiled(tree)
    assert sees({"x": 119.9, "y": 80}, {"x": 100, "y": 100})
    assert not sees({"x": 120.1, "y": 80}, {"x": 100, "y": 100})
    assert not sees({"x": 119.9}, {"x": 100, "y": 100}), "a missing variable makes the whole false"


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("pub.x = 1.0", ("=", ("p", "x"), 1)),
        ("pub.x = --1", ("=", ("p", "x"), 1)),
        ("not pub.a = this.a or exists pub.b and exists this.c.d",
         ("or", ("not", ("=", ("p", "a"), ("s", "a"))), ("and", ("exists", ("p", "b")), ("exists", ("s", "c.d"))))),
        ("(pub.x + 1) * 2 < abs(-this.x)", ("<", ("*", ("+", ("p", "x"), 1), 2), ("abs", ("-", ("s", "x"))))),
        ("dist(pub.x, pub.y, this.x, this.y) <= 5",
         ("<=", ("dist", ("p", "x"), ("p", "y"), ("s", "x"), ("s", "y")), 5)),
        ('pub.kind != "fire \\"hot\\""', ("!=", ("p", "kind"), 'fire "hot"')),
        ("((pub.open = true))", ("=", ("p", "open"), ("true",))),
        ("pub.x - 1 - 1 > 0", (">", ("-", ("-", ("p", "x"), 1), 1), 0)),
    ],
)  # fmt: skip
def test_what_a_text_says(text: str, tree: Tree) -> None:
    assert parse(text) == tree
    assert parse(formatted(tree)) == tree


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "a variable such as pub.x or this.x"),
        ("pub.x", "a variable alone is neither true nor false; comparisons, "),
        ("pub.x + 1", r"\+ gives a number, which is neither true nor false; comparisons, "),
        ("min(pub.x, 1) and pub.y > 1", "min gives a number, which is neither"),
        ("5", "5 is a number, which is neither true nor false"),
        ('"a"', '"a" is a text, which is neither true nor false'),
        ("sqrt(pub.x) < 3", "sqrt is no function; there are abs, min, max, dist"),
        ("pub.x < Distance (1, 2)", "Distance is no function; did you mean dist?"),
        ("x < 3", "x is unknown: variables are pub.NAME .* did you mean pub.x or this.x?"),
        ("pub.x < publ.x2", "publ.x2 is unknown: .* did you mean pub.x2 or this.x2?"),
        ("pub.open = True", "True is unknown: .* did you mean true?"),
        ("pub.kind == 'a'", "write = instead of ==, and texts stand in double quotes"),
        ("pub.x == 3", "write = instead of ==$"),
        ("pub.kind = 'a'", '"\'" is not part of the language; texts stand in double quotes'),
        ("pub.x > 1 && pub.y > 1", "'&' is not part of the language; write and"),
        ("true", "true alone compares nothing"),
        ("pub.x <", "a variable such as"),
        ("pub.x < 1 < 2 < 3", "a chain has two comparisons at most"),
        ("pub.x + \"a\" > 1", r"\+ takes numbers, not a text"),
        ("1 < true", "< compares a number with a bool"),
        ("pub.open < true", "< does not compare true and false"),
        ("exists 1", "exists is followed by a variable"),
        ("other.x > 1", "other.x is unknown"),
        ("pub.x > 1 pub.y > 1", "and, or, an operator or the end"),
        ("pub.x > 1 and 5", "and joins comparisons, not 5"),
        ("(pub.x > 1) + 1 > 2", "'>' has no value"),
        ("dist(1, 2, 3) < 4", "dist does not take 3 operands"),
        ("abs(1, 2) < 4", "abs does not take 2 operands"),
        ("pub.x > \"a", "a text has no end"),
        ("pub.x > 1 $", "'\\$' is not part of the language"),
        ("pub.x > 1e999", "inf is no finite number"),
        ("pub.x > " + "-" * 100 + "1", "nested more than 36 deep"),
        ("(" * 100 + "pub.x > 1" + ")" * 100, "nested more than 36 deep"),
        ("pub.x > " + "+".join(["1"] * 13), "nested more than 12 deep"),
        (" and ".join(["pub.x > 1"] * 22), "more than 64 nodes"),
        ("pub.x > 1 and " * 40 + "pub.x > 1", "more than 512 bytes"),
    ],
)  # fmt: skip
def test_a_text_that_is_no_function_is_refused_with_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(InvalidText, match=sentence):
        parse(text)


@pytest.mark.parametrize(
    ("lists", "sentence"),
    [
        (None, "null is no list"),
        ([], "no list of a comparison"),
        (["and", ["exists", ["p", "x"]]], "and takes two or more operands"),
        (["not"], "not takes one operand, not 0"),
        (["exists", ["p", "x", "y"]], "p takes one operand, not 2"),
        (["exists", ["p", "@x"]], "'@x' is no name"),
        (["<", 1], "< compares two operands, not 1"),
        (["<", [["p"]], 1], "no list of a comparison"),
        (["<", b"x", 1], "no value"),
        (["<", ["eval", "x"], 1], "'eval' has no value"),
        (["eval", "x"], "'eval' is neither true nor false"),
    ],
)
def test_a_peer_is_checked_again(lists: object, sentence: str) -> None:
    with pytest.raises(InvalidScope, match=sentence):
        read(lists)


@given(st.recursive(st.one_of(st.none(), st.integers(), st.text(max_size=3), st.floats()), st.lists, max_leaves=30))
def test_any_lists_are_a_function_or_refused(lists: object) -> None:
    try:
        tree = read(lists)
    except InvalidScope:
        return
    assert read(tree) == tree


@given(st.text(alphabet='pub.this xy<>=+-*/()"01e,andornot', max_size=60))
def test_any_text_is_a_function_or_refused_at_a_position(text: str) -> None:
    try:
        tree = parse(text)
    except InvalidText as error:
        assert 0 <= error.at <= len(text)
        return
    assert read(tree) == tree


@given(trees())
def test_a_function_written_for_people_reads_as_the_same(tree: Tree) -> None:
    text = formatted(tree)
    if len(text.encode()) <= 512:
        assert parse(text) == tree


@given(trees(), CONTEXTS, CONTEXTS)
def test_closures_say_what_the_tree_says(tree: Tree, pub: Values, this: Values) -> None:
    expected = outcome(lambda *sides: holds(tree, *sides), pub, this)
    assert outcome(closures(tree), pub, this) == expected
    assert outcome(compiled(tree), pub, this) == expected


def test_true_is_not_one() -> None:
    """Python calls them equal, and remembers functions."""
    of_number, of_bool = parse("pub.x = 1"), parse("pub.x = true")
    assert of_number != of_bool
    assert compiled(of_number)({"x": 1}, {})
    assert compiled(of_bool)({"x": True}, {})
    assert read(["=", ["p", "x"], True]) == of_bool


@given(boxes(), CONTEXTS, CONTEXTS)
def test_the_interval_form_says_what_the_tree_says(tree: Tree, pub: Values, this: Values) -> None:
    intervals = intervals_of(tree)
    assert intervals is not None
    expected = outcome(lambda *sides: holds(tree, *sides), pub, this)
    here = placed(intervals, pub)
    assert here is None or inside(here, this) in (expected, None)
    assert outcome(compiled(tree), pub, this) == expected


@given(st.one_of(boxes(), trees()), CONTEXTS, CONTEXTS)
def test_constraints_of_the_siena_arm_say_what_the_tree_says(tree: Tree, pub: Values, this: Values) -> None:
    bounds = reduced(tree)
    if bounds is None:
        return
    parts = constraints_of(bounds, this)
    said = {f"@{name}": operand(value) for name, value in pub.items()}
    found = parts is not None and all(one.name in said and satisfies(said[one.name], one) for one in parts)
    assert found == (outcome(lambda *sides: holds(tree, *sides), pub, this) is True)


@pytest.mark.parametrize(
    "text",
    ["pub.x > 1 or pub.y > 1", "not pub.x > 1", "pub.x > pub.y", "pub.x + 1 > this.x", "dist(pub.x, 0, 0, 0) < 1"],
)
def test_what_is_no_constraint_on_the_publisher_does_not_reduce(text: str) -> None:
    assert reduced(parse(text)) is None


def test_errors_are_told_apart_from_what_is_missing() -> None:
    divided = compiled(parse("pub.x / this.x > 1 or exists pub.y"))
    assert outcome(divided, {"x": 1}, {"x": 0}) == "error"
    assert outcome(divided, {"x": 1}, {}) is False
    assert outcome(divided, {"x": 3, "y": 1}, {"x": 1}) is True
    assert outcome(compiled(parse("pub.x > this.x")), {"x": 1}, {"x": "a"}) == "error"
    assert outcome(compiled(parse("pub.x > this.x")), {"x": "b"}, {"x": "a"}) is True
    assert outcome(compiled(parse("pub.x * 1e308 > 1")), {"x": 10}, {}) == "error"
