"""A broker with its fast paths and one without are the same: in datagrams, counters, traces, timers and state."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.addresses import format_address
from overlay.core.chance import Chances
from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.context_broker.broker.broker import Broker
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.wire.codec import parse
from tests.broker.transcript import INSIDE, STRANGER, WALL, A, B, C, D, Talk, hop
from tests.thorough import examples

JOIN = f"8|1|{format_address(A)}|*"
KEYS = ("room|r1|temp", "room|r2|temp", "room|é|temp")


def request(code, stamp, key, hops=()):
    return f"{code}|{stamp}|{key}{hop(*hops)}"


stamps = st.one_of(st.integers(1, 6), st.sampled_from(["0", "007", "", "-1", "9" * 19, "9" * 20, "٣"]))
names = st.sampled_from([*KEYS, "room|r9|temp", "room||temp", "room|r1", "room|r1|temp|", "room|r1|temp|10.0.0.9"])
requests = st.builds(request, st.sampled_from([3, 32, 33, "03", 16]), stamps, names) | st.builds(
    request, st.sampled_from([3, 32]), st.integers(1, 6), st.sampled_from(KEYS), st.sampled_from([[C], [C, D]])
)


def update(stamp, provider, key, begin, length, payload):
    size, start = len(payload.encode()), WALL + begin
    return f"2|{WALL + stamp}|{size}|U|{provider}|{key}|{start}|{start + length}|{payload}"


updates = st.builds(
    update,
    st.integers(0, 50),
    st.sampled_from(["p", "q"]),
    st.sampled_from(KEYS),
    st.integers(-50, 60),
    st.integers(1, 300),
    st.sampled_from(["x", "degC=21.5", "|*|" * 300]),
)


def answer(asked, mark, valid_end=WALL + 999):
    _, _, *key_and_hops = asked.split("|")
    key, hops = "|".join(key_and_hops[:3]), "".join(f"|{field}" for field in key_and_hops[3:])
    return f"4|{WALL}|1|p|{key}|1|{valid_end}|x{hops}{mark}"


def refusal(asked, status):
    _, stamp, _, _, _, *hops = asked.split("|")
    return "|".join([f"6|{stamp}|NACK|Status:{status}|Operation ContextRequest|Requested by 10.0.0.3:4003", *hops])


replies = st.builds(
    lambda mark, valid_end: lambda asked: answer(asked, mark, valid_end),
    st.sampled_from(["", "", "|*"]),
    st.sampled_from([WALL + 999, WALL + 20]),
)
replies |= st.builds(lambda status: lambda asked: refusal(asked, status), st.sampled_from([202, 201]))
"""What a neighbour says to the last request that it was asked."""
others = st.sampled_from(["1|5", "20|5", "7|1", "7|1|*", JOIN, "nonsense"])
plain_requests = st.builds(
    request, st.sampled_from([3, 32]), st.integers(1, 3), st.sampled_from([*KEYS, "room|r9|temp"])
)
plain_updates = st.builds(
    update,
    st.integers(0, 50),
    st.sampled_from(["p", "q"]),
    st.sampled_from(KEYS),
    st.integers(-50, 0),
    st.integers(60, 400),
    st.just("degC=21.5"),
)
said = st.one_of(plain_requests, plain_requests, plain_updates, replies, replies, requests | updates | others)
batched = st.one_of(plain_requests, plain_requests, plain_requests, plain_updates, requests | updates | others)
senders = st.sampled_from([*[C] * 5, B, D, STRANGER])
steps = st.tuples(said, senders, st.integers(0, 20))
to_begin_with = [
    (JOIN, B, 0),
    (JOIN, D, 0),
    (update(0, "p", KEYS[0], -10, 500, "x"), C, 0),
]


class Told:
    """A broker and all that can be seen of it."""

    def __init__(self, *, is_fast, **chosen):
        config = BrokerConfig(controller_networks=INSIDE, trusted_networks=INSIDE, **chosen)
        self.broker = Broker(config, A, Chances.streams(3), WALL * MILLISECOND, is_fast=is_fast)

    def hear(self, text, source, now):
        self.broker.receive_datagram(text.encode(), source, now)
        return self.seen(now)

    def seen(self, now):
        broker = self.broker
        before = broker.counters()
        timer = broker.next_timer()
        if timer is not None and timer <= now:
            broker.handle_timer(now)
        broker.check_invariants()
        sent, statistics, held = broker.datagrams_to_send(), broker.statistics(now), broker.held_keys(now)
        said = broker.traces(), broker.events(), broker.next_timer(), broker.neighbours
        return sent, before, statistics, held, *said

    def count_short_ways(self, used):
        fast = self.broker._fast
        forwards = fast._parts._forwards
        used["hits"] += fast._hits._acknowledged
        used["quiet hits"] += fast._hits._quiet
        if forwards is not None:
            used["forwarded"] += forwards._requests + forwards._quiet
            used["passed back"] += forwards._answers


choices = st.fixed_dictionaries(
    {
        "trace_one_in": st.sampled_from([*[1_000_000] * 4, 0, 1, 3]),
        "walk_policy": st.sampled_from(["avoid", "uniform", "backtrack"]),
        "table": st.sampled_from([*["indexed"] * 4, "linear"]),
        "search": st.sampled_from([*["walk"] * 6, "lookahead", "flood"]),
        "hop_ack": st.sampled_from([*[False] * 4, True]),
        "replica_refresh": st.sampled_from([*[False] * 4, True]),
        "pending_capacity": st.sampled_from([*[10_000] * 4, 2]),
        "walk_ttl": st.sampled_from([*[64] * 4, 1]),
        "pending_deadline_ms": st.just(200),
    }
)


def test_a_conversation_is_the_same_with_and_without_fast_paths():
    used = Counter()

    @settings(max_examples=examples(1_000))
    @given(st.lists(steps, min_size=10, max_size=40), choices)
    def check(conversation, chosen):
        fast, slow = Told(is_fast=True, **chosen), Told(is_fast=False, **chosen)
        now, asked = 0, {C: request(3, 1, KEYS[0], [B])}
        for what, source, ms in [*to_begin_with, *conversation]:
            now += ms * MILLISECOND
            if callable(what):
                last = next(reversed(asked))
                what, source = what(asked[last]), STRANGER if source == STRANGER else last
            heard = fast.hear(what, source, now)
            assert heard == slow.hear(what, source, now), what
            for data, to in heard[0]:
                if data.startswith(b"3|"):
                    asked.pop(to, None)
                    asked[to] = data.decode()
        fast.count_short_ways(used)

    check()
    assert min(used.values()) > 0, used


def test_a_batch_is_the_same_with_and_without_fast_paths():
    used = Counter()

    @settings(max_examples=examples(400))
    @given(st.lists(st.tuples(batched, senders), min_size=10, max_size=40), choices)
    def check(batch, chosen):
        fast, slow = Told(is_fast=True, **chosen), Told(is_fast=False, **chosen)
        first = [(what, source) for what, source, _ in to_begin_with]
        datagrams = [(what.encode(), source) for what, source in [*first, *batch]]
        for broker in (fast.broker, slow.broker):
            broker.receive_datagrams(datagrams, 0)
        assert fast.seen(0) == slow.seen(0)
        fast.count_short_ways(used)

    check()
    assert min(used["hits"], used["quiet hits"], used["forwarded"]) > 0, used


@pytest.mark.parametrize(
    "story",
    [
        [(request(3, 5, KEYS[1]), C), (update(0, "p", KEYS[1], -10, 500, "x"), C), (request(3, 5, KEYS[1]), C)],
        [("7|1", C), (JOIN, B), (request(3, 6, KEYS[1], [C]), D), (request(3, 7, KEYS[1]), C)],
    ],
    ids=["asked again while it is pending and the table answers by now", "left and joined again"],
)
def test_a_rare_story_is_the_same_with_and_without_fast_paths(story):
    fast, slow = Told(is_fast=True), Told(is_fast=False)
    for what, source in [(JOIN, B), (JOIN, D), *story]:
        assert fast.hear(what, source, 0) == slow.hear(what, source, 0), what


def test_a_broker_is_up_since_its_first_datagram_whichever_way_it_went():
    for is_fast in (False, True):
        talk = Told(is_fast=is_fast)
        for second in (10, 20):
            talk.broker.receive_datagram(request(32, second, KEYS[0]).encode(), C, second * SECOND)
        assert talk.broker.statistics(40 * SECOND)["uptime"] == 30_000


def test_counters_are_true_in_the_middle_of_a_batch():
    talk = Told(is_fast=True)
    talk.hear(update(0, "p", KEYS[0], -10, 1000, "x"), C, 0)
    talk.broker.receive_datagrams([(request(32, 5, KEYS[0]).encode(), C), (b"20|5", C)], 0)
    (*_, (answer, _)) = talk.broker.datagrams_to_send()
    assert parse(answer).counters["hits"] == talk.broker.counters()["in_32"] == 1


def test_most_go_the_short_way():
    talk = Told(is_fast=True)
    talk.hear(JOIN, B, 0)
    talk.hear(update(0, "p", KEYS[0], -10, 1000, "x"), C, 0)
    talk.broker._fast._parts._searching = None  # whatever else could answer
    back = answer(request(3, 5, KEYS[1], [C]), "")
    for text, source, datagrams in [
        (request(3, 5, KEYS[0]), C, 3),
        (request(32, 5, KEYS[0]), C, 1),
        (request(3, 5, KEYS[1]), C, 2),
        (back, B, 2),
        (request(3, 6, KEYS[1], [C]), D, 1),
    ]:
        talk.broker.receive_datagram(text.encode(), source, 0)
        assert len(talk.broker.datagrams_to_send()) == datagrams


def test_a_walk_goes_to_one_neighbour_only_whichever_way_it_goes():
    talk = Talk(B, D, walk_policy="uniform")
    (_, (asked, _)) = talk.ask(stamp=5)
    refused = talk.nack(202, "ContextRequest", 5)
    assert talk.hear({"B": B, "D": D}[asked], refused[1] + hop(C)) == [refused]
