"""Notifications that wait for a webhook: order, attempts and bounds."""

from __future__ import annotations

from math import inf

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from brokerweb.hosting.outbox import PAUSES_S, Outbox


class OutboxMachine(RuleBasedStateMachine):
    """What is delivered is in order, each once; what is accepted is delivered, waits or was given up."""

    def __init__(self) -> None:
        super().__init__()
        self.outbox, self.now, self.added = Outbox(at_once=3, most=5, most_bytes=60), 0.0, 0
        self.taken: list[str] = []
        self.delivered: list[int] = []

    @rule(length=st.integers(3, 30))
    def add(self, length: int) -> None:
        self.outbox.add(f"{self.added:03}".ljust(length))
        self.added += 1

    @precondition(lambda self: self.outbox.due() <= self.now)
    @rule()
    def take(self) -> None:
        self.taken = list(self.outbox.take())
        assert 1 <= len(self.taken) <= 3
        assert self.outbox.due() == inf

    @precondition(lambda self: self.taken)
    @rule(is_delivered=st.booleans())
    def end(self, is_delivered: bool) -> None:
        self.outbox.ended(self.now, is_delivered=is_delivered)
        if is_delivered:
            self.delivered += [int(text[:3]) for text in self.taken]
        self.taken = []

    @rule()
    def wait(self) -> None:
        self.now += max(PAUSES_S)

    @invariant()
    def holds(self) -> None:
        self.outbox.check_invariants()
        assert self.delivered == sorted(set(self.delivered))
        known = len(self.delivered) + len(self.outbox) + self.outbox.given_up
        assert self.added <= known <= self.added + len(self.delivered)


TestOutbox = OutboxMachine.TestCase


def test_what_fails_is_tried_again_after_growing_pauses_and_then_given_up() -> None:
    outbox, now, instants = Outbox(), 0.0, []
    outbox.add("x")
    while outbox.due() < inf:
        now = max(now, outbox.due())
        instants.append(now)
        outbox.take()
        outbox.ended(now, is_delivered=False)
    assert instants == [0.0, 1.0, 3.0, 8.0, 23.0, 83.0]
    assert (outbox.given_up, len(outbox)) == (1, 0)
