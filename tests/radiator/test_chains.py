"""Cutting, blobs, segments, the uplink, and what datagrams count."""

from __future__ import annotations

import json
from itertools import pairwise
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from overlay.core.chance import Stream
from overlay.core.errors import WireError
from overlay.core.node import MILLISECOND, SECOND
from overlay.core.timers import Timers
from overlay.systems.radiator.accounting import exchange_bytes, other_bytes, push_bytes
from overlay.systems.radiator.chains.arrivals import MAX_HALVES, Arrivals
from overlay.systems.radiator.chains.blobs import Place, chain_blob, open_blob
from overlay.systems.radiator.chains.chain import Chain, Member
from overlay.systems.radiator.chains.cutting import LOOK_AHEAD, chain_length, cut
from overlay.systems.radiator.chains.forming import Former
from overlay.systems.radiator.chains.propagation import Propagation
from overlay.systems.radiator.chains.transfers import Transfers
from overlay.systems.radiator.chains.uplink import Uplink
from overlay.systems.radiator.clients.table import Clients
from overlay.systems.radiator.config import Transport
from overlay.systems.radiator.wire import messages as m
from overlay.systems.radiator.wire.codec import parse
from overlay.systems.radiator.wire.compression import deflate
from tests.thorough import examples

TO = ("10.0.0.2", 1000)
PUSH = m.Push(1, 1, 0, 0, 1, 0, 0, 0, 1, b"macmacma", b"")


# ---- cutting


@pytest.mark.parametrize(
    ("percent", "base", "length"),
    [
        (0.2, 6_000, 12),
        (1, 60_000, 600),
        (50, 5, 3),
        (50, 4, 2),
        (0.001, 10, 1),
        (100, 7, 7),
        (12.5, 4, 1),
        (2.5, 20, 1),
    ],
)
def test_the_length_of_a_chain_is_a_share_rounded_half_up(percent, base, length):
    assert chain_length(percent, base) == length


def test_figure_2_makes_two_chains_of_two():
    chains = cut("BCDF", chain_length(50, 4), Stream(1))
    assert [len(chain) for chain in chains] == [2, 2]
    assert sorted("".join(map("".join, chains))) == list("BCDF")


@settings(max_examples=examples(200))
@given(st.integers(0, 200), st.integers(1, 50), st.integers(0, 2**32), st.booleans())
def test_chains_are_a_partition_and_equal_seeds_cut_equally(count, length, seed, is_chained):
    def chainability(a, b):
        return None if (a + b) % 7 == 0 else (a * b) % 5

    chain = chainability if is_chained else None
    chains = cut(range(count), length, Stream(seed), chain)
    assert sorted(one for chain in chains for one in chain) == list(range(count))
    assert chains == cut(range(count), length, Stream(seed), chain)
    assert all(1 <= len(chain) <= length for chain in chains)
    if not is_chained:
        assert len(chains) == -(-count // length)
    else:
        assert all((chainability(a, b) or 0) > 0 for chain in chains for a, b in pairwise(chain))


def test_a_chain_grows_by_the_most_chainable_of_the_next_64():
    order = cut(range(200), 200, Stream(3))[0]
    chain = cut(range(200), 2, Stream(3), lambda a, b: b + 1)[0]
    assert chain == [order[0], max(order[1 : 1 + LOOK_AHEAD])]
    assert cut(range(200), 2, Stream(3), lambda a, b: 1)[0] == order[:2]


# ---- blobs


def test_a_blob_is_canonical_json_and_its_body_is_copied():
    body = '{"a":{"x":"é"},"n":1}'.encode()
    members = [Place("10.0.0.1", 1000, "a"), Place("::1", 2, "ü")]
    blob = chain_blob(members, ("10.0.0.9", 7000), body)
    assert blob == b'[[["10.0.0.1",1000,"a"],["::1",2,"\xc3\xbc"]],["10.0.0.9",7000],' + body + b"]"
    assert json.loads(blob)[2] == json.loads(body)
    for codec in range(3):
        opened = open_blob(deflate(blob, codec), codec, 0, 10_000)
        assert [opened.place(position) for position in range(2)] == members
        assert (len(opened.members), opened.server, opened.body) == (2, ("10.0.0.9", 7000), body)
        assert open_blob(deflate(body, codec), codec, m.DIRECT, 10_000).body == body


@settings(max_examples=examples(1_000))
@given(st.binary(max_size=60) | st.text('[]",1a', max_size=40).map(str.encode))
def test_any_bytes_are_a_blob_or_raise_the_one_error(data):
    try:
        opened = open_blob(data, 0, 0, 1_000)
        assert all(opened.place(position).port for position in range(len(opened.members)))
    except WireError:
        return
    assert data.startswith(b"[") and data.endswith(b"]")
    assert isinstance(opened.body, bytes)


# ---- segments


class Line:
    """A sender and a receiver, with a line between them that loses, repeats and reorders."""

    def __init__(self, blob, segment_bytes=200, loss=0.0, seed=0, tries=10):
        self.random, self.loss, self.now = Random(seed), loss, 0
        self.transfers = Transfers(Transport(segment_bytes=segment_bytes, tries=tries, rto_ms=100), self.send)
        self.arrivals = Arrivals(5 * SECOND, 1 << 20)
        self.sent, self.on_the_way, self.arrived, self.failed = 0, [], [], []
        self.transfers.begin(PUSH, blob, TO, "tag", 0)

    def send(self, transfer, segment, is_repeat, now):
        self.sent += 1
        if self.random.random() >= self.loss:
            self.on_the_way += [parse(transfer.datagram(segment))] * self.random.choice([1, 1, 2])
        self.transfers.left(transfer, now)

    def run(self):
        while self.on_the_way or self.transfers:
            self.transfers.check_invariants()
            self.arrivals.check_invariants()
            if not self.on_the_way:
                self.now = self.transfers.next_timer()
                self.failed += self.transfers.handle_timer(self.now)
                continue
            self.receive(self.on_the_way.pop(self.random.randrange(len(self.on_the_way))))

    def receive(self, push):
        if self.arrived:
            ack = m.Ack(1, 1, 0, 0, push.segments, bytes(32))
        else:
            blob, ack = self.arrivals.receive(push, TO, self.now)
            if blob is not None:
                self.arrived.append(blob)
                ack = m.Ack(1, 1, 0, 0, push.segments, bytes(32))
        if ack is not None and self.random.random() >= self.loss:
            self.transfers.acknowledge(ack, TO, self.now)


@settings(max_examples=examples(100))
@given(st.integers(1, 200_000), st.sampled_from([0.0, 0.1, 0.3]), st.integers(0, 1_000))
@example(105_001, 0.0, 372)
def test_a_blob_arrives_in_segments_over_a_line_that_loses_and_reorders(size, loss, seed):
    blob = Random(seed).randbytes(size)
    line = Line(blob, loss=loss, seed=seed)
    line.run()
    assert line.arrived == [blob]
    if not loss:
        assert line.sent == -(-size // 200)


def test_at_most_256_segments_are_in_flight_and_only_missing_ones_are_repeated():
    line = Line(bytes(200 * 300))
    assert line.sent == 256
    line.on_the_way = [push for push in line.on_the_way if push.segment != 7]
    line.run()
    assert line.arrived
    assert 301 <= line.sent < 301 + 32, "those since the last acknowledgement are missing to the sender"


def acked(*segments):
    """The ACK of a receiver that has these."""
    base = next(one for one in range(300) if one not in segments)
    bits = sum(1 << (m.WINDOW - 1 - (one - base)) for one in segments if one > base)
    return m.Ack(1, 1, 0, 0, base, bits.to_bytes(32, "big"))


def test_a_receiver_that_dropped_its_half_gets_all_of_it_again():
    line = Line(bytes(600))
    for segments in ((0,), (0, 2), (0,)):  # the last one was overtaken
        assert line.transfers.acknowledge(acked(*segments), TO, 0) is None
    assert line.transfers.acknowledge(acked(1), TO, 0) is None, "it has this one only, since it dropped the others"
    line.on_the_way.clear()
    line.run()
    assert line.arrived == [bytes(600)]


def test_a_transfer_ends_whatever_its_receiver_says():
    line = Line(bytes(600), tries=3)
    for _ in range(50):
        for segments in ((0,), (0, 2), (1,)):
            line.transfers.acknowledge(acked(*segments), TO, 0)
            line.transfers.check_invariants()
    line.on_the_way.clear()
    line.loss = 1.0
    line.run()
    assert line.failed == ["tag"]


def test_a_transfer_without_an_answer_fails_after_its_tries_with_doubling_waits():
    line = Line(b"x", loss=1.0, tries=3)
    line.run()
    assert (line.sent, line.failed, line.now) == (3, ["tag"], (100 + 200 + 400) * MILLISECOND)


def test_nothing_is_repeated_when_its_receiver_may_have_forgotten_it():
    failed, sent = [], []
    transfers = Transfers(Transport(rto_ms=30_000, tries=10, seen_s=120), lambda *what: sent.append(what))
    transfers.begin(PUSH, b"x", TO, "tag", 0)
    while transfers and not failed:
        transfer, _, _, now = sent[-1]
        transfers.left(transfer, now)
        failed += transfers.handle_timer(transfers.next_timer())
    assert [now / SECOND for *_, now in sent] == [0, 30]
    assert failed == ["tag"]


def test_a_repeat_that_was_held_up_at_the_uplink_is_too_late_after_half_of_what_clients_remember():
    sent = []
    transfers = Transfers(Transport(seen_s=8), lambda *what: sent.append(what[0]))
    transfers.begin(PUSH, b"x", TO, None, 0)
    assert not transfers.is_too_late(sent[0], 60 * SECOND)  # it has never left
    transfers.left(sent[0], 60 * SECOND)
    assert not transfers.is_too_late(sent[0], 64 * SECOND)
    assert transfers.is_too_late(sent[0], 64 * SECOND + 1)


def test_a_bit_of_an_acknowledgement_stands_for_a_segment_after_base():
    arrivals = Arrivals(SECOND, 10_000)
    push = PUSH._replace(segments=400, part=b"x")
    for segment in [0, 1, 3, 257]:
        blob, ack = arrivals.receive(push._replace(segment=segment), TO, 0)
        assert (blob, ack) == (None, None)
    _, ack = arrivals.receive(push._replace(segment=399), TO, 0)
    assert ack.base == 2
    assert ack.bitmap == b"\x40" + bytes(30) + b"\x01"


def test_an_acknowledgement_comes_with_the_32nd_segment_and_with_a_repeated_one():
    arrivals = Arrivals(SECOND, 10_000)
    push = PUSH._replace(segments=100, part=b"x")
    acks = [arrivals.receive(push._replace(segment=segment), TO, 0)[1] for segment in [*range(64), 5]]
    assert [at for at, ack in enumerate(acks) if ack] == [31, 63, 64]


def test_at_most_64_blobs_are_half_received_and_they_are_dropped_after_a_while():
    arrivals = Arrivals(SECOND, 1_000)
    push = PUSH._replace(segments=2, part=b"x")
    for number in range(MAX_HALVES + 5):
        arrivals.receive(push._replace(propagation=number), TO, number)
    assert len(arrivals) == MAX_HALVES
    assert arrivals.receive(push._replace(propagation=MAX_HALVES, segment=1), TO, 99) == (None, None)
    arrivals.expire(SECOND + 10)
    assert len(arrivals) == MAX_HALVES - 11
    arrivals.check_invariants()


def test_no_sender_keeps_the_blobs_of_others_out():
    server, flooding, other = ("10.0.0.1", 7000), ("10.0.0.66", 6), ("10.0.0.3", 3)
    arrivals = Arrivals(SECOND, 1_000, is_client=lambda source: source != server)
    push = PUSH._replace(segments=2, part=b"x")
    arrivals.receive(push, server, 0)
    for number in range(2 * MAX_HALVES):
        arrivals.receive(push._replace(propagation=number), flooding, number)
    arrivals.receive(push, other, 900)
    arrivals.receive(push._replace(propagation=2), server, 901)
    assert len(arrivals) == MAX_HALVES
    for source, propagation in ((server, 1), (other, 1), (server, 2)):
        assert arrivals.receive(push._replace(propagation=propagation, segment=1), source, 902)[0] == b"xx"
    arrivals.check_invariants()


def test_the_server_loses_no_place_to_many_senders():
    server = ("10.0.0.1", 7000)
    arrivals = Arrivals(SECOND, 1_000, is_client=lambda source: source != server)
    push = PUSH._replace(segments=2, part=b"x")
    for number in range(MAX_HALVES):
        arrivals.receive(push._replace(propagation=number), server, number)
    for port in range(1, MAX_HALVES):
        arrivals.receive(push, ("10.0.0.66", port), 100)
    assert [arrivals.receive(push._replace(propagation=number, segment=1), server, 101)[0] for number in range(3)] == [
        b"xx"
    ] * 3


def test_a_segment_with_another_header_is_ignored_and_a_blob_that_is_too_long_is_dropped():
    arrivals = Arrivals(SECOND, 10)
    push = PUSH._replace(segments=3, part=b"xxxxx")
    arrivals.receive(push, TO, 0)
    assert arrivals.receive(push._replace(segment=1, mac=b"x" * 8), TO, 0) == (None, None)
    arrivals.receive(push._replace(segment=1), TO, 0)
    assert len(arrivals) == 1
    arrivals.receive(push._replace(segment=2), TO, 0)
    assert len(arrivals) == 0


# ---- uplink and accounting


def test_the_uplink_keeps_its_rate_and_sends_everything_else_before_pushes():
    left = []
    uplink = Uplink(1_000, lambda transfer, now: True, lambda transfer, now: left.append(now))
    transfers = Transfers(Transport(), lambda t, s, r, now: uplink.put(b"push", TO, 500, now, t))
    for number in range(3):
        transfers.begin(PUSH._replace(propagation=number), b"x", TO, None, 0)
    uplink.put(b"answer", TO, 250, 0)
    sent = []
    while (now := uplink.next_timer()) is not None:
        uplink.handle_timer(now)
        sent += [(now / SECOND, data) for data, _ in uplink.datagrams_to_send()]
        uplink.check_invariants()
    assert sent == [(0.5, b"push"), (0.75, b"answer"), (1.25, b"push"), (1.75, b"push")]
    assert left == [SECOND // 2, SECOND * 5 // 4, SECOND * 7 // 4]
    assert (uplink.bytes_sent, uplink.queued_bytes) == (1_750, 0)


def test_a_late_driver_does_not_hold_up_pushes_by_what_came_later():
    left = []
    uplink = Uplink(1_000, lambda transfer, now: True, lambda transfer, now: left.append(now))
    transfers = Transfers(Transport(), lambda t, s, r, now: uplink.put(b"push", TO, 500, now, t))
    for number in range(2):
        transfers.begin(PUSH._replace(propagation=number), b"x", TO, None, 0)
    uplink.put(b"answer", TO, 500, 2 * SECOND)
    assert left == [SECOND // 2, SECOND]
    assert uplink.next_timer() == 5 * SECOND // 2


def test_without_a_limit_everything_leaves_at_once():
    uplink = Uplink(0, lambda transfer, now: True, lambda transfer, now: None)
    uplink.put(b"a", TO, 29, 5)
    assert uplink.datagrams_to_send() == [(b"a", TO)]
    assert uplink.next_timer() is None


def test_datagrams_count_their_headers_and_http_counts_exchanges():
    assert push_bytes("datagram", 100, 45, 45, 0, is_repeat=False) == 128
    assert exchange_bytes(1_248) == 1_248 + 681
    assert exchange_bytes(1_249) == 1_249 + 681 + 66
    assert push_bytes("http", 100, 45, 2_000, 0, is_repeat=False) == 2_000 + 681 + 66
    assert push_bytes("http", 100, 45, 2_000, 1, is_repeat=False) == 0
    assert push_bytes("http", 100, 45, 2_000, 1, is_repeat=True) == 45 + 66
    assert other_bytes("datagram", m.Alive(1), 12) == 40
    noted = m.noted(m.Failed(1, 1, 0, 0, 1, 1))
    answers = [m.Accepted(1, 0, 0), noted, m.noted(m.Done(1, 1, 0, 0, 1, 1)), m.RegisterAgain(1)]
    assert [other_bytes("http", answer, 20) for answer in answers] == [611, 611, 0, 0]


@settings(max_examples=examples(200))
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 50)), max_size=60))
def test_timers_are_due_in_order_each_once(changes):
    timers, expected = Timers(), {}
    for key, at in changes:
        if at == 50:
            timers.cancel(key)
            expected.pop(key, None)
        else:
            timers.set(key, at)
            expected[key] = at
    assert timers.next_timer() == min(expected.values(), default=None)
    due = list(timers.due(30))
    assert sorted(due) == sorted(key for key, at in expected.items() if at <= 30)
    assert [expected[key] for key in due] == sorted(expected[key] for key in due)
    assert len(timers) == len(expected) - len(due)


# ---- the first pushes of a propagation


@settings(max_examples=examples(100))
@given(st.lists(st.booleans(), min_size=1, max_size=60), st.sampled_from([0, 3, 50, 100]), st.integers(0, 1_000))
def test_direct_pushes_and_chains_are_a_partition_and_only_p2p_clients_are_in_chains(p2p, percent, seed):
    clients = Clients(SECOND)
    for number, is_p2p in enumerate(p2p):
        clients.register(("10.0.0.1", 1 + number), f"c{number}", number, {}, is_p2p=is_p2p, req=1, now=0)
    config = Transport(chain_percent=percent, codec="none", max_blob_bytes=1_024)
    former = Former(config, ("10.0.0.9", 7000), 9, b"k" * 16, Stream(seed), None)
    propagation = Propagation(1, (1,), b"{}")
    direct = former.form(propagation, clients.reachable, clients.p2p)
    chained = [member for chain in propagation.chains for member in chain.members]
    assert sorted([*direct, *chained]) == sorted(Member.of(entry) for entry in clients)
    assert all(clients.get(member.key).is_p2p for member in chained)
    if percent:
        assert not any(clients.get(member.key).is_p2p for member in direct)
    assert all(len(chain.blob) <= 1_024 for chain in propagation.chains)
    assert [chain.push.length for chain in propagation.chains] == [len(chain.members) for chain in propagation.chains]


def test_a_silent_chain_waits_for_the_next_report():
    members = [Member(("10.0.0.1", f"c{number}"), number, TO) for number in range(100)]
    chain = Chain(members, PUSH, b"")
    config = Transport(report_every=64, chain_wait_s=5)
    assert chain.wait(config) == 5 * SECOND + 64 * 50 * MILLISECOND
    chain.learn(63)
    assert chain.wait(config) == 5 * SECOND + 36 * 50 * MILLISECOND
    assert chain.wait(Transport(report_every=0)) == 5 * SECOND + 36 * 50 * MILLISECOND
