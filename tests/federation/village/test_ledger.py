"""The oracle notices what it is there for."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from overlay.core.node import SECOND
from overlay.systems.federation.clients.events import Verdict
from overlay.systems.federation.language.text import parse
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire import values as v
from tests.federation.village.ledger import Ledger

SID = v.SubscriptionId("c0", 1)


def note(number, x=2):
    return v.Notification(v.NotificationId("p0", number), "room", "r1", "climate", 0, 90_000, {"x": x})


class Scene:
    """A consumer, and a broker that accepts and sends."""

    def __init__(self, once=False, expires=80_000):
        self.ledger = Ledger(1, 1)
        self.life = SimpleNamespace(name="c0", is_live=True)
        one = v.Subscription(SID, ("climate",), expires, parse("x > 1"), once=once)
        self.ledger.subscribe(self.life, one)

    def accept(self, number, way=("b0",), x=2):
        self.ledger.accept("b0", note(number, x), lambda subscription: way)

    def send(self, number, x=2):
        self.ledger.send("b0", "c0", m.Notify(note(number, x), (SID,)))

    def receive(self, number, is_cached=False, verdict=Verdict.FIRST):
        self.ledger.receive(self.life, note(number), ((SID.number, verdict),), is_cached)

    def pass_s(self, seconds):
        self.ledger.now += round(seconds * SECOND)
        self.ledger.judge()


@pytest.fixture
def scene():
    return Scene()


def test_what_arrives_was_owed(scene):
    scene.accept(1)
    scene.receive(1)
    scene.pass_s(60)
    assert scene.ledger.counts["owed"] == 1 and not scene.ledger.owed


def test_what_never_arrives_is_lost(scene):
    scene.accept(1)
    scene.pass_s(1)
    with pytest.raises(AssertionError, match="lost"):
        scene.pass_s(60)


def test_without_a_way_and_without_satisfaction_nothing_is_owed(scene):
    scene.accept(1, way=None)
    scene.accept(2, x=1)
    scene.pass_s(60)
    assert not scene.ledger.counts["owed"] and not scene.ledger.causes


@pytest.mark.parametrize("who", ["b0", "c0", "p0"])
def test_a_crash_on_the_way_is_a_cause(scene, who):
    scene.accept(1)
    scene.pass_s(1)
    scene.ledger.disturb(who, "it crashed")
    scene.pass_s(60)
    assert scene.ledger.causes == {"it crashed": 1}


@pytest.mark.parametrize(("who", "after"), [("b7", 1), ("b0", 50)])
def test_a_crash_elsewhere_or_much_later_is_none(scene, who, after):
    scene.accept(1)
    with pytest.raises(AssertionError, match="lost"):
        scene.pass_s(after)
        scene.ledger.disturb(who, "it crashed")
        scene.pass_s(60)


def test_what_expires_or_is_withdrawn_is_not_lost():
    scene = Scene(expires=2_000)
    scene.accept(1)
    scene.pass_s(60)
    assert scene.ledger.causes == {"expired": 1}
    scene = Scene()
    scene.accept(1)
    scene.ledger.withdraw(SID)
    scene.pass_s(60)
    assert not scene.ledger.causes


def test_any_answer_satisfies_a_query():
    scene = Scene(once=True)
    scene.accept(1)
    scene.accept(2)
    scene.receive(2)
    scene.pass_s(60)
    assert scene.ledger.counts["owed"] == 2


@pytest.mark.parametrize("once", [False, True])
def test_a_second_one_needs_a_cause(once):
    scene = Scene(once)
    scene.accept(1)
    scene.accept(2)
    scene.receive(1)
    again = 2 if once else 1
    with pytest.raises(AssertionError, match=r"twice|second"):
        scene.receive(again)
    scene.ledger.disturb("c0", "registered again")
    scene.receive(again, verdict=Verdict.DUPLICATE)
    assert scene.ledger.counts["excused"] == 1
    with pytest.raises(AssertionError, match="not noticed"):
        scene.receive(again)


def test_an_order_that_is_not_that_of_acceptance_needs_a_cause(scene):
    scene.accept(1)
    scene.accept(2)
    scene.receive(2)
    scene.receive(1, is_cached=True)
    scene = Scene()
    scene.accept(1)
    scene.accept(2)
    scene.receive(2)
    with pytest.raises(AssertionError, match="late"):
        scene.receive(1)


def test_a_notification_without_a_live_subscription_is_spurious(scene):
    with pytest.raises(AssertionError, match="does not satisfy"):
        scene.send(1, x=1)
    scene.send(1)
    with pytest.raises(AssertionError, match="again"):
        scene.send(1)
    scene.ledger.withdraw(SID)
    scene.send(2)
    scene.ledger.withdrawn(SID)
    with pytest.raises(AssertionError, match="withdrawn"):
        scene.send(3)
    scene = Scene(expires=1)
    scene.ledger.now += SECOND
    with pytest.raises(AssertionError, match="expired"):
        scene.send(1)


def test_what_no_one_published_is_noticed(scene):
    with pytest.raises(AssertionError, match="published by no one"):
        scene.receive(1)
