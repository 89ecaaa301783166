"""A broker with its clients and neighbours, message by message (seed 002)."""

from __future__ import annotations

from random import Random
from typing import Any

from overlay.systems.silbops.broker.parts import parts
from overlay.systems.silbops.content.filters import EVERYTHING, read_filter
from overlay.systems.silbops.scope.text import parse
from overlay.systems.silbops.tables import Subscription
from overlay.systems.silbops.tables.rows import Context
from overlay.systems.silbops.wire import messages as m
from tests.silbops.loop_network import App, World

SQUARE = parse("this.x-20 <= pub.x <= this.x+20")
CHAIN = ((0, 1), (1, 2))
FIRE = read_filter([["kind", "=", "fire"]])


def world(brokers: int = 3, **settings: Any) -> World:
    network = World(brokers, CHAIN[: brokers - 1], Random(1), **settings)
    network.settle()
    return network


def camera(network: World, broker: str = "b0") -> App:
    app = network.app(broker)
    network.settle()
    app.request(m.Advertise, 1, EVERYTHING, frozenset({"x"}))
    network.settle()
    return app


def vehicle(network: World, broker: str = "b2", x: int = 100) -> App:
    app = network.app(broker)
    network.settle()
    app.request(m.SetCtx, {"x": x})
    app.request(m.Subscribe, 1, FIRE, SQUARE)
    network.settle()
    return app


def shoot(network: World, app: App, x: int = 100, kind: str = "fire") -> int:
    """Returns the number of the publication."""
    app.request(m.Publish, {"kind": kind}, {"x": x})
    network.settle()
    return app.number


def numbers(app: App) -> list[int]:
    return [number for _, number in app.received]


def test_a_vehicle_gets_what_its_square_holds_and_moves_its_square_by_one_message() -> None:
    network = world()
    cam, car = camera(network), vehicle(network)
    first = shoot(network, cam, 110)
    shoot(network, cam, 150)
    car.request(m.SetCtx, {"x": 160})
    network.settle()
    last = shoot(network, cam, 150)
    assert numbers(car) == [first, last]
    assert not car.unanswered
    assert not car.refused


def test_requests_are_refused_with_a_code_and_a_reason() -> None:
    network = world(1)
    app = network.app()
    app.home = b"b0"
    network.open(app.id, b"b0")
    app.peers.send(b"b0", m.Subscribe(1, 1, FIRE))
    network.settle()
    app.request(m.Unsubscribe, 5)
    app.request(m.Unadvertise, 5)
    app.request(m.Publish, {"kind": "fire"}, {"x": 1})
    app.request(m.Advertise, 1, FIRE, frozenset({"x"}), frozenset({"y"}))
    app.request(m.Publish, {"kind": "fire"}, {"x": 1}, SQUARE)
    network.settle()
    assert [(one.req, one.code) for one in app.refused] == [
        (1, m.Code.NOT_ATTACHED),
        (1, m.Code.UNKNOWN_ID),
        (2, m.Code.UNKNOWN_ID),
        (3, m.Code.NOT_ADVERTISED),
        (4, m.Code.BAD_SCOPE),
        (5, m.Code.BAD_SCOPE),
    ]


def test_the_context_of_a_publication_is_cut_to_what_is_advertised() -> None:
    network = world()
    cam = camera(network)
    speeding = network.app("b2")
    network.settle()
    speeding.request(m.SetCtx, {})
    speeding.request(m.Subscribe, 1, FIRE, parse("exists pub.speed"))
    network.settle()
    cam.request(m.Publish, {"kind": "fire"}, {"x": 1, "speed": 200})
    network.settle()
    assert numbers(speeding) == []
    cam.request(m.Advertise, 2, FIRE, frozenset({"speed"}))
    network.settle()
    cam.request(m.Publish, {"kind": "fire"}, {"x": 1, "speed": 200})
    network.settle()
    assert numbers(speeding) == [cam.number]


def test_one_notification_names_all_subscriptions_that_it_satisfies() -> None:
    network = world()
    cam, car = camera(network), vehicle(network)
    car.request(m.Subscribe, 7, EVERYTHING, None)
    car.request(m.Subscribe, 3, FIRE, None)
    network.settle()
    shoot(network, cam)
    assert [note.ids for note in car.received.values()] == [(1, 3, 7)]


def test_nobody_gets_its_own() -> None:
    network = world()
    cam = camera(network)
    cam.request(m.Subscribe, 1, EVERYTHING, None)
    network.settle()
    shoot(network, cam)
    cam.attach("b2")
    network.settle()
    shoot(network, cam)
    assert cam.received == {}


def test_a_client_that_is_away_gets_the_newest_when_it_is_back() -> None:
    network = world(keep_messages=2)
    cam, car = camera(network), vehicle(network)
    network.part(car.id, b"b2")
    network.settle()
    sent = [shoot(network, cam) for _ in range(3)]
    network.cut.clear()
    car.attach("b2")
    network.settle()
    assert numbers(car) == sent[1:]
    assert network.core("b2").statistics()["kept_dropped"] == 1


def test_a_client_that_stays_away_goes_with_all_its_rows() -> None:
    network = world(keep_s=30)
    camera(network)
    car = vehicle(network)
    network.part(car.id, b"b2")
    network.advance(29)
    network.settle()
    assert network.core("b0").statistics()["rows_subscriptions"] == 1
    network.advance(2)
    network.settle()
    assert [core.statistics()["rows_subscriptions"] for core in network.cores.values()] == [0, 0, 0]
    assert [core.statistics()["rows_contexts"] for core in network.cores.values()] == [0, 0, 0]
    assert len(network.core("b2").clients) == 0


def test_what_was_not_acknowledged_comes_first_and_repeats_are_told_apart() -> None:
    network = world()
    cam, car = camera(network), vehicle(network)
    sent = [shoot(network, cam)]
    cam.request(m.Publish, {"kind": "fire"}, {"x": 100})
    sent.append(cam.number)
    while not network.queues[b"b2", car.id].arrived:
        network.step()
    network.part(car.id, b"b2")
    sent.append(shoot(network, cam))
    network.cut.clear()
    car.attach("b2")
    network.settle()
    assert numbers(car) == sent
    assert car.repeats == 1


def test_a_client_takes_everything_along_to_another_broker() -> None:
    network = world(handover_s=5)
    cam, car = camera(network), vehicle(network)
    for number in range(2, 6):
        car.request(m.Subscribe, number, FIRE, None)
    network.settle()
    network.part(car.id, b"b2")
    sent = [shoot(network, cam) for _ in range(4)]
    network.settle()
    car.attach("b0")
    network.settle()
    assert numbers(car) == sent
    sent.append(shoot(network, cam))
    assert numbers(car) == sent
    assert network.core("b2").statistics()["moved_now"] == 1
    network.advance(6)
    network.settle()
    assert [core.statistics()["rows_subscriptions"] for core in network.cores.values()] == [5, 0, 0]
    sent.append(shoot(network, cam))
    car.request(m.SetCtx, {"x": 0})
    network.settle()
    shoot(network, cam, kind="flood")
    assert numbers(car) == sent


def test_what_an_old_broker_passes_on_is_tested_with_the_present_context() -> None:
    network = world(handover_s=5)
    cam, car = camera(network), vehicle(network, x=100)
    neighbour = network.app("b2")
    network.settle()
    neighbour.request(m.Subscribe, 1, FIRE, None)
    network.settle()
    car.attach("b0")
    network.settle()
    car.request(m.SetCtx, {"x": 0})
    network.settle()
    there = shoot(network, cam, 100)
    here = shoot(network, cam, 0)
    assert (numbers(neighbour), numbers(car)) == ([there, here], [here])


def test_brokers_come_to_rest_after_a_client_with_two_equal_subscriptions_has_moved() -> None:
    network = world(handover_s=5)
    cam, car = camera(network, "b0"), vehicle(network, "b2")
    camera(network, "b2")
    car.request(m.Subscribe, 2, FIRE, SQUARE)
    network.settle()
    car.attach("b1")
    network.settle()
    assert sum(core.peers.counters["Sub"] for core in network.cores.values()) < 10
    number = shoot(network, cam)
    assert numbers(car) == [number]


def test_a_client_whose_old_broker_is_gone_starts_anew() -> None:
    network = world()
    cam, car = camera(network), vehicle(network)
    network.part(b"b0", b"b2")
    network.part(car.id, b"b2")
    car.attach("b0")
    network.settle()
    network.advance(6)
    network.settle()
    assert car.is_attached
    assert numbers(car) == []
    number = shoot(network, cam)
    assert numbers(car) == [number]


def test_a_client_whose_old_broker_has_forgotten_it_starts_anew_at_once() -> None:
    network = world(keep_s=30)
    cam, car = camera(network), vehicle(network)
    network.part(car.id, b"b2")
    network.advance(31)
    network.settle()
    assert len(network.core("b2").clients) == 0
    car.attach("b0")
    network.settle()
    assert car.is_attached
    assert not car.unanswered
    number = shoot(network, cam)
    assert numbers(car) == [number]
    assert network.core("b2").statistics()["moves_unknown"] == 1


def test_so_does_one_that_has_gone_on_meanwhile() -> None:
    network = world(keep_s=30)
    cam, car = camera(network), vehicle(network)
    network.part(car.id, b"b2")
    network.advance(31)
    network.settle()
    car.attach("b1")
    while not len(network.core("b1").arriving):
        network.step()
    network.part(car.id, b"b1")
    car.said = b"b1"
    car.attach("b0")
    network.settle()
    assert car.is_attached
    assert len(network.core("b1").clients) == 0
    number = shoot(network, cam)
    assert numbers(car) == [number]


def test_a_move_that_meets_an_unfinished_one_waits_for_it() -> None:
    network = world()
    cam, car = camera(network), vehicle(network)
    car.attach("b1")
    while not len(network.core("b1").arriving):
        network.step()
    network.part(car.id, b"b1")
    car.said = b"b1"
    car.attach("b0")
    network.settle()
    network.advance(1)
    network.settle()
    assert car.is_attached
    number = shoot(network, cam)
    assert numbers(car) == [number]


def test_a_lost_neighbour_takes_its_rows_and_brings_them_again() -> None:
    network = world()
    cam, car = camera(network), vehicle(network)
    network.part(b"b1", b"b2")
    network.settle()
    shoot(network, cam)
    assert [core.statistics()["rows_subscriptions"] for core in network.cores.values()] == [0, 0, 1]
    network.cut.clear()
    network.advance(2)
    network.settle()
    number = shoot(network, cam)
    assert numbers(car) == [number]


def test_subscriptions_end_unless_their_owner_is_heard() -> None:
    network = world()
    camera(network)
    car = vehicle(network)
    car.request(m.Subscribe, 2, FIRE, None, 4_000)
    network.settle()
    network.advance(3)
    car.request(m.SetCtx, {"x": 1})
    network.settle()
    network.advance(3)
    network.settle()
    assert network.core("b2").statistics()["rows_subscriptions"] == 2
    network.advance(2)
    network.settle()
    assert network.core("b2").statistics()["rows_subscriptions"] == 1


def test_a_slow_client_makes_all_others_wait_but_not_for_ever() -> None:
    network = world(bound=10)
    cam, car = camera(network), vehicle(network)
    car.peers.pause(b"b2")
    for _ in range(60):
        cam.request(m.Publish, {"kind": "fire"}, {"x": 100})
    network.settle()
    edge = network.core("b2")
    assert edge.statistics()["paused"] >= 1
    assert len(network.queues[cam.id, b"b0"]) > 0, "the camera waits"
    car.peers.resume(b"b2")
    network.settle()
    assert len(numbers(car)) == 60
    assert edge.statistics()["paused"] == 0


def test_a_dry_publication_says_who_would_get_it_and_what_says_no() -> None:
    network = world()
    cam, car = camera(network), vehicle(network, x=100)
    first, second, edge = (network.core(name) for name in ("b0", "b1", "b2"))
    client, owner = first.clients.get(cam.id), edge.clients.get(car.id).owner  # type: ignore[union-attr]
    assert client is not None
    near, far = ({"x": x, "speed": 3} for x in (110, 150))
    fire, flood = {"kind": "fire"}, {"kind": "flood"}

    found = first.explaining.of_client(client, fire, near, None, None)
    assert found["to"] == [("broker", "b1")]
    assert found["context"] == {"x": 110}, "speed is not advertised"
    assert second.explaining.of_neighbour("b0", fire, found["context"], None, None)["to"] == [("broker", "b2")]
    assert edge.explaining.of_neighbour("b1", fire, found["context"], None, None)["to"] == [("client", car.id.hex())]

    (row,) = first.explaining.of_client(client, fire, far, None, None)["rows"]
    assert row["says_no"] == "pub.x <= this.x + 20 is false"
    assert first.explaining.of_client(client, flood, far, None, None)["rows"] == []
    (row,) = first.explaining.of_client(client, flood, far, None, owner)["rows"]
    assert row["says_no"] == "kind is 'flood', not = 'fire'"
    assert edge.explaining.of_neighbour("b1", fire, far, None, owner)["told"] == [
        {"id": 1, "broker": "b1", "state": "told"}
    ]
    cam.request(m.Unadvertise, 1)
    network.settle()
    assert first.explaining.of_client(client, fire, near, None, None)["refused"].startswith("no advertisement")
    assert edge.explaining.of_neighbour("b1", fire, far, None, owner)["told"] == [
        {"id": 1, "broker": "b1", "state": "not called for"}
    ]


def test_a_dry_publication_says_which_clients_have_left_and_when() -> None:
    network = world(keep_s=30)
    cam, car, van = camera(network), vehicle(network), vehicle(network)
    edge = network.core("b2")

    def asked() -> Any:
        return edge.explaining.of_neighbour("b1", {"kind": "fire"}, {"x": 110}, None, None)

    assert asked()["away"] == {}
    network.part(car.id, b"b2")
    network.settle()
    network.advance(12)
    shoot(network, cam)
    found = asked()
    assert found["to"] == sorted([("client", car.id.hex()), ("client", van.id.hex())]), "it is kept for the one"
    assert found["away"].keys() == {car.id.hex()}
    assert round(found["away"][car.id.hex()]) == 12
    network.cut.clear()
    car.attach("b2")
    network.settle()
    assert asked()["away"] == {}


def test_publishers_choose_among_subscribers_and_only_then_contexts_travel_with_plain_subscriptions() -> None:
    network = world(publisher_scope=True)
    cam = network.app("b0")
    car, other = network.app("b2"), network.app("b2")
    network.settle()
    cam.request(m.Advertise, 1, EVERYTHING, frozenset({"x"}), frozenset({"group"}))
    for app, group in ((car, 0.2), (other, 0.7)):
        app.request(m.SetCtx, {"group": group})
        app.request(m.Subscribe, 1, FIRE, None)
    network.settle()
    assert [core.statistics()["rows_contexts"] for core in network.cores.values()] == [2, 2, 2]
    cam.request(m.Publish, {"kind": "fire"}, {"x": 1}, parse("this.group < 0.5"))
    network.settle()
    assert (len(car.received), len(other.received)) == (1, 0)
    cam.request(m.Publish, {"kind": "fire"}, {"x": 1}, parse("this.age < 5"))
    network.settle()
    assert cam.refused[-1].code is m.Code.BAD_SCOPE


def test_the_context_of_a_publisher_goes_once_and_then_its_version() -> None:
    network = world(publisher_context="forwarded")
    cam, car = camera(network), vehicle(network)
    for x in (100, 100, 100, 101):
        shoot(network, cam, x)
    assert len(numbers(car)) == 4
    counters = network.core("b0").peers.counters
    assert (counters["Pub"], counters["Pctx"]) == (4, 2)


def test_a_branch_without_need_is_pruned_and_learns_when_it_is_wanted_again() -> None:
    network = world(publisher_context="forwarded", prune="timed", prune_after_s=10)
    cam, car = camera(network), vehicle(network)
    shoot(network, cam, 500)
    network.settle()
    rows = [core.statistics()["rows_subscriptions"] for core in network.cores.values()]
    assert rows == [1, 1, 1]
    network.advance(11)
    network.settle()
    rows = [core.statistics()["rows_subscriptions"] for core in network.cores.values()]
    assert rows == [0, 0, 1]
    shoot(network, cam, 110)
    number = shoot(network, cam, 110)
    assert number in numbers(car)


def test_publishers_of_the_siena_arm_have_neither_functions_nor_contexts_of_their_own() -> None:
    """Both arms of an experiment may have the settings; there they mean nothing."""
    network = world(arm="siena", publisher_scope=True, publisher_context="forwarded", prune="each-change")
    cam, cars = network.app("b0"), [network.app("b2"), network.app("b2")]
    network.settle()
    cam.request(m.Advertise, 1, EVERYTHING, frozenset(), frozenset({"group"}))
    network.settle()
    assert [one.code for one in cam.refused] == [m.Code.BAD_SCOPE]
    cam.request(m.Advertise, 1, EVERYTHING, frozenset())
    for car in cars:
        car.request(m.Subscribe, 1, FIRE, None)
    network.settle()
    assert network.core("b2").statistics()["rows_forwarded"] == 1, "one covers the other"
    cam.request(m.Publish, {"kind": "fire", "@x": 1}, {})
    network.settle()
    assert [len(car.received) for car in cars] == [1, 1]
    assert network.core("b0").peers.counters["Pctx"] == 0


def test_times_of_zero_keep_nothing() -> None:
    nanosecond = 1e-9  # no deadline is due at once
    network = world(keep_s=0, handover_s=0)
    camera(network)
    car = vehicle(network)
    car.attach("b1")
    network.settle()
    network.advance(nanosecond)
    network.settle()
    assert network.core("b2").statistics()["moved_now"] == 0
    network.part(car.id, b"b1")
    network.advance(nanosecond)
    network.settle()
    assert [core.statistics()["rows_subscriptions"] for core in network.cores.values()] == [0, 0, 0]


def test_a_context_and_a_row_that_fill_a_message_each_move_in_two() -> None:
    class Narrow:
        def encoded(self, take: m.Take) -> bytes | None:
            return None if take.context is not None and take.subscriptions else b"fits"

    key = (b"o" * 16, 1)
    take = m.Take(b"c" * 16, key[0], Context(1, {"x": 1}), (m.Sub(Subscription(key, FIRE, None)),), (), ())
    context, row = parts(Narrow(), take)
    assert (context.context, context.subscriptions, context.is_last) == (take.context, (), False)
    assert (row.context, row.subscriptions, row.is_last) == (None, take.subscriptions, True)
