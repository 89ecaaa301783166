"""Nothing grows without bound, and no client stops the others (seed 002, sections 5 to 7; a system is done when, 8)."""

from __future__ import annotations

from typing import Any

import pytest

from overlay.systems.silbops.broker import arriving, clients, leaving, requests, visits
from overlay.systems.silbops.wire import messages as m
from tests.silbops.loop_network import App, World
from tests.silbops.test_broker import FIRE, camera, numbers, shoot, vehicle, world

LIMIT = m.Code.LIMIT


def refusals(app: App) -> list[tuple[m.Code, str]]:
    return [(one.code, one.text) for one in app.refused]


# ---- what clients set


@pytest.mark.parametrize(
    ("bound", "make", "fields", "words"),
    [
        ("MOST_SUBSCRIPTIONS", m.Subscribe, (FIRE,), "a client has 2 subscriptions at most"),
        ("MOST_ROWS", m.Subscribe, (FIRE,), "this broker has 2 subscriptions already"),
        ("MOST_ADVERTISEMENTS", m.Advertise, (FIRE, frozenset()), "a client has 2 advertisements at most"),
    ],
)
def test_a_client_sets_so_much_and_may_replace_it(
    monkeypatch: pytest.MonkeyPatch, bound: str, make: Any, fields: Any, words: str
) -> None:
    monkeypatch.setattr(requests, bound, 2)
    network = world(1)
    app = network.app("b0")
    for number in (1, 2, 3, 2):
        app.request(make, number, *fields)
    network.settle()
    assert refusals(app) == [(LIMIT, words)]
    assert not app.unanswered


def test_a_broker_has_so_many_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arriving, "MOST_CLIENTS", 2)
    network = world(1)
    apps = [network.app("b0") for _ in range(2)]
    network.settle()
    third = network.app()
    third.home = b"b0"
    network.open(third.id, b"b0")
    while not third.refused:
        network.step()
    assert refusals(third) == [(LIMIT, "this broker has 2 clients already")]
    assert [app.is_attached for app in (*apps, third)] == [True, True, False]
    assert network.queues[b"b0", third.id].is_closing


def test_a_session_that_does_not_attach_ends() -> None:
    network = world(1)
    stranger = network.app()
    network.open(stranger.id, b"b0")
    network.settle()
    network.advance(11)
    network.settle()
    assert (stranger.id, b"b0") not in network.queues


def test_a_client_attaches_for_itself_alone() -> None:
    network = world(1)
    car, thief = vehicle(network, "b0"), network.app()
    network.open(thief.id, b"b0")
    thief.peers.send(b"b0", m.Attach(car.id, m.Mode.NEW, None))
    network.settle()
    assert refusals(thief) == [(m.Code.MALFORMED, "the session is of another client")]
    assert len(network.core("b0").clients) == 1
    assert network.core("b0").statistics()["rows_subscriptions"] == 1


# ---- what waits for clients


def test_a_broker_keeps_so_many_notifications_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "MOST_KEPT", 3)
    network = world()
    cam, cars = camera(network), [vehicle(network), vehicle(network)]
    for car in cars:
        network.part(car.id, b"b2")
    for _ in range(4):
        shoot(network, cam)
    found = network.core("b2").statistics()
    assert (found["kept_now"], found["kept_dropped"]) == (3, 5)


def test_a_broker_has_left_rows_of_so_many_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaving, "MOST_MOVED", 2)
    network = world()
    cars = [vehicle(network) for _ in range(3)]
    for car in cars:
        car.attach("b0")
        network.settle()
    assert network.core("b2").statistics()["moved_now"] == 2


def test_so_much_waits_for_a_broker_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "MOST_WAITING", 3)
    network = world()
    cam, car = camera(network, "b2"), vehicle(network)
    car.attach("b0")
    network.settle()
    network.part(b"b0", b"b2")
    for _ in range(5):
        shoot(network, cam)
    core = network.core("b2")
    assert core.visits.waiting == 3
    assert core.station.counters["visits_given_up"] == 2
    network.advance(11)
    assert core.visits.waiting == 0


def test_an_old_broker_that_never_ends_its_answer_is_not_heard_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arriving, "MOST_PARTS", 3)
    network = world()
    car = vehicle(network)
    network.part(b"b0", b"b2")
    car.attach("b0")
    network.settle()
    assert len(network.core("b0").arriving) == 1
    part = m.Take(car.id, b"o" * 16, None, (), (), (), is_last=False)
    core = network.core("b0")
    for _ in range(5):
        core.arriving.take("b2", part)
    assert core.station.counters["takes_late"] == 2


# ---- who reads nothing


def silent(network: World, app: App, broker: str) -> None:
    """It answers what its channel is asked, and takes no message."""
    app.peers.pause(broker.encode())


def test_who_asks_and_reads_no_answer_waits_itself() -> None:
    network = world(1, bound=10)
    app = network.app("b0")
    network.settle()
    silent(network, app, "b0")
    for number in range(100):
        app.request(m.Subscribe, number, FIRE, None)
    network.settle()
    core = network.core("b0")
    assert core.statistics()["unacknowledged"] + core.statistics()["queued"] <= 2 * 10 + 1
    assert len(network.queues[app.id, b"b0"].waiting) >= 70, "they wait at the client"
    app.peers.resume(b"b0")
    network.settle()
    assert not app.unanswered
    assert core.statistics()["paused"] == core.statistics()["full_queues"] == 0


def test_who_reads_nothing_holds_others_up_for_10_s_and_is_away_then() -> None:
    network = world(bound=10)
    cam, mute, car = camera(network), vehicle(network), vehicle(network)
    silent(network, mute, "b2")
    sent = []
    for _ in range(40):
        cam.request(m.Publish, {"kind": "fire"}, {"x": 100})
        sent.append(cam.number)
    network.settle()
    assert len(car.received) < 40
    network.cut.add(frozenset((mute.id, b"b2")))  # it stays away
    network.advance(9)
    network.settle()
    assert len(car.received) < 40
    network.advance(2)
    network.settle()
    assert numbers(car) == sent
    assert network.core("b2").station.counters["too_slow"] == 1
    assert network.core("b2").statistics()["paused"] == 0


def test_who_reads_slowly_is_left_in_peace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "LEAST_TAKEN", 2)
    network = world(1, bound=30)
    cam, slow = camera(network, "b0"), vehicle(network, "b0")
    silent(network, slow, "b0")
    sent = []
    for _ in range(60):
        cam.request(m.Publish, {"kind": "fire"}, {"x": 100})
        sent.append(cam.number)
    network.settle()
    while len(slow.received) < 50:
        slow.peers.resume(b"b0")
        before = len(slow.received)
        while len(slow.received) < before + 5:
            network.step()
        silent(network, slow, "b0")
        network.settle()
        network.advance(5)
    slow.peers.resume(b"b0")
    network.settle()
    assert numbers(slow) == sent
    assert network.core("b0").station.counters["too_slow"] == 0
