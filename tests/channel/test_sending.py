"""Order, acknowledgements, time-outs, losses, pauses and the bounds of the outbox."""

from __future__ import annotations

import pytest

from overlay.channel import ChannelSettings, Down, Message, wire
from overlay.channel.settings import MIB
from overlay.core.links import PROFILES, LinkShape
from overlay.core.node import SECOND
from tests.channel.lossy import World, numbers_after
from tests.channel.scripted import B0, B1, MS, B, Pair, session_of
from tests.channel.test_sessions import kinds, until_silent
from tests.thorough import examples

SMALL = ChannelSettings(frame=200, probe_s=0)


def send(pair, count, size=150, start=0):
    """As many datagrams, each of one record."""
    for number in range(start, start + count):
        assert pair.b0.send(b"b1", b"%d" % number + bytes(size - len(b"%d" % number)), pair.now)
    return pair.drain(pair.b0)


def sender(pair):
    return session_of(pair.b0, b"b1").sender


# ---- acknowledgements


def test_what_is_sent_within_one_drain_is_packed_together():
    pair = Pair()
    for number in range(40):
        pair.b0.send(b"b1", bytes([number]) * 100, pair.now)
    assert [len(data) for data, _ in pair.drain(pair.b0)] == [28 + 11 * 102] * 3 + [28 + 7 * 102]


def test_an_acknowledgement_waits_20_ms_for_something_to_ride_on():
    pair = Pair()
    pair.b0.send(b"b1", b"m", pair.now)
    pair.give(pair.drain(pair.b0), pair.b1)
    assert not pair.drain(pair.b1) and pair.b1.next_timer() == pair.now + 20 * MS
    pair.b1.handle_timer(pair.now + 20 * MS)
    assert kinds(pair.drain(pair.b1)) == [wire.ACK]


def test_it_rides_on_records():
    pair = Pair(ChannelSettings(probe_s=0))
    pair.b0.send(b"b1", b"m", pair.now)
    pair.give(pair.drain(pair.b0), pair.b1)
    pair.b1.send(b"b0", b"n", pair.now)
    back = pair.drain(pair.b1)
    assert kinds(back) == [wire.DATA]
    pair.give(back, pair.b0)
    assert not sender(pair).records
    assert session_of(pair.b1, b"b0").ack_at > pair.now + SECOND


@pytest.mark.parametrize(
    ("arriving", "acks"),
    [([0], 0), ([0, 1], 1), ([0, 1, 2], 1), ([1], 1), ([0, 0], 1), ([1, 0], 1)],
    ids=["one", "two", "three: one a drain", "opens a gap", "again", "closes a gap"],
)
def test_it_goes_alone_when_it_matters(arriving, acks):
    pair = Pair(SMALL)
    out = send(pair, 4)
    pair.give([out[i] for i in arriving], pair.b1)
    assert kinds(pair.drain(pair.b1)) == [wire.ACK] * acks


def test_nothing_is_left_to_do_once_all_is_acknowledged():
    pair = Pair(ChannelSettings(probe_s=0))
    pair.b0.send(b"b1", b"m", pair.now)
    pair.exchange()
    pair.wait(30)
    assert pair.b0.next_timer() is None and pair.b1.next_timer() is None
    assert not pair.b0.queued(b"b1")


# ---- time-outs and losses


def test_the_time_out_doubles_up_to_1_s_until_something_is_acknowledged():
    pair = Pair(ChannelSettings(probe_s=0, give_up_s=0))
    pair.b0.send(b"b1", b"m", pair.now)
    pair.drain(pair.b0)
    times = [now // MS for now, out, _ in until_silent(pair.b0, pair.now, most=6 * SECOND) if out]
    assert times == [200, 600, 1400, 2400, 3400, 4400, 5400]
    pair.now = 6 * SECOND
    pair.b1.receive(pair.sent[-1][0], B0, pair.now)
    pair.b1.handle_timer(pair.now + 20 * MS)
    pair.give(pair.drain(pair.b1), pair.b0)
    assert sender(pair).trip.wait == 200 * MS, "without a sample, as it was sent many times"


def test_a_time_out_sends_one_datagram_again():
    pair = Pair(ChannelSettings(probe_s=0))
    for number in range(40):
        pair.b0.send(b"b1", bytes([number]) * 100, pair.now)
    first, *_ = pair.drain(pair.b0)
    pair.b0.handle_timer(pair.now + 200 * MS)
    assert pair.drain(pair.b0) == [first]


def test_a_tail_of_losses_costs_round_trips_and_not_time_outs():
    world = World(settings=ChannelSettings(frame=200), shape=LinkShape(delay_ms=10))
    world.open(b"b0", b"b1")
    world.run(100)
    world.cut.add(frozenset((b"b0", b"b1")))
    for _ in range(40):
        world.send(b"b0", b"b1", 150)
    world.run(100)
    world.cut.clear()
    world.run(80 + 25 * 20)
    assert len(world.messages(b"b1")) == 40, "200 ms of the time-out, 20 round trips of two datagrams"


def test_a_lost_datagram_goes_again_when_three_later_ones_arrived():
    pair = Pair(SMALL)
    pair.give(send(pair, 1), pair.b1)
    pair.wait(30)
    out = send(pair, 6, start=1)
    pair.now += 40 * MS
    pair.give(out[1:3], pair.b1)
    pair.give(pair.drain(pair.b1), pair.b0)
    assert not pair.drain(pair.b0), "two of them may have overtaken it"
    pair.give(out[3:5], pair.b1)
    pair.give(pair.drain(pair.b1), pair.b0)
    assert pair.drain(pair.b0) == [out[0]]
    pair.give(out[5:], pair.b1)
    pair.give(pair.drain(pair.b1), pair.b0)
    assert not pair.drain(pair.b0), "once"
    before = sender(pair).trip.srtt
    pair.now += 900 * MS
    pair.give(out[:1], pair.b1)
    pair.give(pair.drain(pair.b1), pair.b0)
    assert not sender(pair).records and sender(pair).trip.srtt == before, "what was sent twice is no sample"


def test_what_goes_again_goes_first_with_what_is_new():
    pair = Pair(SMALL)
    out = send(pair, 1)
    pair.b0.handle_timer(pair.now + 200 * MS)
    pair.b0.send(b"b1", b"new", pair.now + 200 * MS)
    again, fresh = pair.drain(pair.b0)
    assert again == out[0] and fresh[0].endswith(b"\0\3new")


def test_a_record_is_not_sent_again_within_a_round_trip_of_its_last_sending():
    pair = Pair(SMALL)
    out = send(pair, 6)
    sender(pair).trip.sample(40 * MS)
    pair.now += 10 * MS
    pair.give(out[1:], pair.b1)
    pair.give(pair.drain(pair.b1), pair.b0)
    assert sender(pair).trip.srtt > 10 * MS and not pair.drain(pair.b0)


@pytest.mark.parametrize("seed", range(4))
def test_reordering_alone_costs_at_most_two_datagrams_a_record(seed):
    shape = LinkShape(delay_ms=10, jitter_ms=10, reordering=0.3, reordering_ms=30)
    world = World(settings=ChannelSettings(frame=200), shape=shape, seed=seed)
    world.open(b"b0", b"b1")
    world.run(200)
    for _ in range(100):
        world.send(b"b0", b"b1", 150)
        world.run(1)
    world.run(2_000)
    assert len(world.messages(b"b1")) == 100
    assert world.nodes[b"b0"].channel._station.sessions[b"b1"].sender.repeated <= 100


@pytest.mark.parametrize("profile", PROFILES)
def test_over_each_link_profile_all_is_delivered_both_ways(profile):
    world = World(shape=PROFILES[profile])
    world.open(b"b0", b"b1", keep=True)
    world.run(8_000)
    world.open(b"b1", b"b0", keep=True)
    for _ in range(150):
        world.send(b"b0", b"b1", 100)
        world.send(b"b1", b"b0", 1_500)
        world.run(2)
    world.run(20_000)
    assert len(world.messages(b"b0")) == len(world.messages(b"b1")) == 150


@pytest.mark.parametrize("seed", range(examples(48)))
def test_a_session_opens_over_a_link_that_loses_three_in_ten(seed):
    world = World(shape=PROFILES["L1"], seed=seed)
    world.open(b"b0", b"b1")
    world.send(b"b0", b"b1")
    world.run(5_000)
    assert len(world.messages(b"b1")) == 1


def test_what_a_time_out_or_a_pause_delayed_is_no_sample():
    pair = Pair(SMALL)
    out = send(pair, 1)
    pair.b0.handle_timer(pair.now + 200 * MS)
    pair.drain(pair.b0)
    pair.now += 250 * MS
    pair.give(out * 2, pair.b1)
    pair.give(pair.drain(pair.b1), pair.b0)
    assert not sender(pair).records and not sender(pair).trip.srtt
    pair.b1.pause(b"b0")
    pair.give(send(pair, 1), pair.b1)
    pair.b1.handle_timer(pair.now + 20 * MS)
    pair.give(pair.drain(pair.b1), pair.b0)
    pair.now += 5 * SECOND
    pair.b1.resume(b"b0", pair.now)
    pair.give(pair.drain(pair.b1), pair.b0)
    assert not sender(pair).records and not sender(pair).trip.srtt


# ---- windows and pauses


def test_no_more_than_the_window_is_under_way():
    pair = Pair(ChannelSettings(window=3, frame=200))
    out = send(pair, 10)
    assert len(out) == 3
    pair.give(out, pair.b1)
    pair.wait(100)
    assert len(pair.messages(pair.b1)) == 10


def test_the_room_of_the_peer_bounds_it_too():
    pair = Pair(SMALL, other=ChannelSettings(window=5))
    assert len(send(pair, 10)) == 5


def test_a_pause_keeps_records_and_a_resume_delivers_and_acknowledges_them():
    pair = Pair(ChannelSettings(window=4, frame=200, probe_s=0))
    pair.b1.pause(b"b0")
    pair.give(send(pair, 9), pair.b1)
    ((ack, _),) = pair.drain(pair.b1)
    head = wire.HEAD.unpack_from(ack)
    assert (head[1], head[2], head[5], head[6]) == (wire.ACK, 0, 0, 0b111), "no room, ack 0, sack 2 to 4"
    pair.give([(ack, B0)], pair.b0)
    assert not pair.drain(pair.b0) and not pair.messages(pair.b1)
    pair.wait(2_000)
    assert {data[1] for data, source, _ in pair.sent[6:] if source == B0} == {wire.PROBE}
    assert {data[1] for data, source, _ in pair.sent[6:] if source == B1} == {wire.PROBED}
    assert sender(pair).trip.wait == 200 * MS and not sender(pair).repeated
    pair.b1.resume(b"b0", pair.now)
    assert len(pair.b1._station.events) == 4
    pair.wait(50)
    assert len(pair.messages(pair.b1)) == 9
    assert pair.b0.next_timer() is None, "no further PROBE"


def test_a_pause_survives_the_loss_of_the_acknowledgement_that_ends_it():
    pair = Pair(SMALL)
    pair.b1.pause(b"b0")
    pair.give(send(pair, 3), pair.b1)
    pair.exchange()
    pair.b1.resume(b"b0", pair.now)
    pair.b1.datagrams_to_send()
    assert sender(pair).records
    pair.wait(300)
    assert not sender(pair).records and len(pair.b0.events()) == 0


def test_an_older_datagram_does_not_change_the_room():
    pair = Pair(SMALL)
    out = send(pair, 2)
    pair.b1.pause(b"b0")
    pair.give(out, pair.b1)
    paused = pair.drain(pair.b1)
    pair.b1.resume(b"b0", pair.now)
    pair.give(pair.drain(pair.b1), pair.b0)
    pair.give(paused, pair.b0)
    assert sender(pair).room == 256


@pytest.mark.parametrize("offset", [2**32 - 40, 2**31 - 40, 2**33 - 1])
def test_numbers_go_on_beyond_their_bits_on_the_wire(offset):
    with numbers_after(offset):
        world = World(
            settings=ChannelSettings(window=70, frame=200), shape=LinkShape(delay_ms=5, jitter_ms=5, loss=0.1)
        )
        world.open(b"b0", b"b1")
        for size in (150, 700):
            for _ in range(50):
                world.send(b"b0", b"b1", size)
                world.send(b"b1", b"b0", size)
        world.run(20_000)
        assert len(world.messages(b"b1")) == 100
        assert world.nodes[b"b0"].channel._station.sessions[b"b1"].sender.acked == offset + 300


# ---- messages


@pytest.mark.parametrize("size", [1, 1_170, 1_171, 32_768, 65_536])
def test_a_message_arrives_whole(size):
    pair = Pair()
    message = bytes(range(256)) * 256
    assert pair.b0.send(b"b1", message[:size], pair.now)
    pair.exchange()
    assert pair.messages(pair.b1) == [message[:size]]


def test_long_frames_have_records_of_32767_bytes():
    pair = Pair(ChannelSettings(frame=60_000))
    pair.b0.send(b"b1", bytes(65_536), pair.now)
    assert [len(data) - 28 for data, _ in pair.drain(pair.b0)] == [32_769, 32_769 + 4]
    pair.give([(data, to) for data, _, to in pair.sent], pair.b1)
    assert pair.messages(pair.b1) == [bytes(65_536)]


@pytest.mark.parametrize("size", [0, 65_537])
def test_other_sizes_are_refused(size):
    pair = Pair()
    assert not pair.b0.send(b"b1", bytes(size), pair.now)
    assert not pair.b0.send(b"nobody", b"m", pair.now)


def test_a_longer_message_breaks_the_session():
    pair = Pair(ChannelSettings(probe_s=0))
    pair.b1.send(b"b0", b"undelivered", pair.now)
    pair.drain(pair.b1)
    records = [b"\0\1m", *[b"\x84\x00" + bytes(1_024)] * 65]
    for number, record in enumerate(records, 1):
        pair.give([(wire.HEAD.pack(wire.MAGIC, wire.DATA, 256, B, number, 0, 0) + record, B1)], pair.b1)
    assert pair.log[B1] == [Message(b"b0", b"m"), Down(b"b0", "broken", [b"undelivered"])]
    pair.exchange()
    assert pair.log[B0][-1] == Down(b"b1", "reset", [])


# ---- the outbox


def waiting(pair):
    return pair.b0._station.sessions[b"b1"].sender.outbox


def test_the_oldest_waiting_message_of_the_lowest_class_is_dropped():
    pair = Pair(ChannelSettings(queue=4), is_up=False)
    for number, drop in enumerate([None, 1, 0, 2, 0, 1, 2, 2]):
        assert pair.b0.send(b"b1", b"%d" % number, 0, drop)
    assert pair.b0.is_full(b"b1") and pair.b0.queued(b"b1") == 4
    pair.exchange()
    assert pair.messages(pair.b1) == [b"0", b"3", b"6", b"7"]
    assert session_of(pair.b0, b"b1").sender.outbox.dropped == 4
    assert not pair.b0.is_full(b"b1") or pair.wait(50) or not pair.b0.is_full(b"b1")


def test_what_has_a_number_is_never_dropped():
    pair = Pair(ChannelSettings(queue=3, frame=200))
    send(pair, 3)
    pair.b0.send(b"b1", b"x", pair.now, 0)
    assert waiting(pair).dropped == 1 and len(sender(pair).records) == 3


def test_twice_the_bound_ends_the_session():
    pair = Pair(ChannelSettings(queue=3), is_up=False)
    for number in range(6):
        assert pair.b0.send(b"b1", b"%d" % number, 0)
        assert pair.b0.is_full(b"b1") == (2 <= number < 5)
    assert pair.b0.events() == [Down(b"b1", "overflow", [b"%d" % number for number in range(6)])]
    assert not pair.b0.send(b"b1", b"m", 0)


def test_an_overflow_tells_the_peer():
    pair = Pair(ChannelSettings(queue=1, window=1))
    for number in range(2):
        pair.b0.send(b"b1", b"%d" % number, pair.now)
    pair.exchange()
    assert [log[-1].reason for log in pair.log.values()] == ["overflow", "reset"]


def test_who_is_given_up_is_told_and_everything_is_handed_back():
    pair = Pair()
    pair.b0.give_up(b"b2", pair.now)
    pair.b0.pause(b"b1")
    pair.b0.send(b"b1", b"m", pair.now)
    pair.b0.give_up(b"b1", pair.now)
    pair.exchange()
    assert [log[-1].reason for log in pair.log.values()] == ["overflow", "reset"]
    assert pair.log[B0][-1].undelivered == [b"m"]


def test_bytes_are_bounded_too():
    pair = Pair(ChannelSettings(queue=1_000_000), is_up=False)
    for _ in range(16 * MIB // 65_536):
        assert not pair.b0.is_full(b"b1")
        pair.b0.send(b"b1", bytes(65_536), 0, 1)
    assert pair.b0.is_full(b"b1")
    pair.b0.send(b"b1", b"m", 0)
    assert waiting(pair).dropped == 1 and waiting(pair).bytes == 16 * MIB - 65_535
