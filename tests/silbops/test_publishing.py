"""Which publications are allowed, and which came before."""

from __future__ import annotations

from typing import Any

import pytest

from overlay.systems.silbops.content.filters import EVERYTHING, read_filter
from overlay.systems.silbops.publishing import Refusal, permitted
from overlay.systems.silbops.repeats import MOST_NUMBERS, Repeats
from overlay.systems.silbops.scope.text import parse
from overlay.systems.silbops.wire.messages import Advertise, Code

FIRE = Advertise(1, 1, read_filter([["kind", "=", "fire"]]), frozenset({"x"}), frozenset({"group"}))
ALL = Advertise(2, 2, EVERYTHING, frozenset({"y"}))
WHERE = {"x": 1, "y": 2, "z": 3}


def test_a_publication_carries_the_context_of_all_advertisements_that_match_it() -> None:
    assert permitted([FIRE, ALL], {"kind": "fire"}, WHERE, None) == {"x": 1, "y": 2}
    assert permitted([FIRE, ALL], {"kind": "flood"}, WHERE, None) == {"y": 2}


@pytest.mark.parametrize(
    ("notification", "scope", "code", "words"),
    [
        ({"kind": "flood"}, None, Code.NOT_ADVERTISED, "no advertisement of this publisher matches"),
        ({"kind": "fire"}, "this.age < 5", Code.BAD_SCOPE, "this.age is in no advertisement"),
        ({"kind": "fire"}, "not exists this.age", Code.BAD_SCOPE, "this.age is in no advertisement"),
    ],
)
def test_what_was_not_advertised_is_refused(notification: Any, scope: str | None, code: Code, words: str) -> None:
    with pytest.raises(Refusal, match=words) as caught:
        permitted([FIRE], notification, WHERE, parse(scope) if scope else None)
    assert caught.value.code is code


def test_a_function_may_read_what_some_matching_advertisement_names() -> None:
    scope = parse("this.group < 0.5 and pub.x > 0")
    assert permitted([FIRE, ALL], {"kind": "fire"}, WHERE, scope) == {"x": 1, "y": 2}


def test_a_notification_is_new_once_among_the_last_of_its_publisher() -> None:
    repeats = Repeats()
    assert [repeats.is_new(1, 5), repeats.is_new(2, 5), repeats.is_new(1, 5)] == [True, True, False]
    for number in range(100, 100 + MOST_NUMBERS):
        assert repeats.is_new(1, number)
    repeats.check_invariants()
    assert repeats.is_new(1, 5), "1,024 newer ones have come"
