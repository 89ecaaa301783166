"""What nodes and gateways do over good and bad networks, told as stories in virtual time."""

from __future__ import annotations

import pytest

from overlay.core.links import PROFILES, LinkShape
from overlay.systems.contextnet.transport import packets
from overlay.systems.contextnet.transport.events import Ended, Ending, Lingering, Moved, Opened, Refused
from overlay.systems.contextnet.transport.gate import Secret
from overlay.systems.contextnet.transport.layouts import Refusal
from overlay.systems.contextnet.transport.packets import Close
from overlay.systems.contextnet.transport.settings import TransportSettings
from tests.contextnet.lossy import CLEAR, ELSEWHERE, GATEWAY, World


def opened(nodes=1, **named):
    world = World(nodes, **named)
    world.connect()
    world.run(50)
    assert all(peer.end.is_open for peer in world.peers)
    return (world, *world.peers)


@pytest.mark.parametrize("profile", ["L1", "L2", "C1", "C2", "LR"])
def test_all_of_fifty_handshakes_succeed_on_each_link_of_the_quic_interop_runner(profile):
    for seed in range(50):
        world = World(shape=PROFILES[profile], seed=seed)
        peer = world.peers[0]
        world.connect()
        while not world.events(Opened):
            assert world.now < 120 * 10**9
            world.run(500)
        assert peer.end.is_open or world.events(Ended, peer)


def test_messages_of_all_sizes_cross_in_both_directions():
    world, peer = opened()
    for size in (20, 1_147, 1_148, 60_000):
        assert world.send(peer, size)
        assert world.give(peer, size)
    world.run(2_000)
    assert (peer.acknowledged, peer.last, peer.waiting) == (4, 3, {})


def test_a_node_learns_of_durability_though_the_acknowledgement_was_lost():
    world, peer = opened(log_ms=300)
    world.send(peer)
    world.run(250)
    world.is_cut = True
    world.run(200)
    assert (peer.settled, peer.acknowledged) == (1, 0)
    world.is_cut = False
    world.run(3_000)
    assert peer.acknowledged == 1
    assert peer.end.counters["repeated"] == 0, "what was shown to have arrived is not sent again"


def test_data_that_comes_again_is_counted():
    world, peer = opened()
    world.send(peer)
    world.run(1_000)
    world.send(peer)
    world.run(1)
    world.is_cut = True  # before it is acknowledged
    world.run(100)
    world.is_cut = False
    world.run(1_000)
    assert (peer.acknowledged, world.gateway.counters["again"]) == (2, 1)


def test_a_connection_breaks_after_the_last_repeat_and_is_resumed():
    world, peer = opened()
    world.send(peer)
    world.run(1_000)  # there is a sample: the time-out is the least one
    world.is_cut = True
    world.send(peer)
    world.run(12_500)
    assert not world.events(Ended, peer)
    world.run(200)
    assert [(event.reason, event.undelivered) for event in world.events(Ended, peer)] == [(Ending.BROKEN, (1,))]
    world.is_cut = False
    world.run(10_000)
    assert world.events(Opened)[-1].resumed
    assert (peer.acknowledged, world.events(Ended)) == (2, [])


def test_a_gateway_keeps_a_silent_node_and_its_messages_until_it_has_lingered():
    world, peer = opened()
    world.give(peer)
    world.run(1_000)
    world.is_cut = True
    world.give(peer)
    world.run(14_000)
    assert world.events(Lingering)
    assert world.give(peer), "it joins the queue"
    world.run(61_000)
    assert [(event.reason, event.undelivered) for event in world.events(Ended)] == [(Ending.BROKEN, (1, 2))]
    assert not world.give(peer)


def test_a_gateway_that_restarted_resets_its_nodes_and_they_connect_again():
    world, peer = opened()
    world.send(peer)
    world.run(100)
    world.start()
    world.send(peer)
    world.run(3_000)
    assert [event.reason for event in world.events(Ended, peer)] == [Ending.RESET]
    assert not world.events(Opened)[-1].resumed
    assert peer.acknowledged == 2


@pytest.mark.parametrize("host", ["192.0.2.7", "192.0.2.8"])
def test_a_connection_follows_its_node_to_a_new_address(host):
    world, peer = opened()
    world.move(peer, host)
    world.send(peer)
    world.give(peer)
    world.run(5_000)
    assert [event.address for event in world.events(Moved)] == [peer.address]
    assert len(world.events(Opened)) == 1
    assert (peer.acknowledged, peer.last) == (1, 0)


def test_without_validation_a_node_that_moved_connects_again():
    world, peer = opened(settings=TransportSettings(validation=False))
    world.move(peer)
    world.send(peer)
    world.run(60_000)
    assert world.gateway.counters["path"] > 0
    assert not world.events(Moved)
    assert world.events(Opened)[-1].resumed
    assert peer.acknowledged == 1


def test_a_packet_from_a_forged_address_moves_nothing_and_draws_little():
    world, peer = opened()
    world.send(peer)
    data = next(data for data, source, _ in reversed(world.sent) if source == peer.address)
    world.flying.clear()
    world.inject(data, ELSEWHERE, GATEWAY)
    world.run(5_000)
    assert 0 < world.answered[ELSEWHERE] <= 3 * len(data)
    assert not world.events(Moved)
    assert peer.acknowledged == 1


def test_a_busy_gateway_gets_nothing_new_for_a_while():
    world, peer = opened()
    world.gateway.is_busy = True
    world.send(peer)
    world.run(100)
    before = world.gateway.counters["data"], peer.end.counters["data"]
    world.send(peer)
    world.run(150)
    assert (world.gateway.counters["data"], peer.end.counters["data"]) == before
    world.gateway.is_busy = False
    world.run(5_000)
    assert peer.acknowledged == 2


def test_a_full_queue_refuses_the_next_message_and_loses_none():
    world, peer = opened(settings=TransportSettings(queue_per_connection=3))
    accepted = [world.send(peer) for _ in range(20)]
    assert (accepted[0], accepted[-1]) == (True, False)
    world.run(3_000)
    assert peer.acknowledged == sum(accepted)


def test_an_older_epoch_is_refused_with_the_one_to_exceed():
    world, peer = opened()
    world.gateway.learn_epoch(peer.id, 9, world.now)
    world.step(None)
    world.run(100)
    assert [event.reason for event in world.events(Ended, peer)] == [Ending.SUPERSEDED]
    world.connect()
    world.run(100)
    assert [event.code for event in world.events(Refused, peer)] == [Refusal.EPOCH]
    assert (peer.end.is_open, peer.end.epoch) == (True, 10)


def test_a_revoked_secret_ends_all_attempts():
    world = World()
    peer = world.peers[0]
    world.secrets[peer.id] = Secret(peer.secret, is_revoked=True)
    world.connect()
    world.run(1_000)
    assert [event.code for event in world.events(Refused, peer)] == [Refusal.SECRET]
    assert peer.end.next_timer() is None


def test_a_wrong_secret_gets_no_connection():
    world = World()
    world.secrets[world.peers[0].id] = Secret(b"x" * 32)
    world.connect()
    world.run(60_000)
    assert not world.gateway.members
    assert world.gateway.counters["proof"] > 0


def test_a_full_gateway_refuses_and_a_close_makes_room():
    world = World(2, settings=TransportSettings(max_connections=1))
    first, second = world.peers
    world.connect(first)
    world.run(100)
    world.connect(second)
    world.run(990)
    assert len(world.events(Refused, second)) == 1, "it was told to come again after a second"
    world.run(1_010)
    assert len(world.events(Refused, second)) > 1
    assert {event.code for event in world.events(Refused, second)} == {Refusal.FULL}
    first.end.close(world.now)
    world.step(first)
    world.run(60_000)
    assert [event.reason for event in world.events(Ended)] == [Ending.DONE]
    assert second.end.is_open


def test_an_idle_connection_is_kept_by_pings():
    world, _ = opened()
    world.run(300_000)
    assert len(world.events(Opened)) == 1
    assert not world.events(Lingering)


def test_a_gateway_that_shuts_down_tells_its_nodes():
    world, peer = opened()
    world.give(peer)
    world.gateway.close(peer.id, Close.SHUTTING_DOWN, world.now)
    world.step(None)
    assert [event.reason for event in world.events(Ended)] == [Ending.SHUTTING_DOWN]
    assert peer.handed_back == 1
    world.run(100)
    assert [event.reason for event in world.events(Ended, peer)] == [Ending.SHUTTING_DOWN]


def test_repeats_are_bounded_by_first_transmissions():
    lossy = LinkShape(delay_ms=5, loss=0.5)
    world, *peers = opened(5, settings=TransportSettings(repeat_share=0.2, retries=20))
    world.set_shape(lossy)
    for _ in range(20):
        for peer in peers:
            world.give(peer)
    world.run(20_000)
    counters = world.gateway.counters
    timers = len(peers) * 20  # at most one timer repeat a second each, which take no token if there is none
    assert 0 < counters["repeated"] <= 0.2 * counters["data"] + len(peers) + timers
    world.set_shape(CLEAR)
    world.settle()


def test_sequences_go_on_beyond_32_bits():
    world, peer = opened()
    member = world.gateway.members[peer.id]
    for sender, receiver in ((peer.end._sender, member.receiver), (member.sender, peer.end._receiver)):
        sender.acked = receiver.expected = 2**32 - 3
    world.set_shape(LinkShape(delay_ms=5, loss=0.2))
    for _ in range(6):
        world.send(peer, 2_000)
        world.give(peer, 2_000)
    world.settle()
    assert peer.acknowledged == 6
    assert member.receiver.expected == 2**32 + 9


def test_a_node_begins_a_new_connection_before_packet_numbers_run_out(monkeypatch):
    monkeypatch.setattr(packets, "NUMBERS", 400)
    world, peer = opened()
    for _ in range(200):
        world.send(peer)
        world.give(peer)
        world.run(100)
    opened_again = world.events(Opened)
    assert len(opened_again) > 1
    assert all(event.resumed for event in opened_again[1:])
    world.settle()
    assert peer.acknowledged == 200
    assert peer.last == 199


def test_a_short_packet_from_a_forged_address_draws_two_challenges_of_three():
    world, peer = opened()
    peer.end._connection.ask()
    [(data, _)] = peer.end.datagrams_to_send()
    world.inject(data, ELSEWHERE, GATEWAY)
    world.run(5_000)
    assert (len(data), world.answered[ELSEWHERE]) == (30, 2 * 38)


def test_a_flood_of_packets_of_no_connection_draws_ten_resets_a_second():
    world, _ = opened()
    for _ in range(100):
        world.inject(b"\x16" + bytes(40), ELSEWHERE, GATEWAY)
    assert world.gateway.counters["unknown"] == 100
    assert world.answered[ELSEWHERE] == 10 * 25
