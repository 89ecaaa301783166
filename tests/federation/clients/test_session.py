"""Registration at scripted brokers: what goes over the wire, and when."""

from itertools import pairwise

from overlay.core.chance import Stream
from overlay.core.node import SECOND
from overlay.systems.federation.clients.consumer import Consumer
from overlay.systems.federation.clients.events import Accepted, Answered, Ended, Left, Lost, Registered
from overlay.systems.federation.clients.live import Wanted
from overlay.systems.federation.clients.registering import State
from overlay.systems.federation.wire import messages as m
from tests.federation.clients.world import World, drained


def consumer(world, broker=0):
    return world.add(Consumer(world.terms, "c0", world.site(broker), Stream(7), world.now))


def wanted(world, seconds=60.0, **rest):
    return Wanted(("climate",), world.wall_ms + round(seconds * 1000), **rest)


def test_a_client_registers_and_keeps_its_registration_alive():
    world = World(keepalive_s=10.0, keepalive_share=0.5)
    client = consumer(world)
    world.run(21)
    (register,) = world.brokers[0].all(m.Register)
    assert register.advertisement.registration == client.registration >= 1_700_000_000 * 10**6
    kept = [at for at, message in world.brokers[0].heard if isinstance(message, m.KeepAlive)]
    assert [round(at / 1000) for at in kept] == [5, 10, 15, 20]
    assert {message.number for message in world.brokers[0].all(m.KeepAlive)} == {client.registration}
    assert drained(client, Registered) == [Registered("b0", client.registration)]


def test_unknown_to_its_broker_it_registers_again_and_subscribes_again():
    world = World()
    client = consumer(world)
    world.run(1)
    first = client.registration
    stream, query = client.subscribe([wanted(world), wanted(world, once=True)], world.now)
    gone = client.subscribe([wanted(world, 5)], world.now)[0]
    world.run(6)
    assert [one.number for one in drained(client, Ended)] == [gone.id.number]
    world.brokers[0].forget()
    world.run(11)
    assert world.brokers[0].kinds()[-3:] == ["KeepAlive", "Register", "Subscribe"]
    assert world.brokers[0].live("c0") == {stream.id, query.id}
    assert world.brokers[0].registrations["c0"].registration == client.registration > first
    news = client.events()
    assert [type(one) for one in news] == [Lost, Registered, Accepted]


def test_refused_as_invalid_it_keeps_alive_and_asks_once_more():
    world = World()
    client = consumer(world)
    world.run(1)
    world.brokers[0].refuse_next = [m.Code.INVALID]
    (one,) = client.subscribe([wanted(world)], world.now)
    world.run(1)
    assert world.brokers[0].kinds()[1:] == ["Subscribe", "KeepAlive", "Subscribe"]
    assert world.brokers[0].live("c0") == {one.id}

    world.brokers[0].refuse_next = [m.Code.INVALID, m.Code.INVALID]
    (other,) = client.subscribe([wanted(world)], world.now)
    world.run(1)
    assert world.brokers[0].kinds()[4:] == ["Subscribe", "KeepAlive", "Subscribe"]
    (ended,) = drained(client, Ended)
    assert ended == Ended(other.id.number, "refused", m.Code.INVALID, "as scripted")
    assert [one.id for one in client.live] == [one.id] and client.is_in


def test_what_was_withdrawn_or_renewed_before_a_refused_request_is_asked_again_stays_so():
    world = World()
    client = consumer(world)
    world.run(1)
    world.brokers[0].refuse_next = [m.Code.INVALID]
    gone, kept = client.subscribe([wanted(world), wanted(world)], world.now)
    client.withdraw([gone.id.number], world.now)
    client.renew(kept.id.number, kept.expires + 9_000, world.now)
    world.run(1)
    assert world.brokers[0].kinds()[1:] == [*["Subscribe"] * 3, "KeepAlive", "Subscribe"]
    assert world.brokers[0].live("c0") == {kept.id}
    assert world.brokers[0].told["c0"][kept.id].expires == kept.expires + 9_000


def test_a_request_without_an_answer_ends_at_its_deadline():
    world = World()
    client = consumer(world)
    world.run(1)
    world.brokers[0].is_mute = True
    req = client.lookup("climate", world.now, patience=2 * SECOND)
    world.run(1)
    assert not drained(client, Answered)
    world.run(1.1)
    assert drained(client, Answered) == [Answered(req, m.Code.TIMEOUT)]
    assert not len(client.requests)


def test_manual_it_tries_its_own_broker_until_it_is_back():
    world = World(give_up_s=2.0)
    client = consumer(world)
    (one,) = client.subscribe([wanted(world, 600)], world.now)
    world.run(1)
    broker = world.brokers[0]
    world.cut.add(broker.address)
    world.run(30)
    assert client.state in (State.SEEKING, State.WAIT) and drained(client, Lost) == [Lost("b0", "unreachable")]
    broker.restart()
    world.cut.clear()
    world.run(15)
    assert client.is_in and broker.live("c0") == {one.id}


def test_a_restarted_broker_is_registered_at_once():
    world = World(discovery="bdrs")
    client = consumer(world)
    world.run(1)
    world.brokers[0].restart()
    world.run(6)
    assert client.is_in and world.brokers[0].registrations["c0"].registration == client.registration
    assert not world.service.heard


def test_by_the_registration_service_another_broker_is_found():
    world = World(3, discovery="bdrs", give_up_s=2.0)
    client = consumer(world)
    (one,) = client.subscribe([wanted(world, 600)], world.now)
    world.run(1)
    world.service.found = world.found(0, 2, 1)
    world.cut.add(world.brokers[0].address)
    world.run(12)
    assert client.broker == "b2" and client.is_in
    assert world.brokers[2].live("c0") == {one.id}
    assert len(world.service.all(m.Find)) == 1 and not world.brokers[1].heard


def test_without_the_registration_service_its_own_broker_is_tried():
    world = World(2, discovery="bdrs", give_up_s=2.0)
    client = consumer(world)
    world.run(1)
    world.cut |= {world.brokers[0].address, world.service.address}
    world.run(20)
    assert not client.is_in
    world.cut.discard(world.brokers[0].address)
    world.run(25)
    assert client.is_in and client.broker == "b0"


def test_by_multicast_the_first_that_answers_wins():
    world = World(3, discovery="multicast", give_up_s=2.0)
    client = consumer(world)
    world.run(1)
    world.cut |= {world.brokers[0].address, world.brokers[1].address}
    world.run(12)
    assert client.broker == "b2" and client.is_in


def test_discover_goes_out_at_0_1_and_3_s():
    world = World(2, discovery="multicast", give_up_s=2.0)
    consumer(world)
    world.run(1)
    world.brokers[1].is_mute = True
    asked = []
    world.brokers[1].peers.send_loose = lambda *_: None
    original = world.brokers[1].receive_datagrams

    def receive(datagrams, now):
        asked.append(now)
        original(datagrams, now)

    world.brokers[1].receive_datagrams = receive
    world.cut.add(world.brokers[0].address)
    world.run(14)
    first, second, third = asked[:3]
    assert (second - first, third - first) == (SECOND, 3 * SECOND)


def test_refused_by_its_broker_it_tries_again_more_and_more_slowly():
    world = World(keepalive_s=4.0)
    world.brokers[0].refuse_register = [m.Code.LIMIT] * 4
    client = consumer(world)
    world.run(10)
    at = [at for at, message in world.brokers[0].heard if isinstance(message, m.Register)]
    assert [round((after - before) / 1000) for before, after in pairwise(at)] == [0, 1, 2, 2]
    assert client.is_in


def test_a_broker_that_never_answers_is_given_up():
    world = World(2, discovery="bdrs", keepalive_s=3.0, give_up_s=2.0)
    world.brokers[0].is_mute = True
    world.service.found = world.found(0, 1)
    client = consumer(world)
    world.run(8)
    assert client.is_in and client.broker == "b1"


def test_leaving_unregisters_and_is_silent():
    world = World()
    client = consumer(world)
    client.subscribe([wanted(world)], world.now)
    world.run(1)
    client.leave(world.now)
    world.run(3)
    assert world.brokers[0].kinds()[-1] == "Unregister" and drained(client, Left) == [Left()]
    assert client.state is State.OUT
    heard = len(world.brokers[0].heard)
    world.run(60)
    assert len(world.brokers[0].heard) == heard


def test_the_call_back_of_a_mobile_broker():
    world = World()
    client = consumer(world)
    world.run(1)
    world.brokers[0].peers.send("c0", m.Link(False))
    world.run(1)
    assert not client.is_link_up


def test_what_is_not_for_it_changes_nothing():
    world = World(2)
    client = consumer(world)
    world.run(1)
    stranger = world.brokers[1]
    stranger.peers.now = world.now
    stranger.peers.open("c0", next(address for address, node in world.nodes.items() if node is client))
    for message in (m.Link(False), m.Ack(1), m.Nack(2, 0, m.Code.UNKNOWN), m.Offer(), m.KeepAlive(3)):
        stranger.peers.send("c0", message)
    world.brokers[0].peers.send("c0", m.Offer())
    world.run(1)
    assert client.is_link_up and client.is_in and not drained(client, Lost)
    dropped = {name: number for name, number in client.peers.counters.items() if name.startswith("dropped")}
    assert dropped == {"dropped_stranger": 4, "dropped_answer": 1, "dropped_unexpected": 1}


def test_a_broker_that_moves_keeps_its_client():
    world = World()
    client = consumer(world)
    world.run(1)
    broker = world.brokers[0]
    registration = client.registration
    del world.nodes[broker.address]
    broker.address = ("10.0.0.2", 7000)
    world.nodes[broker.address] = broker
    broker.peers.channel.moved(world.now)
    world.run(30)
    assert client.is_in and client.registration == registration and len(broker.all(m.Register)) == 1
    assert len(broker.all(m.KeepAlive)) == 3 and client._site.address == broker.address


def test_a_broker_that_forgets_at_once_is_asked_more_and_more_slowly():
    world = World()
    broker = world.brokers[0]
    broker.refuse_next = [m.Code.UNKNOWN] * 1_000
    client = consumer(world)
    (one,) = client.subscribe([wanted(world, 600)], world.now)
    world.run(30)
    assert len(broker.all(m.Register)) == 2 + 5, "at once, after 1, 2, 4, 8 and 10 s"
    assert set(drained(client, Lost)) == {Lost("b0", "unknown", "as scripted")}
    broker.refuse_next = []
    world.run(10)
    assert client.is_in and broker.live("c0") == {one.id}
