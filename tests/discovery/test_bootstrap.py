"""The search for a live broker from a list: against worlds of which any part is dead."""

from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st

from overlay.core.chance import Stream
from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.context_broker.clients.bootstrap import (
    AGAIN_NS,
    FAN_OUT,
    LONGEST_PAUSE_NS,
    MOST_LEARNED,
    REFRESH_NS,
    SILENT_NS,
    TRIES,
    WANTED,
    Bootstrapper,
)
from overlay.systems.context_broker.clients.exchange import WallClock
from overlay.systems.context_broker.wire.codec import encode, parse
from overlay.systems.context_broker.wire.discovery_messages import BrokersRequest, BrokersResponse
from overlay.systems.context_broker.wire.messages import Nack, Status
from tests.thorough import examples

ASKER = "127.3.0.1", 1025


def broker(number):
    return "127.1.0.1", 7000 + number


class World:
    """Brokers that answer after their delay (ms); ``None``: never. ``tells`` are the brokers that each names."""

    def __init__(self, delays, tells=None, status=None, seed=1):
        self.delays = {broker(n): delay for n, delay in enumerate(delays)}
        self.tells, self.status = tells or {}, status or {}
        self.core = Bootstrapper(WallClock(), Stream(seed))
        self.now, self.due, self.probes = 0, [], []

    def renew(self, *numbers):
        self.core.renew([broker(n) for n in numbers], self.now)
        self._collect()

    def run(self, until):
        """Let time pass, from event to event, until that time or ``until(core)``."""
        is_over = until if callable(until) else lambda core: False
        end = 3600 * SECOND if callable(until) else until
        while not is_over(self.core):
            timer = self.core.next_timer()
            times = [at for at, _, _ in self.due] + ([] if timer is None else [timer])
            if not times or min(times) > end:
                break
            self.now = max(self.now, min(times))
            for item in [item for item in self.due if item[0] <= self.now]:
                self.due.remove(item)
                self.core.receive_datagram(item[1], item[2], self.now)
            if timer is not None and timer <= self.now:
                self.core.handle_timer(self.now)
                following = self.core.next_timer()
                assert following is None or following > self.now, "a busy loop"
            self._collect()
        if not callable(until):
            self.now = end
        return self

    def _collect(self):
        self.core.check_invariants()
        for data, to in self.core.datagrams_to_send():
            self.probes.append((self.now, to))
            question = parse(data)
            assert isinstance(question, BrokersRequest)
            delay = self.delays.get(to)
            if delay is not None:
                self.due.append((self.now + delay * MILLISECOND, self._answer(question, to), to))

    def _answer(self, question, to):
        status = self.status.get(to)
        if status is not None:
            return encode(Nack(question.timestamp, status, "BrokersRequest", ASKER))
        return encode(BrokersResponse(question.timestamp, 1, 7, tuple(self.tells.get(to, ()))))


DELAYS = st.lists(st.none() | st.integers(0, 150), min_size=1, max_size=30)


@settings(max_examples=examples(200))
@given(DELAYS, st.integers(0, 2**32))
@example([*[0] * 7, *[None] * 9], 3)
def test_a_live_broker_is_found_if_there_is_one_and_probes_are_bounded(delays, seed):
    world = World(delays, seed=seed)
    world.renew(*range(len(delays)))
    world.run(lambda core: core.rounds)
    alive = {broker(n) for n, delay in enumerate(delays) if delay is not None}
    assert bool(world.core.live) == bool(alive)
    assert world.core.live.keys() <= alive
    assert world.core.wants_list
    for begin, _ in world.probes:
        within = [to for at, to in world.probes if begin <= at < begin + AGAIN_NS]
        assert len(within) <= TRIES * FAN_OUT
    at_a_time = max(1, min(FAN_OUT, WANTED - len(alive)))  # once some have answered, fewer more are wanted
    assert world.now <= -(-len(delays) // at_a_time) * AGAIN_NS + SILENT_NS + AGAIN_NS


def test_of_a_hundred_entries_the_only_live_one_is_found_within_three_seconds():
    world = World([*[None] * 99, 20])
    world.renew(*range(100))
    world.run(lambda core: core.live)
    assert world.core.nearest == [broker(99)]
    assert world.now < 3 * SECOND


def test_the_nearest_comes_first_and_has_its_exact_round_trip():
    world = World([30, 10, 20])
    world.renew(0, 1, 2)
    world.run(lambda core: core.rounds)
    assert world.core.nearest == [broker(1), broker(2), broker(0)]
    found = world.core.live[broker(1)]
    assert (found.round_trip_ms, found.load_per_s) == (10.0, 7)


def test_when_all_are_silent_it_tries_again_ever_more_seldom_and_a_newer_list_is_tried_at_once():
    world = World([None, None])
    world.renew(0, 1)
    world.run(300 * SECOND)
    begins = sorted({at for at, to in world.probes if to == broker(0)})[::TRIES]
    gaps = [later - earlier for earlier, later in pairwise(begins)]
    assert gaps[0] < 2 * SECOND
    assert max(gaps) <= 1.2 * LONGEST_PAUSE_NS + SILENT_NS
    assert gaps[:5] == sorted(gaps[:5])
    assert 10 < len(begins) < 20
    world.delays[broker(5)] = 1
    before = world.now
    world.renew(5)
    world.run(lambda core: core.live)
    assert world.now - before == MILLISECOND


def test_brokers_are_learned_and_remembered_when_the_list_is_dead():
    world = World([10, 10, 10], {broker(0): [broker(1), broker(2), broker(9)]})
    world.renew(0)
    world.run(lambda core: core.rounds)
    assert world.core.live.keys() == {broker(0), broker(1), broker(2)}
    world.delays[broker(0)] = None
    world.run(lambda core: core.rounds == 2)
    assert world.core.live.keys() == {broker(1), broker(2)}
    assert world.now > REFRESH_NS / 2


def test_brokers_cannot_make_it_probe_many_strangers():
    world = World([0], {broker(0): [("127.9.0.1", port) for port in range(1, 1001)]})
    world.renew(0)
    world.run(100 * SECOND)
    assert len({to for _, to in world.probes if to[0] == "127.9.0.1"}) <= 2 * MOST_LEARNED


def test_one_that_does_not_know_the_question_is_found_and_one_that_leaves_is_not():
    world = World([0, 0, 0], status={broker(0): Status.BAD_REQUEST, broker(1): Status.I_ERROR})
    world.renew(0, 1, 2)
    world.run(lambda core: core.rounds)
    assert world.core.live.keys() == {broker(0), broker(2)}
    assert world.core.live[broker(0)].load_per_s is None


def test_answers_of_others_and_of_earlier_rounds_do_not_count():
    world = World([None])
    world.renew(0)
    world.core.receive_datagram(b"39|0|1|1", broker(0), 0)
    (stamp,) = world.core._stamps
    for source, answer in ((broker(1), f"39|{stamp}|1|1"), (broker(0), f"39|{stamp + 9}|1|1"), (broker(0), "39|")):
        world.core.receive_datagram(answer.encode(), source, 0)
    assert not world.core.live
    world.run(lambda core: core.rounds)
    world.core.receive_datagram(f"39|{stamp}|1|1".encode(), broker(0), world.now)
    assert not world.core.live or world.core._stamps
    world.core.check_invariants()
