"""The open loop: requests at their times whatever became of others, and no answer taken for another's."""

import gc
from collections import Counter
from dataclasses import replace
from heapq import heappop, heappush

from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.node import MILLISECOND, SECOND
from overlay.journal.facts import Sample
from overlay.load.tally import Tally
from overlay.load.windows import Windows
from overlay.systems.context_broker.clients.exchange import Retry, WallClock
from overlay.systems.context_broker.clients.scheduled import Fleet, make_clients
from overlay.systems.context_broker.wire.codec import encode, parse
from overlay.systems.context_broker.wire.extensions import QuietRequest
from overlay.systems.context_broker.wire.messages import Ack, ContextRequest, ContextResponse, Message, Nack
from overlay.systems.context_broker.workload import ClientPlan, Workload

BROKER = ("127.0.0.1", 9000)
ME = ("127.0.0.1", 5000)
DAY_MS = 86_400_000
WINDOWS = Windows(zero=0, start=0, measuring=0, end=20 * SECOND, drained=30 * SECOND)


class Network:
    """Virtual time, one client and a broker that is a function: request -> [(delay in ms, reply), ...]."""

    def __init__(
        self,
        plan: ClientPlan,
        broker,
        workload: Workload,
        windows: Windows = WINDOWS,
        lanes: int = 64,
        retry: Retry | None = None,
    ) -> None:
        self.tally = Tally()
        wall = WallClock(DAY_MS * MILLISECOND)
        fleet = Fleet(workload, windows, wall, self.tally, retry or Retry(), max_lanes=lanes)
        (self.client,) = make_clients([plan], [BROKER], fleet, seed=1)
        self.broker = broker
        self.now = 0
        self.replies: list[tuple[int, int, int, bytes]] = []
        self.closed: set[int] = set()
        self.requests: list[tuple[int, int, Message]] = []
        self.samples: list[Sample] = []

    def run(self, until_s: float) -> list[Sample]:
        while True:
            timer = self.client.next_timer()
            due = min([self.replies[0][0]] if self.replies else [], default=None)
            instants = [at for at in (timer, due) if at is not None]
            if not instants or min(instants) > until_s * SECOND:
                return self.samples
            self.now = min(instants)
            if due == self.now:
                _, _, lane, data = heappop(self.replies)
                timer = self.client.next_timer()
                if lane not in self.closed and not self.client.receive_datagram(lane, data, BROKER, self.now):
                    self._expect_nothing(timer)
            else:
                self.client.handle_timer(self.now)
            self._drain()

    def _expect_nothing(self, timer: int | None) -> None:
        """A driver that was told so neither drains the client nor arms it again."""
        assert not self.client.facts()
        assert not self.client.datagrams_to_send()
        assert not self.client.lanes_to_close()
        later = self.client.next_timer()
        assert later is None or (timer is not None and later >= timer)

    def _drain(self) -> None:
        for lane, data, destination in self.client.datagrams_to_send():
            assert destination == BROKER
            assert lane not in self.closed
            request = parse(data)
            self.requests.append((self.now, lane, request))
            for delay_ms, reply in self.broker(request):
                arrival = self.now + round(delay_ms * MILLISECOND)
                heappush(self.replies, (arrival, len(self.requests) * 10 + len(self.replies), lane, encode(reply)))
        self.closed |= set(self.client.lanes_to_close())
        self.samples += self.client.facts()


def answer(request: ContextRequest) -> ContextResponse:
    """Stamped with the *query's* timestamp, so that a test can see which query it answers."""
    return ContextResponse(request.timestamp, "p", *request.key, 1, 2, b"a=1")


def prompt(request: Message) -> list[tuple[float, Message]]:
    operation = type(request).__name__
    acks = [(1, Ack(1, 101, operation, ME)), (3, Ack(1, 102, operation, ME))]
    return [*acks, (2, answer(request))] if isinstance(request, ContextRequest) else acks


CONSUMER = ClientPlan("consumer", 3, 0, 500_000, -1)
PROVIDER = ClientPlan("provider", 3, 0, 500_000, 0)
EACH_SECOND = Workload(request_interval_s=1, update_interval_s=1, payload_bytes=10)


def test_a_consumer_asks_at_each_interval_on_one_port_while_all_goes_well() -> None:
    network = Network(CONSUMER, prompt, EACH_SECOND)
    samples = network.run(60)
    assert [s.intended_us for s in samples] == [500_000 + k * 1_000_000 for k in range(20)]
    assert {s.ended_us - s.intended_us for s in samples} == {2000}
    assert {(s.outcome, s.status, s.attempts, s.client, s.broker) for s in samples} == {("answered", 102, 1, 3, 0)}
    assert {lane for _, lane, _ in network.requests} == {0}
    assert network.client.is_finished
    assert network.client.next_timer() is None


def test_a_provider_advertises_once_and_updates_from_then_on() -> None:
    network = Network(PROVIDER, prompt, EACH_SECOND)
    samples = network.run(60)
    flags = [request.flag for _, _, request in network.requests]
    assert flags == ["A"] + ["U"] * 19
    stamps = [request.timestamp for _, _, request in network.requests]
    assert stamps == sorted(set(stamps))
    assert {request.valid_end - request.valid_begin for _, _, request in network.requests} == {120_000}
    assert {(s.role, s.outcome) for s in samples} == {("provider", "answered")}
    assert [s.entry_timestamp_ms for s in samples] == stamps


def test_an_update_is_named_by_its_first_stamp_as_the_later_ones_say_the_same_again() -> None:
    heard: list[Message] = []

    def hard_of_hearing(request: Message) -> list[tuple[float, Message]]:
        heard.append(request)
        return prompt(request) if len(heard) == 2 else []

    first, *rest = Network(PROVIDER, hard_of_hearing, EACH_SECOND).run(60)
    assert (first.outcome, first.attempts, first.entry_timestamp_ms) == ("answered", 2, heard[0].timestamp)
    assert {(s.outcome, s.entry_timestamp_ms) for s in rest} == {("timed_out", 0)}


def test_without_acknowledgements_a_request_is_quiet_and_its_port_is_used_again() -> None:
    def quiet(request: Message) -> list[tuple[float, Message]]:
        assert isinstance(request, QuietRequest)
        return [(2, answer(request))]

    network = Network(CONSUMER, quiet, replace(EACH_SECOND, acknowledgements=False))
    samples = network.run(60)
    assert {(s.outcome, s.status, s.attempts, s.ended_us - s.sent_us) for s in samples} == {("answered", 102, 1, 2000)}
    assert len(samples) == 20
    assert {lane for _, lane, _ in network.requests} == {0}


def test_a_last_ack_that_is_lost_is_waited_for_for_a_second_even_where_asking_again_is_later() -> None:
    network = Network(CONSUMER, lambda request: prompt(request)[::2], EACH_SECOND, retry=Retry((5.0,), 10.0))
    network.run(2)
    assert network.closed == {0}


def test_a_request_leaves_nothing_behind_that_a_garbage_collector_would_have_to_find() -> None:
    networks = [
        Network(plan, broker, EACH_SECOND) for plan in (CONSUMER, PROVIDER) for broker in (prompt, lambda _: [])
    ]
    gc.collect()
    gc.disable()
    try:
        assert sum(len(network.run(60)) for network in networks) == 80
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_a_dead_broker_never_slows_the_schedule_and_no_port_is_used_twice() -> None:
    network = Network(CONSUMER, lambda request: [], EACH_SECOND)
    samples = network.run(60)
    assert [s.intended_us for s in samples] == [500_000 + k * 1_000_000 for k in range(20)]
    assert {s.sent_us - s.intended_us for s in samples} == {0}
    assert {(s.outcome, s.attempts, s.ended_us - s.sent_us) for s in samples} == {("timed_out", 4, 10_000_000)}
    assert len(network.closed) == 20
    assert network.tally.counters["outstanding"] == 0


def test_phases_follow_the_intended_instant_and_nothing_is_intended_after_the_end() -> None:
    windows = Windows(zero=0, start=0, measuring=5 * SECOND, end=10 * SECOND, drained=20 * SECOND)
    samples = Network(CONSUMER, prompt, EACH_SECOND, windows).run(60)
    assert Counter(s.phase for s in samples) == {"warming": 5, "measuring": 5}


def test_with_all_ports_busy_requests_wait_and_their_lateness_shows() -> None:
    network = Network(CONSUMER, lambda request: [], EACH_SECOND, lanes=2)
    network.run(20)
    network.client.abandon(20 * SECOND)
    samples = network.samples + list(network.client.facts())
    assert sorted(s.intended_us for s in samples) == [500_000 + k * 1_000_000 for k in range(20)]
    assert {s.outcome for s in samples} == {"timed_out"}
    assert max(s.sent_us - s.intended_us for s in samples) > 8_000_000
    counters = network.tally.counters
    assert (counters["requests"], counters["timed_out"], counters["outstanding"]) == (20, 20, 0)
    assert counters["starts_late_1000_ms"]


@settings(max_examples=60)
@given(st.data())
def test_however_replies_are_delayed_and_lost_each_answer_is_of_its_own_request(data: st.DataObject) -> None:
    delays = st.one_of(st.none(), st.floats(0, 2500), st.floats(0, 15_000))

    def erratic(request: Message) -> list[tuple[float, Message]]:
        replies: list[Message] = [Ack(1, 101, "ContextRequest", ME)]
        if data.draw(st.booleans()):
            replies += [answer(request), Ack(1, 102, "ContextRequest", ME)]
        else:
            replies += [Nack(request.timestamp, 202, "ContextRequest", ME)]
        delayed = [(data.draw(delays), reply) for reply in replies]
        return [(delay, reply) for delay, reply in delayed if delay is not None]

    workload = Workload(request_interval_s=1.5, payload_bytes=10)
    network = Network(CONSUMER, erratic, workload)
    samples = network.run(120)
    assert len(samples) == 13
    assert network.client.is_finished
    for sample in samples:
        if sample.outcome == "answered":
            asked_ms = sample.entry_timestamp_ms - DAY_MS  # or a few more: a timestamp is never used twice
            assert sample.sent_us // 1000 <= asked_ms <= sample.ended_us // 1000 + 3
    per_port = Counter((lane, request.timestamp) for _, lane, request in network.requests)
    assert set(per_port.values()) == {1}
    counters = network.tally.counters
    assert counters["requests"] == sum(counters[o] for o in ("answered", "not_found", "refused", "timed_out")) == 13
