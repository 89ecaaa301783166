"""Contexts: canonical JSON, what is refused, and joining."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.core.binary import canonical
from overlay.systems.radiator.context import (
    MAX_BYTES,
    Context,
    MalformedContext,
    TooLargeContext,
    join,
    parse_body,
    parse_context,
)

ALICE = Context(("Alice",), 10, 20, {"location": "Joe's Pub", "activity": "dancing"})
MARC = Context(("Marc",), 5, 15, {"location": "Joe's", "mood": 3})


def test_a_context_has_one_canonical_text() -> None:
    text = b'{"a":{"activity":"dancing","location":"Joe\'s Pub"},"n":1,"p":["Alice"],"t":[10,20]}'
    assert ALICE.encode() == text
    assert (
        parse_context(b' {"t": [10, 20], "p": ["Alice"], "n": 1, "a": ' + canonical(ALICE.attributes) + b"}") == ALICE
    )


def test_joined_contexts_have_all_people_the_whole_time_and_lists_of_values() -> None:
    both = join([ALICE, MARC])
    assert both == Context(
        ("Alice", "Marc"), 5, 20, {"location": ["Joe's Pub", "Joe's"], "activity": ["dancing"], "mood": [3]}, 2
    )
    assert join([both, ALICE]).attributes["location"] == ["Joe's Pub", "Joe's", "Joe's Pub"], "lists are continued"
    assert join([both, ALICE]).people == ("Alice", "Marc")
    assert join([both, ALICE]).n == 3


def test_one_context_alone_is_joined_to_itself() -> None:
    assert join([ALICE]) is ALICE


def test_a_body_is_a_context_or_a_list_of_them() -> None:
    large = Context(("Alice",), 0, 1, {"data": ["x" * 20_000]}, 2_000)
    assert parse_body(large.encode()) == [large]
    assert parse_body(canonical([ALICE.as_json(), MARC.as_json()])) == [ALICE, MARC]


def text_of(**members: object) -> bytes:
    return canonical({"a": {}, "n": 1, "p": ["Alice"], "t": [1, 2], **members})


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"\xff", "byte 0 is not UTF-8"),
        (b"{", "it is not JSON: Expecting property name enclosed in double quotes at character 1"),
        (
            b'{"a":{"x":' + b"[" * 8_000 + b"]" * 8_000 + b'},"n":1,"p":["Alice"],"t":[1,2]}',
            "it is nested more than 8 deep",
        ),
        (b"[]", "it must be an object with the members a, n, p and t, and no other"),
        (b'{"a":{},"n":1,"p":["Alice"]}', "it must be an object with the members a, n, p and t, and no other"),
        (text_of(x=1), "it must be an object with the members a, n, p and t, and no other"),
        (text_of(p=[]), "p must be a list of at least one name"),
        (text_of(p=[1]), "p must be a list of at least one name"),
        (text_of(p=["Bob", "Bob"]), "p has 'Bob' twice"),
        (text_of(t=[2, 1]), "t ends at 1, before it begins at 2"),
        (text_of(t=[1.0, 2]), "t must be [from, to], two integers in ms since 1970"),
        (text_of(t=[True, 2]), "t must be [from, to], two integers in ms since 1970"),
        (text_of(a=[]), "a must be an object"),
        (text_of(n=0), "n must be an integer of at least 1"),
        (text_of(n=True), "n must be an integer of at least 1"),
        (text_of(n=1_001), "n is 1,001; a client may send at most 1,000"),
        (text_of(n=2, a={"x": [1], "y": 1}), "n is 2, so every attribute must be a list; 'y' is not"),
        (text_of(a={"x": [[[[[[[1]]]]]]]}), "it is nested more than 8 deep"),
        (b'{"a":{"x":NaN},"n":1,"p":["Alice"],"t":[1,2]}', "NaN is no JSON number"),
        (
            b'{"a":{"x":1e999},"n":1,"p":["Alice"],"t":[1,2]}',
            "it cannot be written as JSON: a number is not finite",
        ),
        (b'{"a":{"x":' + b"9" * 5_000 + b'},"n":1,"p":["Alice"],"t":[1,2]}', "it has a number that is too long"),
        (
            b'{"a":{"x":"\\ud800"},"n":1,"p":["Alice"],"t":[1,2]}',
            "it cannot be written as JSON: 'utf-8' codec can't encode character '\\ud800' in position 11: "
            "surrogates not allowed",
        ),
    ],
)
def test_what_is_no_context_is_refused_with_the_reason(data: bytes, sentence: str) -> None:
    with pytest.raises(MalformedContext) as refused:
        parse_context(data)
    assert str(refused.value) == f"Malformed context: {sentence}."


def test_a_context_may_be_as_deep_and_as_large_as_the_limits() -> None:
    assert parse_context(text_of(a={"x": [[[[[[1]]]]]]})).attributes == {"x": [[[[[[1]]]]]]}
    filling = MAX_BYTES - len(text_of(a={"x": ""}))
    assert parse_context(text_of(a={"x": "x" * filling})).n == 1
    with pytest.raises(TooLargeContext, match=r"The context has 16,385 bytes; at most 16,384 are accepted\."):
        parse_context(text_of(a={"x": "x" * (filling + 1)}))
    with pytest.raises(TooLargeContext, match="canonical JSON has"):
        parse_context(b'{"a":{"x":[' + b",".join([b"1E15"] * 2_000) + b']},"n":1,"p":["Alice"],"t":[1,2]}')


@given(st.binary(max_size=200))
def test_any_bytes_are_a_context_or_refused(data: bytes) -> None:
    try:
        parse_context(data)
    except MalformedContext as refused:
        assert str(refused).endswith(".")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text("aé", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
    max_leaves=5,
)
CONTEXTS = st.builds(
    lambda people, start, length, attributes: Context(tuple(people), start, start + length, attributes),
    st.lists(st.sampled_from("ABCDE"), min_size=1, unique=True),
    st.integers(0, 100),
    st.integers(0, 100),
    st.dictionaries(st.sampled_from(["x", "y", "z"]), JSON),
)


@given(st.lists(CONTEXTS, min_size=2, max_size=6), st.data())
def test_joining_keeps_everything_in_whatever_steps(contexts: list[Context], data: st.DataObject) -> None:
    joined = join(contexts)
    assert joined.n == len(contexts)
    assert set(joined.people) == {person for context in contexts for person in context.people}
    assert (joined.start, joined.end) == (min(c.start for c in contexts), max(c.end for c in contexts))
    for name in "xyz":
        expected = [context.attributes[name] for context in contexts if name in context.attributes]
        assert joined.attributes.get(name, []) == expected
    cut = data.draw(st.integers(1, len(contexts) - 1))
    assert join([join(contexts[:cut]), join(contexts[cut:])]) == joined
