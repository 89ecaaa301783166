"""The registration service over time: clients, mobile brokers, lost sessions, restarts of brokers and of itself."""

from __future__ import annotations

import pytest

from overlay.core.addresses import format_address
from overlay.peers.peers import LEAVE_NS
from overlay.systems.federation.bdrs.events import BrokerRegistered, BrokerRemoved, TreePublished
from overlay.systems.federation.bdrs.publishing import HOLD
from overlay.systems.federation.bdrs.registry import State
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.values import BrokerAdvertisement, Candidate, Found
from tests.federation.registry_world import DELAY, MOMENT, SERVICE_AT, World, s
from tests.federation.test_bdrs import mesh


def found(*nodes):
    return tuple(Found(node.name, node.endpoint) for node in nodes)


# ---- clients


def test_a_client_finds_the_five_nearest_brokers():
    world = World()
    places = [(0, 0), (3, 0), (0, 1), (9, 9), (0, -2), (1, 1), None]
    nodes = [world.add(f"b{i}", position=place) for i, place in enumerate(places)]
    client = world.add("c0")
    world.moment()
    world.register(*nodes)
    world.moment()
    b0, b1, b2, b3, b4, b5, b6 = nodes
    world.send(client, m.Find(1, (0.0, 0.4)), m.Find(2), m.Find(3, (10.0, 9.0), "climate"), m.Find(0))
    world.moment()
    nearest, by_id = found(b0, b2, b5, b4, b1), found(b0, b1, b2, b3, b4)
    assert client.news() == [
        m.Found(1, nearest),
        m.Found(2, by_id),
        m.Found(3, found(b3, b1, b5, b2, b0)),
        m.Nack(19, 0, m.Code.BAD, m.UNNUMBERED),
    ]
    world.leave(b2)
    world.run(s(1))
    world.keep_alive(b1, b3, b4, b6)
    world.run(s(1) + MOMENT)
    world.send(client, m.Find(4, (0.0, 0.4)))
    world.moment()
    assert client.news() == [m.Found(4, found(b4, b1, b3, b6, b0))], (
        "b0 and b5 are invalid, and come after all valid ones"
    )


def test_there_is_an_answer_without_brokers_and_a_client_gets_no_epochs():
    world = World()
    client = world.add("c0")
    world.moment()
    world.send(client, m.Find(1, (0.0, 0.0)), m.KeepAlive(3))
    world.moment()
    mesh(world, "b0", "b1")
    world.run(s(1))
    assert client.news() == [m.Found(1, ()), m.Nack(2, 0, m.Code.UNKNOWN, "Register first.")]


def test_it_answers_discover_outside_sessions():
    world = World()
    one = world.add("c0", opens=False)
    one.peers.send_loose(SERVICE_AT, m.Discover(77))
    one.peers.send_loose(SERVICE_AT, m.Here(77, one.advertisement()))
    world._step(one)
    world.moment()
    (answer,) = one.loose
    assert answer.name == "bdrs"
    assert answer.message == m.Here(77, BrokerAdvertisement("bdrs", format_address(SERVICE_AT)))


# ---- mobile brokers


def test_a_mobile_broker_that_is_away_stays_until_its_end_and_a_move_is_told():
    world = World()
    b0, phone = world.add("b0", ("phone", 9)), world.add("phone", ("b0", 9), is_mobile=True)
    world.moment()
    world.register(b0, phone)
    world.run(HOLD + MOMENT)
    assert b0.edges == (("b0", "phone"),)
    world.cut.add("phone")
    world.run(s(3), keeps=[b0])
    assert world.service.registry.state("phone") is State.INVALID
    assert world.published().epoch == 2, "an absence is no change"
    world.cut.clear()
    phone.address = phone.address[0], 2000
    phone.endpoint = format_address(phone.address)
    phone.peers.now = world.now
    phone.peers.channel.moved(world.now)
    b0.news()
    world.register(phone)
    world.run(s(1))
    assert b0.news() == [m.Brokers(3, m.Whole.CHANGES, (phone.advertisement(),), (), (("b0", "phone"),))]
    assert phone.epoch == 3
    assert world.events(BrokerRemoved) == []


def test_the_session_of_a_mobile_broker_is_kept_until_it_is_removed():
    world = World(broker_keepalive_s=20.0)
    b0, phone = world.add("b0"), world.add("phone", is_mobile=True)
    world.moment()
    world.register(b0, phone)
    world.run(HOLD + MOMENT)
    world.cut.add("phone")
    for index in range(1, 4):
        b0.position = (index, 0.0)
        world.register(b0)
        world.run(s(9), keeps=[b0])
    assert world.service.statistics(world.now)["sessions"] == 2, "27 s, and it is given up after 5"
    world.cut.clear()
    phone.news()
    world.run(s(3))
    under_way, rest = phone.news()
    assert under_way.epoch == 3
    assert rest == m.Brokers(5, m.Whole.CHANGES, (b0.advertisement(),), (), ()), "what came while it was away"
    world.cut.add("phone")
    world.run(s(39), keeps=[b0])
    ((_, removal),) = world.events(BrokerRemoved)
    assert removal.broker == "phone"
    world.run(s(5), keeps=[b0])
    assert world.service.statistics(world.now)["sessions"] == 1


# ---- brokers


def test_a_broker_that_restarts_gets_all_again():
    world = World()
    b0, b1 = mesh(world, "b0", "b1")
    world.run(s(1))
    again = world.add("b0", ("b1", 1_000), opens=False)
    again.endpoint = b0.endpoint
    world.open(again)
    world.moment()
    world.register(again)
    world.moment()
    brokers = (again.advertisement(), b1.advertisement())
    assert again.news() == [m.Ack(1), m.Brokers(2, m.Whole.LAST, brokers, (), (("b0", "b1"),))]
    assert world.published().epoch == 2, "nothing has changed for others"
    assert len(world.events(BrokerRegistered)) == 2


def test_after_a_lost_session_a_broker_gets_what_it_lacks():
    world = World(broker_keepalive_s=20.0)
    b0, _, b2 = mesh(world, "b0", "b1", "b2")
    world.run(s(1))
    world.cut.add("b0")
    world.leave(b2)
    world.run(s(11))
    assert world.service.statistics(world.now)["sessions"] == 2
    world.cut.clear()
    world.open(b0)
    world.moment()
    b0.news()
    world.keep_alive(b0)
    world.moment()
    assert b0.news() == [m.Brokers(3, m.Whole.CHANGES, (), ("b2",), (("b0", "b1"),))]


def test_a_broker_that_left_and_is_back_at_once_gets_all_though_nothing_has_changed():
    world = World()
    b0, b1 = mesh(world, "b0", "b1")
    world.run(s(1))
    b0.position = (1.0, 1.0)
    world.register(b0)
    world.leave(b1)
    world.register(b1, last_epoch=0)
    world.run(HOLD + MOMENT)
    assert world.published().epoch == 3, "b0 has moved; then all was as it had been"
    brokers = (b0.advertisement(), b1.advertisement())
    assert b1.heard[-1][1] == m.Brokers(3, m.Whole.LAST, brokers, (), (("b0", "b1"),))


def test_in_a_new_session_a_silent_broker_gets_all():
    world = World(broker_keepalive_s=20.0)
    b0, b1 = mesh(world, "b0", "b1")
    world.run(s(1))
    b1.peers.now = world.now
    b1.peers.close("bdrs")
    world._step(b1)
    world.moment()
    world.open(b1)
    world.moment()
    b0.position = (1.0, 1.0)
    world.register(b0)
    world.moment()
    assert b1.heard[-1][1].whole is m.Whole.LAST, "it may have missed epoch 2"


def test_a_keep_alive_that_crosses_an_epoch_is_not_answered_by_it_again():
    world = World()
    b0, b1 = mesh(world, "b0", "b1")
    world.run(s(1))
    b1.news()
    b0.position = (1.0, 1.0)
    world.register(b0)
    world.run(DELAY + DELAY // 2)
    assert (world.published().epoch, b1.epoch) == (3, 2)
    world.keep_alive(b1)
    world.run(s(1))
    assert [type(message) for message in b1.news()] == [m.Brokers]


def test_what_several_ask_for_is_written_once(monkeypatch):
    world = World(broker_keepalive_s=20.0)
    nodes = mesh(world, *(f"b{i}" for i in range(6)))
    world.run(s(1))
    published, written = world.published(), []
    since = published.since
    monkeypatch.setattr(published, "since", lambda epoch: [written.append(epoch), since(epoch)][1])
    for epoch in (0, 1, 0, 1):
        for node in nodes:
            world.send(node, m.KeepAlive(epoch))
        world.run(s(1))
    assert written == [], "both forms were written with the epoch"
    assert [type(one) for one in nodes[5].news()][-4:] == 4 * [m.Brokers]
    nodes[0].position = (1.0, 1.0)
    world.register(nodes[0])
    world.run(s(1))
    assert written == [2]


def test_a_broker_that_acknowledges_nothing_is_not_sent_epoch_after_epoch():
    world = World(give_up_s=60.0, broker_keepalive_s=60.0)
    b0, b1 = mesh(world, "b0", "b1")
    world.run(s(1))
    world.cut.add("b1")
    for index in range(60):
        b0.position = (index, 0.0)
        world.register(b0)
        world.run(HOLD)
    assert world.service.peers.channel.queued(b"b1") <= 17
    world.cut.clear()
    world.run(s(2))
    world.keep_alive(b1)
    world.moment()
    assert b1.brokers["b0"].position == (59, 0.0) and b1.epoch == b0.epoch


# ---- the service


@pytest.mark.parametrize("kind", [m.KeepAlive, m.Broker])
def test_a_restarted_service_waits_and_continues_after_the_highest_epoch(kind):
    world = World()
    b0, b1, b2 = nodes = mesh(world, "b0", "b1", "b2")
    world.run(s(1))
    for index in range(3):
        b0.position = (index, 0.0)
        world.register(b0)
        world.run(HOLD)
    assert world.published().epoch == 5
    edges = b0.edges
    world.log.clear()
    world.start()
    world.keep_alive(*nodes)
    world.moment()
    for node in nodes:
        assert node.sessions[-1][1].reason == "reset"
        world.open(node)
    world.moment()
    for node in nodes:
        node.news()
    if kind is m.KeepAlive:
        at = world.now + DELAY
        world.keep_alive(b1)
        world.run(s(1))
        assert b1.news() == [m.Nack(2, 0, m.Code.UNKNOWN, "Register first.")]
        world.register(b0, b1, b2)
    else:
        at = world.now + DELAY
        world.register(b1)
        world.run(s(1))
        world.register(b0)
        world.register(b2, last_epoch=4)
    world.run(at + s(2) - 1 - world.now)
    assert not world.events(TreePublished) and not any(m.Brokers in map(type, node.news()) for node in nodes)
    world.run(1)
    assert world.events(TreePublished) == [(at + s(2), TreePublished(6, 3, edges))]
    world.moment()
    for node in nodes:
        (message,) = node.news()
        assert message.whole is m.Whole.LAST and node.epoch == 6 and len(node.brokers) == 3


def test_it_waits_once_only():
    world = World()
    b0, b1 = world.add("b0"), world.add("b1")
    world.moment()
    world.register(b0)
    world.moment()
    assert b0.epoch == 1
    world.register(b1, last_epoch=7)
    world.run(s(2) + DELAY - 1, keeps=[b0])
    assert world.published().epoch == 1
    world.run(1)
    assert world.published().epoch == 8
    world.run(HOLD)
    assert b0.epoch == b1.epoch == 8
    world.register(b1, last_epoch=20)
    world.moment()
    assert b0.epoch == b1.epoch == 21, "who was to register has done so"


def test_brokers_of_epochs_of_another_life_with_equal_numbers_are_told():
    world = World()
    b0, b1 = world.add("b0"), world.add("b1")
    world.moment()
    world.register(b0)
    world.run(s(1))
    world.register(b1, last_epoch=1)
    world.moment()
    assert b1.brokers.keys() == {"b0", "b1"} and b1.epoch == 2
    assert b1.heard[-1][1].whole is m.Whole.LAST


def test_it_leaves_with_an_end_of_all_sessions():
    world = World()
    b0, b1 = mesh(world, "b0", "b1")
    world.run(s(1))
    assert world.service.leave(world.now) == LEAVE_NS
    world._step_service()
    world.run(LEAVE_NS)
    assert [node.sessions[-1][1].reason for node in (b0, b1)] == ["closed", "closed"]
    assert world.service.statistics(world.now)["sessions"] == 0
    assert b0.epoch == 2 and b0.edges


# ---- settings


def test_with_suppress_all_links_are_edges():
    world = World(cycles="suppress")
    b0, _, b2 = mesh(world, "b0", "b1", "b2")
    world.run(HOLD + MOMENT)
    assert b0.edges == (("b0", "b1"), ("b0", "b2"), ("b1", "b2"))
    b0.candidates = (Candidate("b1", 1_000, False), *b0.candidates[1:])
    world.register(b0)
    world.run(HOLD + MOMENT)
    assert b2.edges == (("b0", "b2"), ("b1", "b2"))


def test_a_network_in_two_parts_has_two_trees():
    world = World()
    nodes = [world.add(name, (other, 5)) for name, other in (("b0", "b1"), ("b1", "b0"), ("b2", "b3"), ("b3", "b9"))]
    world.moment()
    world.register(*nodes)
    world.run(HOLD + MOMENT)
    assert nodes[0].edges == (("b0", "b1"), ("b2", "b3"))
