"""A dry run says where each message waits at each recipient, when it leaves, and with which others."""

from __future__ import annotations

import pytest

from overlay.core.errors import InvalidSetting
from overlay.systems.radiator.context import check_context
from overlay.systems.radiator.dry_run import MOST_MESSAGES, Sample, dry_run
from overlay.systems.radiator.language.source import InvalidExpression

THREE = {"Alice": {"friends": ["Bob"]}, "Bob": {"friends": ["Alice"]}, "Eve": {"friends": []}}


def sample(at_s, sender, **attributes):
    return Sample(at_s, sender, check_context({"a": attributes, "n": 1, "p": [sender], "t": [0, 0]}))


def told(placed):
    return [(one.message, one.recipient, "{}: {}".format(*one.threshold), one.left_s, one.together) for one in placed]


def test_messages_wait_until_enough_of_them_leave_together():
    samples = [sample(0, "Alice"), sample(1, "Alice"), sample(2, "Bob")]
    assert told(dry_run("{volume: 2}", samples, THREE)) == [
        (1, "Bob", "volume: 2", 1, [1, 2]),
        (1, "Eve", "volume: 2", 1, [1, 2]),
        (2, "Bob", "volume: 2", 1, [1, 2]),
        (2, "Eve", "volume: 2", 1, [1, 2]),
        (3, "Alice", "volume: 2", None, []),
        (3, "Eve", "volume: 2", None, []),
    ]


def test_friends_and_strangers_have_queues_of_their_own():
    found = dry_run("{volume: 1} if friend(s, r) else {people: 2}", [sample(0, "Alice"), sample(5, "Bob")], THREE)
    assert told(found) == [
        (1, "Bob", "volume: 1", 0, [1]),
        (1, "Eve", "people: 2", 5, [1, 2]),
        (2, "Alice", "volume: 1", 5, [2]),
        (2, "Eve", "people: 2", 5, [1, 2]),
    ]


def test_deadlines_are_kept_without_a_further_message():
    found = dry_run("{time: 30}", [sample(0, "Alice"), sample(10, "Alice"), sample(100, "Alice")], THREE)
    assert {(one.message, one.left_s, tuple(one.together)) for one in found} == {
        (1, 30, (1, 2)),
        (2, 30, (1, 2)),
        (3, 130, (3,)),
    }


def test_what_a_client_sends_changes_what_it_receives():
    recipients = {"Alice": {"level": 1}, "Bob": {"level": 1}}
    samples = [sample(0, "Bob", level=3), sample(1, "Alice", level=9)]
    (_, to_bob) = dry_run("{volume: r.level}", samples, recipients)
    assert to_bob.threshold == ("volume", 3)


def test_with_echo_senders_are_recipients():
    assert len(dry_run("{volume: 1}", [sample(0, "Alice")], THREE, echo=True)) == 3


@pytest.mark.parametrize(
    ("samples", "sentence"),
    [
        ([sample(0, "Zoe")], "message 1: 'Zoe' is none of the recipients"),
        ([sample(5, "Bob"), sample(4, "Bob")], "message 2: 4 s is before the message above it"),
        ([sample(0, "Bob")] * (MOST_MESSAGES + 1), "at most 50 messages"),
    ],
)
def test_wrong_samples_are_named(samples, sentence):
    with pytest.raises(InvalidSetting, match=sentence):
        dry_run("{volume: 1}", samples, THREE)


def test_a_wrong_expression_is_pointed_at():
    with pytest.raises(InvalidExpression) as caught:
        dry_run("{volume: }", [sample(0, "Bob")], THREE)
    assert (caught.value.line, caught.value.column) == (1, 8)
