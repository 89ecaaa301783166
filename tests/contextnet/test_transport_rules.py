"""Rules of the transport that only a particular order of events shows: old packets, new connections, new addresses."""

from __future__ import annotations

from overlay.systems.contextnet.transport.events import Ended, Moved, Opened
from overlay.systems.contextnet.transport.layouts import Type
from overlay.systems.contextnet.transport.packets import HEAD
from overlay.systems.contextnet.transport.settings import TransportSettings
from tests.contextnet.lossy import ELSEWHERE, GATEWAY
from tests.contextnet.test_transport import opened


def sent(world, kind, to):
    """The last datagram of this type to an address."""
    return next(data for data, _, where in reversed(world.sent) if where == to and data[0] & 15 == kind)


def test_a_packet_that_came_before_is_counted_and_changes_nothing():
    world, peer = opened()
    peer.end.ping(7, world.now)
    world.step(peer)
    ping = sent(world, Type.PING, GATEWAY)
    world.run(100)
    pong = sent(world, Type.PONG, peer.address)
    world.inject(ping, peer.address, GATEWAY)
    world.run(100)
    assert world.gateway.counters["replay"] == 1
    assert sent(world, Type.PONG, peer.address) == pong, "there is no second answer"


def test_a_node_that_could_not_resume_takes_sequences_from_the_beginning():
    world, peer = opened()
    for _ in range(3):
        world.give(peer)
    world.run(100)
    world.start()
    world.send(peer)
    world.run(3_000)
    assert not world.events(Opened)[-1].resumed
    world.give(peer)
    world.run(3_000)
    assert (peer.last, peer.waiting) == (3, {})


def test_an_acknowledgement_that_comes_late_says_nothing_of_what_was_sent_since():
    world, peer = opened(log_ms=300)
    world.send(peer)
    world.run(10)
    world.is_cut = True
    world.run(50)
    late = sent(world, Type.ACK, peer.address)
    assert HEAD.unpack_from(late)[4:] == (0, 1), "the first message has arrived and is not durable"
    world.is_cut = False
    world.run(500)
    assert peer.acknowledged == 1
    world.is_cut = True
    world.send(peer)
    world.run(10)
    world.is_cut = False
    world.inject(late, GATEWAY, peer.address)
    world.run(5_000)
    assert peer.acknowledged == 2, "it was lost, and sent again"


def test_what_was_only_shown_to_have_arrived_is_sent_again_on_a_new_connection():
    world, peer = opened(log_ms=100_000)
    world.send(peer)
    world.run(100)
    peer.end.suspend(world.now)
    world.step(peer)
    world.connect()
    world.run(500)
    assert world.events(Opened)[-1].resumed
    assert peer.end.counters["repeated"] == 1
    world.run(100_000)
    assert peer.acknowledged == 1


def test_the_answer_to_a_challenge_counts_only_from_the_address_that_it_proves():
    world, peer = opened()
    world.send(peer)
    data = sent(world, Type.DATA, GATEWAY)
    world.flying.clear()
    world.inject(data, ELSEWHERE, GATEWAY)
    world.inject(sent(world, Type.PATH_CHALLENGE, ELSEWHERE), GATEWAY, peer.address)
    world.run(5_000)
    assert sent(world, Type.PATH_RESPONSE, GATEWAY)
    assert not world.events(Moved)


def test_a_connection_to_a_busy_gateway_is_not_broken_by_repeats():
    world, peer = opened()
    world.gateway.is_busy = True
    world.send(peer)
    world.run(2_000)
    assert peer.acknowledged == 1
    world.is_cut = True
    world.send(peer)
    world.run(60_000)
    assert peer.end.counters["repeated"] > 5
    assert not world.events(Ended, peer)
    world.is_cut = world.gateway.is_busy = False
    world.run(20_000)
    assert (peer.acknowledged, len(world.events(Opened))) == (2, 1)


def test_after_a_move_all_that_was_lost_on_the_old_path_is_sent_at_once():
    world, peer = opened()
    world.give(peer)
    world.run(1_000)
    world.move(peer)
    for _ in range(3):
        world.give(peer)
    world.run(3_500)
    assert peer.last == 0
    peer.end.ping(0, world.now)
    world.step(peer)
    world.run(20)
    assert (len(world.events(Moved)), peer.last) == (1, 3)


def test_a_window_of_one_stays_one_after_a_time_out():
    world, peer = opened(settings=TransportSettings(window=1))
    world.is_cut = True
    world.send(peer)
    world.run(3_000)
    assert peer.end.counters["repeated"] > 0
    world.is_cut = False
    for _ in range(5):
        world.send(peer)
    world.run(20_000)
    assert peer.acknowledged == 6
