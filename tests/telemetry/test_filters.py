"""The language in which runs are chosen: what is read, what is refused and where, and how values are written."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from telemetry.filters import Among, And, Comparison, Everything, InvalidFilter, Node, Not, Or, Words, parse, pointed
from telemetry.filters.errors import InvalidValue
from telemetry.filters.moments import span
from telemetry.filters.tree import OPERATORS
from telemetry.filters.values import quantity

NOW = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("", Everything()),
        ("  \n", Everything()),
        ("fire watch", Words("fire watch")),
        ("'and so on'", Words("and so on")),
        ("p95<2ms", Comparison("p95", "<", "2ms")),
        ("p95 ≤ 2 ms", Comparison("p95", "<=", "2 ms")),
        ("created > 2d ago", Comparison("created", ">", "2d ago")),
        ("experiment = Ring of 10", Comparison("experiment", "=", "Ring of 10")),
        ("experiment = 'a \"b\" \\'c\\''", Comparison("experiment", "=", "a \"b\" 'c'")),
        ("tag in (nightly, 'two words')", Among("tag", ("nightly", "two words"))),
        ("tag not in (a)", Not(Among("tag", ("a",)))),
        ("a = 1 AND b = 2 or c = 3", Or((And((Comparison("a", "=", "1"), Comparison("b", "=", "2"))),
                                         Comparison("c", "=", "3")))),
        ("a = 1 and (b = 2 or not c = 3)", And((Comparison("a", "=", "1"),
                                                Or((Comparison("b", "=", "2"), Not(Comparison("c", "=", "3"))))))),
        ("ring and p95 < 2ms", And((Words("ring"), Comparison("p95", "<", "2ms")))),
        ("a walk in the park", Words("a walk in the park")),
    ],
)  # fmt: skip
def test_what_is_written_is_read(text: str, tree: Node) -> None:
    assert parse(text) == tree


@pytest.mark.parametrize(
    ("text", "position", "said"),
    [
        ("p95 <", 5, "a value is missing"),
        ("< 2ms", 0, "a field is missing"),
        ("p95 < 2ms and", 13, "a condition is missing after “and”"),
        ("p95 < 2ms topology = ring", 10, "put “and” or “or” before “topology”"),
        ("ring p95 < 2ms", 5, "put “and” or “or” before “p95”"),
        ("(p95 < 2ms", 0, "not closed"),
        ("p95 < 2ms)", 9, "this closing parenthesis has no opening one"),
        ("experiment = 'fire", 13, "quotation is not closed"),
        ("tag in (a b", 7, "not closed"),
        ("tag in ()", 8, "a value is missing"),
        ("p95 = 2ms = 3ms", 10, "is not expected here"),
        ("not " * 30 + "x", 84, "deep"),
        (" or ".join(["a"] * 200), 500, "at most 100 conditions"),
        ("note ~ \0", 7, "not a valid character"),
        ("x" * 3_000, 2_000, "at most 2,000 characters"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_place(text: str, position: int, said: str) -> None:
    with pytest.raises(InvalidFilter) as refused:
        parse(text)
    assert (refused.value.field, refused.value.position) == ("filter", position)
    assert said in refused.value.sentence


def test_a_terminal_is_shown_the_place() -> None:
    assert pointed("p95 <\tx", 4) == "p95 < x\n    ^"


NAMES = st.from_regex(r"[a-z][a-z0-9_.]{0,12}", fullmatch=True).filter(lambda name: name not in ("and", "or", "not"))
VALUES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
LEAVES = st.one_of(
    st.builds(Words, VALUES),
    st.builds(Comparison, NAMES, st.sampled_from(OPERATORS), VALUES),
    st.builds(Among, NAMES, st.lists(VALUES, min_size=1, max_size=4).map(tuple)),
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(Not, inner),
        *(st.builds(kind, st.lists(inner, min_size=2, max_size=3).map(tuple)) for kind in (And, Or)),
    ),
    max_leaves=12,
)


@given(TREES)
def test_a_tree_that_is_written_down_is_read_as_the_same(tree: Node) -> None:
    assert parse(str(tree)) == tree


PIECES = ["p95", "<", "=", "2ms", "and", "or", "not", "in", "(", ")", ",", "'", '"', "\\", " ", "~", "!"]
FRAGMENTS = st.lists(st.sampled_from(PIECES), max_size=30)


@given(st.one_of(st.text(), FRAGMENTS.map(" ".join), FRAGMENTS.map("".join)))
def test_any_text_is_read_or_refused_at_a_place_within_it(text: str) -> None:
    try:
        tree = parse(text)
    except InvalidFilter as refused:
        assert 0 <= refused.position <= len(text)
        assert refused.sentence
    else:
        assert parse(str(tree)) == tree


@pytest.mark.parametrize(
    ("text", "unit", "number"),
    [
        ("2ms", "us", 2_000), ("150us", "us", 150), ("150 µs", "us", 150), ("1.5s", "us", 1_500_000), ("0", "us", 0),
        ("0.1ms", "us", 100), ("250", "ms", 250), ("2s", "ms", 2_000), ("30", "s", 30), ("1h", "s", 3_600),
        ("64kB", "bytes", 64_000), ("2 MB", "bytes", 2_000_000), ("1KiB", "bytes", 1_024), ("512", "bytes", 512),
        ("20%", "share", 0.2), ("99%", "share", 0.99), ("0.99", "share", 0.99), ("1e3", "", 1_000),
        ("100/s", "per_s", 100), ("-1", "", -1), ("1e-400", "us", 0),
    ],
)  # fmt: skip
def test_numbers_are_written_with_their_units(text: str, unit: str, number: float) -> None:
    assert quantity(text, unit) == number


@pytest.mark.parametrize(
    ("text", "unit", "said"),
    [
        ("2", "us", "needs a unit: 2ms, or 2us"),
        ("2kB", "us", "is not a unit of it"),
        ("soon", "us", "is not a time"),
        ("many", "", "is not a number"),
        ("1e999", "", "is not a number"),
        ("1e308w", "us", "too large"),
        ("9" * 300, "", "is not a number"),
    ],
)
def test_a_number_that_means_nothing_is_explained(text: str, unit: str, said: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        quantity(text, unit)
    assert said in refused.value.sentence


@given(st.text(max_size=60), st.sampled_from(["us", "ms", "s", "bytes", "MB", "share", "per_s", "cores", ""]))
def test_any_text_is_a_number_or_refused(text: str, unit: str) -> None:
    try:
        assert quantity(text, unit) is not None
    except InvalidValue as refused:
        assert refused.sentence


@pytest.mark.parametrize("text", ["0001-01-01T00:00+12:00", "9999-12-31T23:59:59-12:00", "9999-12-31"])
def test_a_moment_that_no_calendar_in_utc_has_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue):
        span(text, NOW)


def test_moments_are_dates_times_and_distances() -> None:
    day = datetime(2026, 11, 1, tzinfo=UTC)
    assert span("2026-11-01", NOW) == (day, day + timedelta(days=1))
    assert span("2026-11-01 14:30", NOW) == (day.replace(hour=14, minute=30), day.replace(hour=14, minute=31))
    assert span("2026-11-01T14:30:00Z", NOW)[0] == day.replace(hour=14, minute=30)
    assert span("Yesterday", NOW) == (datetime(2026, 11, 21, tzinfo=UTC), datetime(2026, 11, 22, tzinfo=UTC))
    assert span("2d ago", NOW) == (NOW - timedelta(days=2), NOW - timedelta(days=2))
    for text in ("soon", "2026-13-01", "2d", "9e30w ago", "ago", "9999-12-31", ""):
        with pytest.raises(InvalidValue, match="not a time"):
            span(text, NOW)


@given(st.text(max_size=40))
def test_any_text_is_a_moment_or_refused(text: str) -> None:
    try:
        begin, end = span(text, NOW)
    except InvalidValue as refused:
        assert refused.sentence
    else:
        assert begin <= end
