"""What nodes and gateways do over QUIC, on good and bad networks, told as stories in virtual time.

Counterpart: ``tests.contextnet.test_transport`` tells them over Tether. aioquic draws its own random bytes, so that a
story is not repeated to the byte.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from overlay.core.chance import Stream
from overlay.core.links import PROFILES
from overlay.core.node import MILLISECOND
from overlay.systems.contextnet.quic import terms
from overlay.systems.contextnet.quic.gateway import QuicGatewayEnd
from overlay.systems.contextnet.quic.node import QuicNodeEnd
from overlay.systems.contextnet.transport import serving
from overlay.systems.contextnet.transport.admission import Admission
from overlay.systems.contextnet.transport.events import (
    Ended,
    Ending,
    Expired,
    Lingering,
    Moved,
    Opened,
    Refused,
    Repeating,
)
from overlay.systems.contextnet.transport.gate import Secret
from overlay.systems.contextnet.transport.layouts import Refusal, Type
from overlay.systems.contextnet.transport.packets import Close, Kind
from overlay.systems.contextnet.transport.settings import TransportSettings
from tests.contextnet.lossy import ELSEWHERE, GATEWAY, World

OVER_QUIC = TransportSettings(transport="quic")


def quic_world(nodes=1, shape=None, seed=1, log_ms=2, **settings):
    named = {"shape": shape} if shape else {}
    return World(nodes, settings=replace(OVER_QUIC, **settings), seed=seed, log_ms=log_ms, **named)


def opened(nodes=1, **named):
    world = quic_world(nodes, **named)
    world.connect()
    world.run(50)
    assert all(peer.end.is_open for peer in world.peers)
    return (world, *world.peers)


@pytest.mark.parametrize("profile", ["L1", "L2", "C1", "C2", "LR"])
def test_all_of_fifty_handshakes_succeed_on_each_link_of_the_quic_interop_runner(profile):
    for seed in range(50):
        world = quic_world(shape=PROFILES[profile], seed=seed)
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


@pytest.mark.parametrize("profile", ["L1", "C1"])
def test_messages_cross_bad_links_in_order_and_each_once(profile):
    world, peer = opened()
    world.set_shape(PROFILES[profile])
    for _ in range(30):
        world.send(peer, 2_000)
        world.give(peer, 2_000)
        world.run(200)
    world.settle()
    assert peer.acknowledged == 30


def test_what_waits_for_a_busy_node_is_not_sent_after_its_time():
    world, peer = opened()
    peer.end.is_busy = True
    world.give(peer)
    world.run(50)
    end, late = world.gateway, world.now + 10 * MILLISECOND
    assert end.send(peer.id, Kind.MESSAGE, b"late", "late", world.now, late)
    world.run(10_000)
    assert [one.token for one in world.events(Expired)] == ["late"]


def test_a_message_is_acknowledged_when_its_record_is_durable():
    world, peer = opened(log_ms=20_000)
    world.send(peer)
    world.run(19_000)
    assert (peer.settled, peer.acknowledged) == (0, 0)
    world.run(2_000)
    assert (peer.settled, peer.acknowledged) == (1, 1)
    assert not world.events(Ended, peer), "the gateway showed that it lives"
    assert peer.end.counters["repeated"] == 0


def test_a_connection_breaks_when_its_gateway_is_silent_and_is_resumed():
    world, peer = opened()
    world.send(peer)
    world.run(1_000)
    world.is_cut = True
    world.send(peer)
    world.run(12_500)
    assert not world.events(Ended, peer)
    world.run(200)
    assert [(event.reason, event.undelivered) for event in world.events(Ended, peer)] == [(Ending.BROKEN, (1,))]
    world.is_cut = False
    world.run(30_000)
    assert world.events(Opened)[-1].resumed
    assert (peer.acknowledged, world.events(Ended)) == (2, [])


def test_a_gateway_keeps_a_silent_node_and_its_messages_until_it_has_lingered():
    world, peer = opened()
    world.give(peer)
    world.run(1_000)
    world.is_cut = True
    world.give(peer)
    world.run(1_500)
    assert world.events(Repeating)
    assert world.gateway.is_slow(peer.id)
    world.run(12_500)
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
    world, peer = opened(validation=False)
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
    world.run(20_000)
    assert world.answered[ELSEWHERE] <= 3 * len(data)
    assert not world.events(Moved)
    assert peer.acknowledged == 1


def test_a_busy_gateway_gets_nothing_new_for_a_while():
    world, peer = opened()
    world.gateway.is_busy = True
    world.send(peer)
    world.run(100)
    before = peer.end.counters["data"]
    world.send(peer)
    world.run(50)
    assert peer.end.counters["data"] == before
    world.gateway.is_busy = False
    world.run(5_000)
    assert peer.acknowledged == 2


def test_a_node_that_sends_more_than_its_share_is_closed(monkeypatch):
    monkeypatch.setattr(serving, "TOO_FAR_AHEAD", 10 * MILLISECOND)
    world, peer = opened()
    for _ in range(10):
        world.send(peer)
    world.run(100)
    assert world.gateway.counters["rate of a node"] >= 1
    assert world.events(Ended, peer)[0].reason is Ending.PROTOCOL


def test_a_full_queue_refuses_the_next_message_and_loses_none():
    world, peer = opened(queue_per_connection=3, window=4)
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
    world = quic_world()
    peer = world.peers[0]
    world.secrets[peer.id] = Secret(peer.secret, is_revoked=True)
    world.connect()
    world.run(1_000)
    assert [event.code for event in world.events(Refused, peer)] == [Refusal.SECRET]
    world.run(10_000)
    assert peer.end.next_timer() is None


def test_a_wrong_secret_gets_no_connection():
    world = quic_world()
    world.secrets[world.peers[0].id] = Secret(b"x" * 32)
    world.connect()
    world.run(60_000)
    assert not world.gateway.members
    assert world.gateway.counters["proof"] > 0
    assert world.peers[0].end.is_heard, "its gateway answers, and does not accept it"


def test_a_full_gateway_refuses_and_a_close_makes_room():
    world = quic_world(2, max_connections=1)
    first, second = world.peers
    world.connect(first)
    world.run(100)
    world.connect(second)
    world.run(2_000)
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


def test_a_close_arrives_though_its_first_datagram_is_lost():
    world, peer = opened()
    world.is_cut = True
    world.gateway.close(peer.id, Close.SUPERSEDED, world.now)
    world.step(None)
    world.run(10)
    world.is_cut = False
    world.run(5_000)
    assert [event.reason for event in world.events(Ended, peer)] == [Ending.SUPERSEDED]


def test_a_node_that_hangs_up_leaves_nothing_but_its_epoch():
    world, peer = opened()
    peer.end.close(world.now)
    world.step(peer)
    world.run(10_000)
    assert (world.gateway.members, world.gateway._board.by_cid, world.gateway.epoch_of(peer.id)) == ({}, {}, 1)


def test_a_node_whose_network_is_away_says_nothing_and_resumes():
    world, peer = opened()
    peer.end.suspend(world.now)
    assert not peer.end.datagrams_to_send()
    world.step(peer)
    world.give(peer)
    world.run(5_000)
    assert not world.events(Lingering)
    world.connect()
    world.run(200)
    assert [event.resumed for event in world.events(Opened)] == [False, True]
    assert peer.last == 0


def test_a_datagram_of_another_version_is_answered_by_those_that_are_spoken():
    world, _ = opened()
    for _ in range(100):
        world.inject(b"\xc0\x00\x00\x00\x99\x08" + bytes(8) + b"\x08" + bytes(1_200), ELSEWHERE, GATEWAY)
    assert world.gateway.counters["version"] == 100
    assert 0 < world.answered[ELSEWHERE] < 1_200, "at most ten times a second"


def test_a_flood_of_packets_of_no_connection_draws_ten_resets_a_second():
    world, _ = opened()
    for _ in range(100):
        world.inject(b"\x40" + bytes(40), ELSEWHERE, GATEWAY)
    assert world.gateway.counters["unknown"] == 100
    assert world.answered[ELSEWHERE] == 10 * 25


# ---- without a network


def shuttle(one, one_at, other, other_at):
    """100 ms, in which what one sends the other has after a millisecond."""
    start = max(one.now, other.now)
    for now in range(start, start + 100 * MILLISECOND, MILLISECOND):
        for end in (one, other):
            end.handle_timer(now)
        first, second = one.datagrams_to_send(), other.datagrams_to_send()
        other.receive_datagrams([(data, one_at) for data, _ in first], now)
        one.receive_datagrams([(data, other_at) for data, _ in second], now)


NODE, SECRET = b"n" * 16, b"s" * 32
HERE = "192.0.2.7", 40_000


def gateway(secrets=None, **named):
    known = {NODE: Secret(SECRET)} if secrets is None else secrets
    return QuicGatewayEnd(1, b"g" * 32, known.get, OVER_QUIC, Stream(1), **named)


def node():
    return QuicNodeEnd(NODE, SECRET, 0, OVER_QUIC, Stream(2))


class Middle(QuicGatewayEnd):
    """Takes the place of a gateway, and keeps what its nodes say."""

    def _greeted(self, line, frame):
        self.heard = frame
        self.line = line


def test_a_man_in_the_middle_can_use_neither_proof():
    middle, phone, true, thief = Middle(1, b"m" * 32, {}.get, OVER_QUIC, Stream(3)), node(), gateway(), node()
    phone.connect((GATEWAY,), 0)
    shuttle(phone, HERE, middle, GATEWAY)
    assert middle.heard.type is Type.HELLO

    thief._secured = lambda line: line.greet(Type.HELLO, middle.heard.body)
    thief._board.secured = thief._secured
    thief.connect((GATEWAY,), 0)
    shuttle(thief, ELSEWHERE, true, GATEWAY)
    assert (true.counters["proof"], true.members) == (1, {}), "the HELLO was made for the certificate of the middle"

    middle.line.greet(Type.ACCEPT, bytes(46))
    middle._flush()
    shuttle(phone, HERE, middle, GATEWAY)
    assert (phone.counters["proof"], phone.is_open) == (1, False)


def test_each_host_greets_at_most_so_often_and_joins_so_many_times():
    end = gateway(admission=Admission(2, 1, (), is_private_only=False))
    phones = [node() for _ in range(3)]
    for phone in phones:
        phone.connect((GATEWAY,), 0)
        end.receive_datagrams([(data, HERE) for data, _ in phone.datagrams_to_send()], 0)
    assert end.counters["hello rate"] == 1


def test_connections_without_a_node_are_bounded_and_forgotten(monkeypatch):
    monkeypatch.setattr(terms, "HALF_OPEN", 2)
    end = gateway()
    for number in range(3):
        address = "192.0.2.7", 40_000 + number
        phone = node()
        phone.connect((GATEWAY,), 0)
        end.receive_datagrams([(data, address) for data, _ in phone.datagrams_to_send()], 0)
        phone.receive_datagrams([(data, GATEWAY) for data, _ in end.datagrams_to_send()], 0)
        end.receive_datagrams([(data, address) for data, _ in phone.datagrams_to_send()], 0)
        end.datagrams_to_send()
    assert (end.counters["half open"], len(end._board.strangers)) == (1, 2)
    end.handle_timer(terms.HANDSHAKE)
    assert (end._board.strangers, end._board.by_cid, end.next_timer()) == ({}, {}, None)


def test_an_unknown_node_is_refused_and_does_not_believe_it():
    end, phone = gateway({}), node()
    phone.connect((GATEWAY,), 0)
    shuttle(phone, HERE, end, GATEWAY)
    assert end.counters["refused secret"] == 1
    assert phone.counters["proof"] == 1, "a refusal without a proof is not believed"
