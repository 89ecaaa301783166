"""The steps of a traced publication, broker by broker."""

from __future__ import annotations

from overlay.systems.silbops.broker.tracing import Stepped
from overlay.systems.silbops.wire import messages as m
from tests.silbops.loop_network import World
from tests.silbops.test_broker import camera, shoot, vehicle, world

Told = list[tuple[str, Stepped]]


def steps(network: World) -> Told:
    """Since the last call, by broker."""
    found = []
    for name, core in network.cores.items():
        assert core.station.tracer is not None
        found += [(name.decode(), one) for one in core.station.tracer.take() if isinstance(one, Stepped)]
    return found


def told(several: Told, number: int, car: bytes) -> list[tuple[str, str, str]]:
    """Of a publication: broker, step and peer, which is called *car*."""
    return [
        (broker, one.step, one.peer.replace(car.hex(), "car"))
        for broker, one in several
        if one.about.endswith(f"|{number}") and one.step != "matched"
    ]


def test_one_of_so_many_is_traced_at_all_brokers() -> None:
    network = world(trace_one_in=3)
    cam, car = camera(network), vehicle(network)
    sent = [shoot(network, cam) for _ in range(3)]
    traced = next(number for number in sent if number % 3 == 0)
    assert told(steps(network), traced, car.id) == [
        ("b0", "published", cam.id.hex()),
        ("b0", "forwarded", "b1"),
        ("b1", "received", "b0"),
        ("b1", "forwarded", "b2"),
        ("b2", "received", "b1"),
        ("b2", "notified", "car"),
    ]
    shoot(network, cam)
    assert steps(network) == []


def test_who_says_no_to_a_publication() -> None:
    network = world(trace_one_in=1)
    cam, _ = camera(network, "b1"), vehicle(network, "b2")
    near = vehicle(network, "b1", x=130)
    shoot(network, cam, 300)
    found = {(one.step, one.peer): one for _, one in steps(network)}
    matched, filtered, withheld = found["matched", ""], found["filtered", "b2"], found["withheld", near.id.hex()]
    assert (matched.candidates, matched.rows) == (2, 2)
    assert (filtered.candidates, filtered.rows, filtered.detail) == (1, 1, "pub.x <= this.x + 20 is false")
    assert (withheld.subscriptions, withheld.detail) == ((1,), "pub.x <= this.x + 20 is false")
    assert found["filtered", "b0"].rows == 0, "no subscription came from there"
    shoot(network, cam, 100, "flood")
    flood = {(one.step, one.peer): one for _, one in steps(network)}
    assert (flood["filtered", "b2"].candidates, flood["filtered", "b2"].detail) == (0, "kind is 'flood', not = 'fire'")
    assert ("withheld", near.id.hex()) not in flood, "its content does not match"


def test_kept_for_a_client_that_is_away_and_sent_later() -> None:
    network = world(1, trace_one_in=1, keep_messages=1)
    cam, car = camera(network), vehicle(network, "b0")
    network.part(car.id, b"b0")
    network.settle()
    first, second = shoot(network, cam), shoot(network, cam)
    network.cut.clear()
    car.attach("b0")
    network.settle()
    found = steps(network)
    assert told(found, first, car.id)[1:] == [("b0", "kept", "car"), ("b0", "dropped", "car")]
    assert told(found, second, car.id)[1:] == [("b0", "kept", "car"), ("b0", "sent later", "car")]


def test_delivered_after_the_move() -> None:
    network = world(trace_one_in=1, handover_s=5)
    cam, car = camera(network, "b1"), vehicle(network, "b2")
    cam.request(m.Publish, {"kind": "fire"}, {"x": 100})
    while not network.queues[b"b2", car.id].arrived:
        network.step()
    number = cam.number
    network.part(car.id, b"b2")
    network.settle()
    network.cut.clear()
    car.attach("b0")
    network.settle()
    found = [one for one in told(steps(network), number, car.id) if one[0] != "b1"]
    assert found == [
        ("b0", "brought", "b2"),
        ("b0", "kept", "car"),
        ("b0", "sent later", "car"),
        ("b2", "received", "b1"),
        ("b2", "notified", "car"),
        ("b2", "returned", "car"),
        ("b2", "handed over", "b0"),
    ]
