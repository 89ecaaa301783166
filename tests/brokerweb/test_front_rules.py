"""Rules of the data plane that need no server: conditions, preferences, kept answers, holders."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brokerweb.api.idempotency_key import InProgress, KeyReused, read_key
from brokerweb.front import conditions
from brokerweb.front.idempotency import FRAME_BYTES, KEPT_S, Answers
from brokerweb.front.preferences import LONGEST_S, wait_s
from brokerweb.front.replies import Reply
from brokerweb.systems.context_broker.context.holders import Holder, Holders
from overlay.core.errors import InvalidSetting
from tests.thorough import examples

LATER, EARLIER = conditions.date(2_000_000), conditions.date(1_000_000)
CHANGED_MS = 1_500_000
LATIN = st.characters(max_codepoint=255)


@pytest.mark.parametrize(
    ("headers", "version", "read", "written"),
    [
        ({}, "v", 0, 0),
        ({"if-match": '"v"'}, "v", 0, 0),
        ({"if-match": '"w", "v"'}, "v", 0, 0),
        ({"if-match": '"w"'}, "v", 412, 412),
        ({"if-match": "*"}, "v", 0, 0),
        ({"if-match": "*"}, None, 412, 412),
        ({"if-none-match": '"v"'}, "v", 304, 412),
        ({"if-none-match": 'W/"v"'}, "v", 304, 412),
        ({"if-none-match": '"w"'}, "v", 0, 0),
        ({"if-none-match": "*"}, "v", 304, 412),
        ({"if-none-match": "*"}, None, 0, 0),
        ({"if-unmodified-since": EARLIER}, "v", 412, 412),
        ({"if-unmodified-since": LATER}, "v", 0, 0),
        ({"if-unmodified-since": EARLIER}, None, 0, 0),
        ({"if-unmodified-since": "yesterday"}, "v", 0, 0),
        ({"if-unmodified-since": "Mon, 01 Jan 2001 00:00:00 +9999999999999999"}, "v", 0, 0),
        ({"if-match": '"v"', "if-unmodified-since": EARLIER}, "v", 0, 0),
        ({"if-modified-since": LATER}, "v", 304, 0),
        ({"if-modified-since": EARLIER}, "v", 0, 0),
        ({"if-modified-since": LATER, "if-none-match": '"w"'}, "v", 0, 0),
    ],
)
def test_conditions_hold_as_the_standard_says(
    headers: dict[str, str], version: str | None, read: int, written: int
) -> None:
    assert conditions.check(headers, version, CHANGED_MS, is_safe=True) == read
    assert conditions.check(headers, version, CHANGED_MS, is_safe=False) == written


@given(st.dictionaries(st.sampled_from(conditions.NAMES), st.text(LATIN, max_size=40)), st.none() | st.just("v"))
@settings(max_examples=examples(200))
def test_no_header_is_too_strange(headers: dict[str, str], version: str | None) -> None:
    for is_safe in (True, False):
        assert conditions.check(headers, version, CHANGED_MS, is_safe=is_safe) in (0, 304, 412)
    for field in headers.values():
        assert 0 <= wait_s(field) <= LONGEST_S


@pytest.mark.parametrize(
    ("field", "seconds"),
    [
        ("", 0),
        ("wait=5", 5),
        ("respond-async, wait=10", 10),
        ('Wait = "7" ; x=1', 7),
        ("wait=86400", LONGEST_S),
        ("wait=-1", 0),
        ("wait", 0),
    ],
)
def test_the_preference_to_wait_is_read(field: str, seconds: int) -> None:
    assert wait_s(field) == seconds


def answer(size: int = 1, status: int = 200) -> Reply:
    return Reply(status, b"x" * size, {})


def test_the_first_answer_is_kept_for_a_day_and_only_for_the_same_request_of_the_same_account() -> None:
    answers = Answers()
    assert answers.begin("a", "k", b"1", 0) is None
    with pytest.raises(InProgress):
        answers.begin("a", "k", b"1", 1)
    with pytest.raises(KeyReused):
        answers.begin("a", "k", b"2", 1)
    answers.end("a", "k", b"1", answer())
    assert answers.begin("a", "k", b"1", KEPT_S - 1) == answer()
    assert answers.begin("b", "k", b"2", 1) is None
    assert answers.begin("a", "k", b"2", KEPT_S) is None
    for done in (None, answer(status=400), answer(status=504)):
        answers.begin("c", "k", b"1", 0)
        answers.end("c", "k", b"1", done)
        assert answers.begin("c", "k", b"1", 1) is None, "it may be tried again"
        answers.end("c", "k", b"1", None)


def test_a_key_is_read_with_and_without_quotes() -> None:
    assert read_key(' "k 1" ') == read_key("k 1") == "k 1"
    for wrong in ("", '""', "x" * 256, "é", "a\nb"):
        with pytest.raises(InvalidSetting):
            read_key(wrong)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 40), st.sampled_from([200, 504])), max_size=40))
@settings(max_examples=examples(200))
def test_kept_answers_stay_within_their_bounds(requests: list[tuple[int, int, int]]) -> None:
    answers = Answers(most=5, most_bytes=4 * FRAME_BYTES)
    for now, (key, size, status) in enumerate(requests):
        who = "ab"[key % 2]
        if answers.begin(who, f"k{key}", b"same", now) is None:
            answers.end(who, f"k{key}", b"same", answer(size * 20, status))
        answers.check_invariants()


def test_one_who_sends_many_keys_forgets_its_own_and_not_those_of_others() -> None:
    answers = Answers(most_bytes=10 * FRAME_BYTES)
    for who, key in (("quiet", "k"), *(("busy", str(number)) for number in range(50))):
        assert answers.begin(who, key, b"1", 0) is None
        answers.end(who, key, b"1", answer())
    assert answers.begin("quiet", "k", b"1", 1) == answer()
    assert answers.begin("busy", "0", b"1", 1) is None
    answers.check_invariants()


def test_one_that_was_forgotten_while_it_was_carried_out_leaves_the_answer_of_its_successor() -> None:
    answers = Answers(most_bytes=10 * FRAME_BYTES)
    for again in (b"1", b"2"):
        answers.begin("a", "k", b"1", 0)
        answers.begin("a", "large", b"1", 0)
        answers.end("a", "large", b"1", answer(20 * FRAME_BYTES))
        assert answers.begin("a", "k", again, 1) is None, "it is forgotten"
        answers.end("a", "k", again, answer(5))
        answers.end("a", "k", b"1", answer(7))
        answers.check_invariants()
        assert answers.begin("a", "k", again, 2) == answer(5)
        answers.begin("a", "larger", b"1", 0)
        answers.end("a", "larger", b"1", answer(20 * FRAME_BYTES))
    assert answers.begin("b", "k", b"1", 3) is None


def test_the_holder_of_the_latest_value_is_known_while_that_is_valid() -> None:
    holders, key = Holders(most=2), ("room", "r1", "temp")
    first, second = (Holder(("127.0.0.1", port), port, port, "p", 50) for port in (1, 2))
    holders.note("n", key, second)
    holders.note("n", key, first)
    assert holders.of("n", key, 49) == second
    assert holders.of("n", key, 50) is None
    assert holders.of("m", key, 0) is None
    for name in "abc":
        holders.note("n", (name, name, name), first)
    assert holders.of("n", key, 0) is None
