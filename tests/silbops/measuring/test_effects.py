"""When all brokers had processed what a client set, by what they say of it: b1 is its broker, b0 and b2 are behind."""

from __future__ import annotations

from overlay.systems.silbops.measuring.processed import ProcessedTimes
from overlay.systems.silbops.rows import Processed, Told

S = 1_000_000
CALL = {"at_us": 1 * S, "accepted_us": 1 * S + 100}
"""Its first call; the second is 5 s later."""
LATER = {"at_us": 6 * S, "accepted_us": 6 * S + 100}


def set_(number: int, at: int, kind: str = "context") -> list[Processed]:
    """By the client, at its broker."""
    return [Processed("fe", kind, number, "b1", "", at)]


def told(number: int, way: str, sent: int, heard: int, kind: str = "context") -> list[Processed | Told]:
    sender, to = way.split()
    return [
        Told("fe", kind, number, sender, to, sent),
        *([Processed("fe", kind, number, to, sender, heard)] if heard else []),
    ]


def times(*several: list[Processed] | list[Processed | Told]) -> ProcessedTimes:
    rows = [one for each in several for one in each]
    return ProcessedTimes(
        [one for one in rows if isinstance(one, Processed)], [one for one in rows if isinstance(one, Told)]
    )


def test_a_call_is_processed_when_the_last_broker_that_was_told_has_it() -> None:
    after = times(set_(1, S), told(1, "b1 b0", S, S + 20), told(1, "b0 b2", S + 20, S + 50))
    assert after.of_call("fe", **CALL) == S + 100, "not before it was accepted"
    assert after.effect_of("fe", **CALL) == S + 50
    slow = times(set_(1, S), told(1, "b1 b0", S, S + 20), told(1, "b0 b2", S + 20, 5 * S))
    assert slow.of_call("fe", **CALL) == slow.effect_of("fe", **CALL) == 5 * S, "however long a link was cut"


def test_a_subscription_that_a_context_brings_back_belongs_to_its_call() -> None:
    """Soak seed 287: it had been pruned, and the channel's queue was full."""
    subscribed = set_(3, S, "subscription"), told(3, "b1 b0", S, S + 20, "subscription")
    moved = set_(2, 6 * S), told(2, "b1 b0", 6 * S, 6 * S + 20), told(3, "b1 b0", 6 * S, 7 * S, "subscription")
    both = times(*subscribed, *moved)
    assert both.effect_of("fe", **CALL) == S + 20
    assert both.of_call("fe", **LATER) == both.effect_of("fe", **LATER) == 7 * S


def test_a_neighbour_that_is_told_again_is_no_effect_of_the_call() -> None:
    again = times(set_(1, S), told(1, "b1 b0", S, S + 20), told(1, "b1 b0", 9 * S, 9 * S + 20))
    assert again.effect_of("fe", **CALL) == S + 20


def test_what_a_lost_session_took_with_it_is_no_effect() -> None:
    lost = times(set_(1, S), told(1, "b1 b0", S, 0), told(1, "b1 b0", 9 * S, 9 * S + 20))
    assert lost.effect_of("fe", **CALL) == S
    early = times(set_(1, S), told(1, "b1 b0", S, S + 20), told(1, "b1 b0", 9 * S, 0))
    assert early.effect_of("fe", **CALL) == S + 20


def test_brokers_that_tell_each_other_at_one_instant_come_to_an_end() -> None:
    assert times(set_(1, S), told(1, "b1 b0", S, S), told(1, "b0 b1", S, S)).effect_of("fe", **CALL) == S


def test_live_a_call_is_processed_a_second_later() -> None:
    assert times().of_call("fe", **CALL) == 2 * S
    assert times().effect_of("fe", **CALL) is None
    assert times().of_call("fe", S, 0) == float("inf"), "it was never accepted"
