"""Hostile bytes: nothing raises, nothing changes, each is counted by its reason, and strangers get little."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.channel import Channel, ChannelSettings, Up, wire
from overlay.channel.answers import Answers
from overlay.core.node import SECOND
from tests.channel.scripted import B0, B1, MS, A, B, Pair, Scripted, session_of
from tests.thorough import examples

STRANGER = ("203.0.113.1", 53)


def busy_pair(key=None):
    """b1 has received 1 to 3 and 5, and has sent three records of which one is acknowledged."""
    pair = Pair(ChannelSettings(frame=200, window=8, probe_s=0), key=key)
    for number in range(5):
        pair.b0.send(b"b1", bytes([number]) * 120, pair.now)
    out = pair.drain(pair.b0)
    pair.give([out[0], out[1], out[2], out[4]], pair.b1)
    for number in range(3):
        pair.b1.send(b"b0", bytes([number]) * 120, pair.now)
    pair.give(pair.drain(pair.b1)[:1], pair.b0)
    pair.b0.handle_timer(pair.now + 20 * MS)
    pair.give(pair.drain(pair.b0), pair.b1)
    pair.drain(pair.b1)
    pair.b1.next_timer()
    return pair


def picture(channel):
    """All that a datagram may change, but for counters and what is known of strangers."""
    station = channel._station
    session = station.sessions[b"b0"]
    slots = [name for cls in type(session).__mro__ for name in getattr(cls, "__slots__", ()) if name != "station"]
    sides = [[getattr(side, name) for name in type(side).__slots__] for side in (session.sender, session.receiver)]
    outbox = session.sender.outbox
    outboxes = [getattr(outbox, name) for name in type(outbox).__slots__]
    trip = session.sender.trip
    trips = [getattr(trip, name) for name in type(trip).__slots__]
    return repr(
        (
            [getattr(session, name) for name in slots if name not in ("sender", "receiver")],
            [[value for value in side if value is not outbox and value is not trip] for side in sides],
            outboxes,
            trips,
            sorted(station.sessions),
            len(station.half_open),
            station.events,
        )
    )


def data(number, body, ack=0, sack=0, room=8, to=B, kind=wire.DATA, magic=wire.MAGIC):
    return wire.HEAD.pack(magic, kind, room, to, number & wire.LOW, ack & wire.LOW, sack) + body


ONE = b"\0\1m"
DROPPED = [
    (b"", "short"),
    (data(4, b"")[:27], "short"),
    (data(4, ONE, magic=0xC4), "magic"),
    (data(4, ONE, kind=0), "kind"),
    (data(4, ONE, kind=10), "kind"),
    (data(4, b""), "records"),
    (data(4, b"\0"), "records"),
    (data(4, b"\0\0"), "records"),
    (data(4, b"\x80\0"), "records"),
    (data(4, b"\0\2m"), "records"),
    (data(4, ONE + b"\0"), "records"),
    (data(4, ONE + b"\0\0"), "records"),
    (data(4, ONE + b"\xff\xff"), "records"),
    (data(12, ONE), "window"),
    (data(10, ONE * 3), "window"),
    (data(-1, ONE), "window"),
    (data(0, ONE), "window"),
    (data(4 + 2**31, ONE), "window"),
    (data(4, ONE, ack=4), "ack"),
    (data(4, ONE, ack=-5), "ack"),
    (data(0, b"", ack=4, kind=wire.ACK), "ack"),
    (data(0, b"x", kind=wire.ACK), "size"),
    (data(0, bytes(7), kind=wire.PROBE), "size"),
    (data(0, bytes(9), kind=wire.PROBED), "size"),
    (data(0, b"x", kind=wire.BYE), "size"),
    (wire.hello(7, b"x", 8)[:95], "hello"),
    (wire.hello(0, b"x", 8), "hello"),
    (wire.hello(7, b"", 8), "hello"),
    (wire.head(wire.HELLO, 0) + bytes(7) + b"\1\x50" + bytes(60), "hello"),
    (wire.head(wire.HELLO, 0) + bytes(7) + b"\1\x41" + bytes(70), "hello"),
    (wire.welcome(B, 9, b"b0", 8), "unasked"),
    (wire.welcome(B, 9, b"b0", 8) + b"x", "welcome"),
    (wire.welcome(B, 0, b"b0", 8), "welcome"),
    (wire.reset(12345), "reset"),
    (wire.reset(A) + b"x", "reset"),
    (wire.reset(A)[:30], "reset"),
    (wire.loose(b"", b"m"), "loose"),
    (wire.loose(b"c", b""), "loose"),
    (wire.head(wire.LOOSE, 0), "loose"),
    (wire.head(wire.LOOSE, 0) + b"\x05ab", "loose"),
    (data(4, ONE, to=99), "unknown"),
]


@pytest.mark.parametrize(("bytes_", "reason"), DROPPED, ids=lambda value: value if isinstance(value, str) else "")
def test_it_is_dropped_and_counted_and_changes_nothing(bytes_, reason):
    pair = busy_pair()
    before, counters = picture(pair.b1), Counter(pair.b1.counters)
    pair.b1.receive(bytes_, B0, pair.now)
    assert Counter(pair.b1.counters) - counters == {f"dropped_{reason}": 1}
    assert picture(pair.b1) == before
    assert bool(pair.b1.datagrams_to_send()) == (reason == "unknown"), "only a RESET is answered"


def mutations(draw_from):
    """Bytes, and datagrams of every kind with some bytes changed, cut off or added."""
    heads = st.builds(
        lambda kind, room, to, seq, ack, sack, body: wire.HEAD.pack(wire.MAGIC, kind, room, to, seq, ack, sack) + body,
        st.integers(0, 11),
        st.integers(0, 65_535),
        st.sampled_from([A, B, 0, 99]),
        st.sampled_from([0, 1, 3, 4, 5, 12, 2**31, 2**32 - 1]),
        st.sampled_from([0, 1, 2, 3, 4, 2**31, 2**32 - 1]),
        st.sampled_from([0, 1, 2, 2**63, 2**64 - 1]),
        st.one_of(st.binary(max_size=80), st.lists(st.binary(min_size=1, max_size=9), max_size=5).map(draw_from)),
    )
    return st.one_of(st.binary(max_size=130), heads)


def as_records(parts):
    return b"".join(len(part).to_bytes(2, "big") + part for part in parts)


@settings(max_examples=examples(240))
@given(st.lists(mutations(as_records), max_size=6), st.sampled_from([B0, STRANGER]), st.booleans())
def test_no_bytes_raise(datagrams, source, is_sealed):
    pair = busy_pair(b"key" if is_sealed else None)
    for one in datagrams:
        pair.b1.receive(wire.seal(one, b"key") if is_sealed else one, source, pair.now)
        pair.b1.check_invariants()
        pair.b1.next_timer()
        pair.b1.datagrams_to_send()
        pair.b1.check_invariants()
    pair.now += SECOND
    pair.b1.handle_timer(pair.now)
    pair.b1.check_invariants()


@settings(max_examples=examples(160))
@given(st.data())
def test_with_a_key_a_changed_datagram_changes_nothing(drawn):
    pair = busy_pair(b"key")
    genuine = [one for one, source, to in pair.sent if source == B0]
    one = bytearray(drawn.draw(st.sampled_from(genuine)))
    bit = drawn.draw(st.integers(0, 8 * len(one) - 1))
    one[bit // 8] ^= 1 << bit % 8
    before, counters = picture(pair.b1), Counter(pair.b1.counters)
    pair.b1.receive(bytes(one), B0, pair.now)
    assert picture(pair.b1) == before and not pair.b1.datagrams_to_send()
    assert Counter(pair.b1.counters) - counters == {"dropped_seal": 1}


def test_without_the_key_there_is_no_answer():
    channel = Channel(b"b1", ChannelSettings(), Scripted(), b"key")
    channel.receive(wire.hello(7, b"b0", 8), B0, 0)
    channel.receive(data(1, ONE * 9), B0, 0)
    channel.receive(b"x" * 43, B0, 0)
    assert channel.counters == {"dropped_seal": 2, "dropped_short": 1} and not channel.datagrams_to_send()


def test_sack_bits_beyond_what_was_sent_are_ignored():
    pair = Pair(ChannelSettings(frame=200, probe_s=0))
    for number in range(3):
        pair.b0.send(b"b1", bytes([number]) * 120, pair.now)
    pair.drain(pair.b0)
    pair.give([(data(0, b"", sack=2**64 - 1, to=A, kind=wire.ACK), B0)], pair.b0)
    assert session_of(pair.b0, b"b1").sender.sacked == 0b110


def test_a_full_table_raises_no_further_session(monkeypatch):
    monkeypatch.setattr("overlay.channel.handshake.MOST_SESSIONS", 1)
    monkeypatch.setattr("overlay.channel.channel.MOST_SESSIONS", 1)
    pair = Pair()
    pair.b1.receive(wire.hello(7, b"b2", 8), STRANGER, 0)
    ((welcome, _),) = pair.b1.datagrams_to_send()
    ours = wire.read_number(welcome)
    pair.b1.receive(data(0, bytes(8), to=ours, kind=wire.PROBE), STRANGER, 0)
    assert pair.b1.counters["dropped_full"] == 1 and not pair.b1.datagrams_to_send()
    assert not pair.b1.open(b"b3", STRANGER, 0)


def test_a_bad_datagram_raises_no_half_open_session():
    channel = Channel(b"b1", ChannelSettings(window=4), Scripted(B))
    channel.receive(wire.hello(7, b"b0", 8), B0, 0)
    for bad in (data(5, ONE), data(1, ONE, ack=1), data(1, b"\0"), data(0, b"", kind=wire.PROBE)):
        channel.receive(bad, B0, 0)
    assert not channel.events() and not channel._station.sessions


# ---- answers to strangers


def test_a_stranger_gets_ten_answers_in_any_second():
    channel = Channel(b"b1", ChannelSettings(), Scripted())
    times = []
    for now in range(0, 5 * SECOND, 17 * MS):
        channel.receive(data(1, ONE * 40, to=99), STRANGER, now)
        times += [now] * len(channel.datagrams_to_send())
    assert len(times) == 50
    assert all(later - earlier >= SECOND for earlier, later in zip(times, times[10:], strict=False))
    assert channel.counters["refused_answers"] > 200


def test_a_flood_of_hellos_from_one_address_drives_out_no_session_that_is_opening():
    pair = Pair(is_up=False)
    pair.give(pair.drain(pair.b0), pair.b1)
    welcome = pair.drain(pair.b1)
    for number in range(1, 5_000):
        pair.b1.receive(wire.hello(number, b"p%d" % number, 8), STRANGER, 0)
    assert len(pair.b1._station.half_open) == 1 + 10, "those that were answered"
    pair.give(welcome, pair.b0)
    pair.exchange()
    assert pair.log[B1] == [Up(b"b0", B0)]


@settings(max_examples=examples(200))
@given(st.lists(st.tuples(st.sampled_from("hdpPw"), st.integers(0, 3), st.integers(0, 400)), max_size=60))
def test_a_stranger_never_gets_three_times_what_came(steps):
    """HELLOs, datagrams of unknown sessions, and those of a real session that come from elsewhere."""
    pair = Pair(ChannelSettings(probe_s=0))
    came, went = Counter(), Counter()
    for what, host, ms in steps:
        source = ("203.0.113.1", host)
        one = {
            "h": wire.hello(1 + host, b"p%d" % (ms % 7), 8),
            "d": data(1, ONE, to=99),
            "p": data(0, bytes(8), kind=wire.PROBE),
            "P": data(0, b"", kind=wire.ACK),
            "w": b"",
        }[what]
        if one:
            came[source] += len(one)
            pair.b1.receive(one, source, pair.now)
        pair.now += ms * MS
        pair.b1.handle_timer(pair.now)
        for sent, to in pair.b1.datagrams_to_send():
            went[to] += len(sent)
        pair.b1.check_invariants()
    assert all(went[source] <= 3 * came[source] for source in went if source != B0)


def test_4096_addresses_are_remembered():
    answers = Answers()
    for port in range(5_000):
        answers.came(("203.0.113.1", port), 100)
    answers.check_invariants()
    assert len(answers) == 4_096
    assert not answers.may_send(("203.0.113.1", 0), 1, 0) and answers.may_send(("203.0.113.1", 4_999), 300, 0)
    assert not answers.may_send(("203.0.113.1", 4_999), 1, 0)


def test_a_probe_from_the_peers_own_address_is_always_answered():
    pair = Pair()
    for _ in range(50):
        pair.b1.receive(data(0, bytes(8), kind=wire.PROBE), B0, 0)
    assert len(pair.b1.datagrams_to_send()) == 50


def test_loose_messages_fit_into_one_datagram():
    channel = Channel(b"c1", ChannelSettings(frame=200), Scripted(), b"key")
    assert channel.send_loose(B1, bytes(200 - 16 - 28 - 3))
    assert not channel.send_loose(B1, bytes(200 - 16 - 28 - 2))
    assert not channel.send_loose(B1, b"")
    assert [len(one) for one, _ in channel.datagrams_to_send()] == [200]
