"""The forms of Algorithm 1 give one output, and mistakes planted in them are found."""

from __future__ import annotations

import random
from functools import cache, partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.systems.radiator.aggregation import classes, shards
from overlay.systems.radiator.aggregation.algorithm import Algorithm
from overlay.systems.radiator.aggregation.choice import FORMS, make_algorithm
from overlay.systems.radiator.aggregation.classes import Classes
from overlay.systems.radiator.aggregation.emissions import Emission
from overlay.systems.radiator.aggregation.options import Options
from overlay.systems.radiator.aggregation.queues import Deadlines, Message, Queue
from overlay.systems.radiator.context import Context
from overlay.systems.radiator.language.aggregability import Aggregability, aggregability
from tests.radiator.printed import Printed, story, told
from tests.thorough import examples


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("index", FORMS)
@settings(max_examples=examples(200))
@given(st.randoms(use_true_random=False))
def test_every_form_does_what_is_printed(index: str, parts: int, chance: random.Random) -> None:
    text, options, events = story(chance)
    expected = told(Printed, text, options, events)
    assert told(partial(make_algorithm, index, shards=parts), text, options, events) == expected


@settings(max_examples=examples(200))
@given(st.randoms(use_true_random=False), st.sampled_from([*FORMS]), st.integers(1, 4))
def test_checked_mode_finds_no_difference(chance: random.Random, index: str, parts: int) -> None:
    text, options, events = story(chance)
    make = partial(make_algorithm, index, shards=parts, is_checked=True)
    assert told(make, text, options, events) == told(Printed, text, options, events)


@pytest.mark.parametrize("is_checked", [False, True])
def test_evaluations_are_fewest_by_classes(is_checked: bool) -> None:
    counted = {}
    for index in FORMS:
        made = make_algorithm(index, aggregability("{volume: 3}"), Options(echo=True), is_checked=is_checked)
        for place in range(4):
            made.register(place, f"c{place}", {}, 0)
        for number in range(6):
            made.arrive(Message(number, Context(("A",), 0, 0, {}), number), number)
        counted[index] = made.evaluations
    assert counted == {"literal": 4 * (1 + 2 + 3) * 2, "indexed": 4 * 6, "classes": 6}


# ---- planted mistakes


def nothing(*arguments: Any) -> list[Any]:
    return []


def is_more_than_satisfied(self: Queue) -> bool:
    kind, value = self.threshold
    if kind == "time":
        return self.messages[-1].received - self.messages[0].received > value * 10**9
    return len(self.people if kind == "people" else self.messages) > value


def unsorted(emitted: list[Emission], *, is_per_recipient: bool) -> list[Emission]:
    return emitted


PLANTED: list[tuple[str, Any, str, Any]] = [
    ("a changed recipient is not scanned", Classes, "_became", nothing),
    ("equal classes are never merged", Classes, "_settle", nothing),
    ("a class with messages is still merged with those without", Classes, "_unlist", nothing),
    ("classes that part share their queues", Queue, "copy", lambda self: self),
    ("a queue leaves one message late", Queue, "is_satisfied", property(is_more_than_satisfied)),
    ("deadlines are forgotten", Deadlines, "add", nothing),
    ("queues that left keep their deadlines", Deadlines, "discard", nothing),
    ("overdue queues leave in any order", classes, "oldest_first", lambda queues: list(queues)[::-1]),
    ("all recipients are of one class", Aggregability, "class_key", lambda self, attributes, name: b""),
    ("a class sends in the order of classes", classes, "propagations", unsorted),
    ("outputs of shards are put one after another", shards, "propagations", unsorted),
    ("retained messages are never released", Algorithm, "_release", nothing),
    ("the audience is everyone", Algorithm, "_audience", lambda self, message: None),
    ("deadlines before an arrival are handled with it", Algorithm, "_before", nothing),
]
STORIES = 40


@cache
def expected(seed: int) -> list[Any]:
    return told(Printed, *story(random.Random(seed)))


def is_shown(seed: int) -> bool:
    """Whether a story differs from what is printed, or breaks an invariant."""
    try:
        make = partial(make_algorithm, "classes", shards=1 + seed % 3)
        return told(make, *story(random.Random(seed))) != expected(seed)
    except (AssertionError, LookupError, RuntimeError, TypeError, ValueError):
        return True


def test_without_mistakes_nothing_is_found() -> None:
    assert [seed for seed in range(STORIES) if is_shown(seed)] == []


@pytest.mark.parametrize(("mistake", "owner", "name", "wrong"), PLANTED, ids=[one[0] for one in PLANTED])
def test_a_planted_mistake_is_found(
    mistake: str, owner: Any, name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(STORIES):
        expected(seed)
    monkeypatch.setattr(owner, name, wrong)
    assert any(is_shown(seed) for seed in range(STORIES)), mistake
