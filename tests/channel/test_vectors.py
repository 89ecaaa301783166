"""Section 6 of the contract, byte for byte, through the object as far as it can be seen there."""

from __future__ import annotations

from overlay.channel import ChannelSettings, Loose, Up, wire
from overlay.channel.channel import Channel
from overlay.channel.limits import Limits
from overlay.channel.records import cut
from overlay.channel.round_trip import RoundTrip
from tests.channel.scripted import B0, B1, MS, A, B, Pair, Scripted, number_from, session_of

KEY = bytes(range(32))
HELLO = bytes.fromhex("c5030100" + "00" * 24 + "1111111111111111" + "026230").ljust(96, b"\0")
WELCOME = bytes.fromhex("c50401001111111111111111" + "00" * 16 + "2222222222222222" + "026231")
TWO = bytes.fromhex("c5010100222222222222222200000001000000000000000000000000" + "000493020107" + "0003921000")
CUT = bytes.fromhex("c50101002222222222222222ffffffff000000040000000000000000" + "8003616161" + "000162")
ACK = bytes.fromhex("c5020100111111111111111100000000000000030000000000000005")
SEAL = bytes.fromhex("f01431984127357dcb4c15e8867aac3a")
RESET = bytes.fromhex("c505" + "00" * 26 + "2222222222222222")
PROBE = bytes.fromhex("c50701002222222222222222" + "00" * 16 + "0102030405060708")
LOOSE = bytes.fromhex("c509" + "00" * 26 + "026331" + "92142a")


def test_hello_and_welcome():
    pair = Pair(is_up=False)
    hello = pair.drain(pair.b0)
    assert hello == [(HELLO, B1)] and len(HELLO) == 96
    pair.give(hello, pair.b1)
    welcome = pair.drain(pair.b1)
    assert welcome == [(WELCOME, B0)]
    pair.give(welcome, pair.b0)
    assert pair.log[B0] == [Up(b"b1", B1)]


def test_two_messages_in_one_datagram():
    pair = Pair()
    for message in (b"\x93\x02\x01\x07", b"\x92\x10\x00"):
        assert pair.b0.send(b"b1", message, pair.now)
    assert pair.drain(pair.b0) == [(TWO, B1)]


def test_a_message_in_two_records_at_numbers_around_two_to_the_32():
    pair = Pair()
    pair.b0._station.limits = Limits(ChannelSettings(), 0)
    pair.b0._station.limits.record = 3  # the vector's message is short
    number_from(pair, 2**32 - 2)
    session = session_of(pair.b0, b"b1")
    session.start_receiving().ack = 4
    pair.b0.send(b"b1", b"aaab", pair.now)
    out = pair.drain(pair.b0)
    assert out == [(CUT, B1)]
    pair.b1._station.sessions[b"b0"].start_sending().records = [b"\0\1x"] * 4
    pair.b1._station.sessions[b"b0"].sender.flights = [(0, 0, False)] * 4
    pair.b1.receive(CUT, B0, pair.now)
    assert [event.message for event in pair.b1.events()] == [b"aaab"]
    assert session_of(pair.b1, b"b0").receiver.ack == 2**32


def test_an_acknowledgement_shows_what_came_early():
    pair = Pair(ChannelSettings(frame=200))
    for number in range(1, 8):
        pair.b0.send(b"b1", bytes([number]) * 150, pair.now)
    out = pair.drain(pair.b0)
    assert len(out) == 7
    pair.give([out[i - 1] for i in (1, 2, 3, 5, 7)], pair.b1)
    assert pair.drain(pair.b1) == [(ACK, B0)]


def test_a_seal():
    assert wire.seal(ACK, KEY) == ACK + SEAL
    assert wire.is_sealed(ACK + SEAL, KEY)
    pair = Pair(ChannelSettings(frame=200), key=KEY)
    for number in range(1, 8):
        pair.b0.send(b"b1", bytes([number]) * 150, pair.now)
    out = pair.drain(pair.b0)
    pair.give([out[i - 1] for i in (1, 2, 3, 5, 7)], pair.b1)
    assert pair.drain(pair.b1) == [(ACK + SEAL, B0)]


def test_reset():
    channel = Channel(b"b1", ChannelSettings(), Scripted())
    channel.receive(TWO, B0, 0)
    assert channel.datagrams_to_send() == [(RESET, B0)]


def test_probe():
    pair = Pair()
    pair.b0._station._chance.numbers = [0x0102030405060708]
    pair.b0.moved(pair.now)
    assert pair.drain(pair.b0) == [(PROBE, B1)]
    pair.give([(PROBE, B1)], pair.b1)
    (answer, to), *_ = pair.drain(pair.b1)
    assert (answer[1], answer[28:], to) == (wire.PROBED, PROBE[28:], B0)


def test_loose():
    channel = Channel(b"c1", ChannelSettings(), Scripted())
    assert channel.send_loose(B0, b"\x92\x14\x2a")
    assert channel.datagrams_to_send() == [(LOOSE, B0)]
    other = Channel(b"b0", ChannelSettings(), Scripted())
    other.receive(LOOSE, B1, 0)
    assert other.events() == [Loose(b"c1", b"\x92\x14\x2a", B1)]


def test_the_time_out_after_four_samples():
    trip, outs = RoundTrip(), []
    for sample in (10, 14, 6, 100):
        trip.sample(sample * MS)
        outs.append(trip.rto)
    assert outs == [50 * MS, 50 * MS, 50 * MS, 125_320_312]


def test_a_long_message_is_cut():
    pair = Pair()
    assert [len(record) - 2 for record in cut(bytes(2_500), pair.b0._station.limits.record)] == [1_170, 1_170, 160]
    pair.b0.send(b"b1", bytes(2_500), pair.now)
    assert [len(data) for data, _ in pair.drain(pair.b0)] == [1_200, 1_200, 28 + 162]


def test_the_incarnations():
    pair = Pair()
    assert session_of(pair.b0, b"b1").ours == A == session_of(pair.b1, b"b0").theirs
    assert session_of(pair.b1, b"b0").ours == B == session_of(pair.b0, b"b1").theirs
