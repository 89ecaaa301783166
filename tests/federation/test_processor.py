"""The modelled processor: service times, order, and the formulas of queueing theory. All in virtual time."""

from __future__ import annotations

from math import sqrt
from random import Random
from statistics import fmean, pstdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.chance import Stream
from overlay.core.node import MILLISECOND
from overlay.systems.federation.processor.processor import MOST, PAUSE_AT, RESUME_AT, Processor
from overlay.systems.federation.processor.service import draws, gamma, is_visit, normal
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire import values as v
from tests.thorough import examples

SID = v.SubscriptionId("c0", 1)
SIGMA = v.Subscription(SID, ("s0",), 10**12)
NOTE = v.Notification(v.NotificationId("p0", 1), "room", "r0", "s0", 1, 10**12, {})
VISIT, FREE = m.Subscribe(1, (SIGMA,)), m.KeepAlive(1)
VISITS = [
    VISIT,
    m.Publish(1, (v.Publication(NOTE),)),
    m.SubTable(1, m.Whole.CHANGES, (SIGMA,)),
    m.Forward(NOTE),
    m.Query(1, None, None, ("s0",), 10),
    m.Answer(1, m.Code.GOOD),
]
OTHERS = [
    FREE,
    m.SubTable(1, m.Whole.CHANGES, (), (SID,)),
    m.RegTable(1, m.Whole.CHANGES, (), (), v.Summary()),
    m.Lookup(1, "s0"),
    m.Ack(1),
]
ARRIVALS = st.lists(
    st.tuples(st.integers(0, 8), st.sampled_from("abc"), st.booleans()), max_size=40
)  # ms since the one before, sender, whether it is a visit


def processor(seed=1, is_mobile=False, **values):
    values.setdefault("service_ms", 5)
    return Processor(Settings(**values), is_mobile, Stream(seed))


def served(one, arrivals):
    """Steps through the arrivals (instant, sender, message); (instant, sender, message) of each effect."""
    found = []

    def until(now):
        while (due := one.next_timer()) is not None and due <= now:
            found.extend((due, *served) for served in one.served(due))
            one.check_invariants()

    for now, peer, message in arrivals:
        until(now)
        assert one.arrive(peer, message, now)
        one.check_invariants()
    until(1 << 62)
    assert len(one) == 0
    return found


def timed(steps):
    """With instants, and messages that have numbers."""
    now, arrivals = 0, []
    for number, (gap, peer, is_visit_) in enumerate(steps):
        now += gap * MILLISECOND
        arrivals.append((now, peer, m.Subscribe(number, ()) if is_visit_ else m.KeepAlive(number)))
    return arrivals


def number(message):
    return message.req if isinstance(message, m.Subscribe) else message.number


def test_what_costs_time_is_what_the_contract_names():
    assert all(map(is_visit, VISITS))
    assert not any(map(is_visit, OTHERS))


@pytest.mark.parametrize("cv", [0.3, 0.8, 1.0, 2.0])
def test_service_times_have_the_mean_and_the_variation_of_the_settings(cv):
    draw, count = draws(Settings(service_ms=8, service_cv=cv), False, Stream(7)), 6_000
    times = [draw() for _ in range(count)]
    mean, deviation = fmean(times) / (8 * MILLISECOND), pstdev(times) / (8 * MILLISECOND)
    assert abs(mean - 1) < 5 * cv / sqrt(count)
    assert abs(deviation / cv - 1) < 0.1
    assert min(times) >= 0


@pytest.mark.parametrize(("cv", "is_mobile", "expected"), [(0.0, False, 8), (0.0, True, 24), (1e-200, False, 8)])
def test_constant_times_and_the_factor_of_mobile_brokers(cv, is_mobile, expected):
    draw = draws(Settings(service_ms=8, service_cv=cv, mobile_factor=3), is_mobile, Stream(1))
    assert {draw() for _ in range(5)} == {expected * MILLISECOND}


def test_equal_streams_give_equal_times_and_the_greatest_variation_is_finite():
    for cv in (0.5, 1, 4):
        one, other = (draws(Settings(service_ms=1, service_cv=cv), False, Stream(3)) for _ in range(2))
        assert [one() for _ in range(50)] == [other() for _ in range(50)]


def test_gamma_and_normal_variables_have_their_moments():
    stream, count = Stream(11), 6_000
    drawn = [normal(stream) for _ in range(count)]
    assert abs(fmean(drawn)) < 5 / sqrt(count)
    assert abs(pstdev(drawn) - 1) < 0.05
    for shape in (0.25, 1.0, 9.0):
        drawn = [gamma(shape, stream) for _ in range(count)]
        assert abs(fmean(drawn) - shape) < 5 * sqrt(shape / count)


@settings(max_examples=examples(200))
@given(ARRIVALS, st.sampled_from([0.0, 1.0, 2.0]), st.integers(0, 9))
def test_one_processor_serves_in_order_of_arrival_and_never_rests_while_messages_wait(steps, cv, seed):
    arrivals = timed(steps)
    effects = served(one := processor(seed, service_cv=cv), arrivals)
    draw, free, expected = draws(Settings(service_ms=5, service_cv=cv), False, Stream(seed)), 0, []
    for now, peer, message in arrivals:
        free = max(now, free) + (draw() if is_visit(message) else 0)
        expected.append((free, peer, message))
    assert effects == expected
    assert one.visits == sum(is_visit_ for *_, is_visit_ in steps)


@settings(max_examples=examples(200))
@given(ARRIVALS, st.integers(1, 5), st.integers(0, 9))
def test_several_processors_do_the_same_work_no_later_and_keep_the_order_of_a_sender(steps, processors, seed):
    arrivals = timed(steps)
    one, several = processor(seed), processor(seed, processors=processors)
    alone, together = served(one, arrivals), served(several, arrivals)
    assert (several.busy_ns, several.visits) == (one.busy_ns, one.visits)
    ends = {number(message): end for end, _, message in alone}
    for end, _, message in together:
        assert arrivals[number(message)][0] <= end <= ends[number(message)]
    for peer in "abc":
        numbers = [number(message) for _, sender, message in together if sender == peer]
        assert numbers == sorted(numbers)


def test_what_costs_nothing_keeps_its_place_and_waits_for_no_time_if_nothing_does():
    one = processor(service_cv=0)
    effects = served(one, [(0, "a", FREE), (1, "a", VISIT), (2, "b", FREE)])
    assert [end for end, *_ in effects] == [0, 1 + 5 * MILLISECOND, 1 + 5 * MILLISECOND]
    assert one.busy_ns == 5 * MILLISECOND


def test_several_processors_serve_at_once_and_hold_what_would_overtake_its_sender():
    one = processor(service_cv=0, processors=2)
    effects = served(one, [(0, "a", VISIT), (0, "a", FREE), (0, "b", FREE), (0, "b", VISIT)])
    assert [(end, peer) for end, peer, _ in effects] == [
        (0, "b"),
        (5 * MILLISECOND, "a"),
        (5 * MILLISECOND, "a"),
        (5 * MILLISECOND, "b"),
    ]


@pytest.mark.parametrize("cv", [0.0, 1.0, 2.0])
def test_the_mean_time_in_a_single_queue_is_that_of_the_formula_of_pollaczek_and_khinchine(cv):
    mean, load, count = 5 * MILLISECOND, 0.5, 12_000
    arrivals, chance, now = [], Random(5), 0.0
    for _ in range(count):
        now += chance.expovariate(load / mean)
        arrivals.append((round(now), "a", VISIT))
    one = processor(2, service_cv=cv)
    effects = served_fast(one, arrivals)
    measured = fmean(end - start for (start, *_), end in zip(arrivals, effects, strict=True))
    expected = mean + load * mean * (1 + cv**2) / (2 * (1 - load))
    assert abs(measured / expected - 1) < 0.2
    assert abs(one.busy_ns / effects[-1] / load - 1) < 0.1


def served_fast(one, arrivals):
    """The instants of effects alone."""
    found = []
    for now, peer, message in arrivals:
        while (due := one.next_timer()) is not None and due <= now:
            found.extend(due for _ in one.served(due))
        assert one.arrive(peer, message, now)
    while (due := one.next_timer()) is not None:
        found.extend(due for _ in one.served(due))
    return found


def test_a_peer_with_many_queued_messages_pauses_until_half_of_them_are_served():
    one = processor(service_cv=0)
    for count in range(1, PAUSE_AT + 1):
        assert one.arrive("a", VISIT, 0)
        assert one.must_pause("a") == (count >= PAUSE_AT)
    assert one.arrive("b", VISIT, 0)
    assert not one.must_pause("b")
    one.check_invariants()
    resumed_after = None
    for count in range(1, PAUSE_AT + 1):
        assert len(list(one.served(one.next_timer()))) == 1
        if one.take_resumed() == ["a"]:
            assert resumed_after is None
            resumed_after = count
        one.check_invariants()
    assert resumed_after == PAUSE_AT - RESUME_AT
    assert one.take_resumed() == []


def test_what_a_peer_sends_regardless_of_pauses_is_not_taken_beyond_the_bound():
    one = processor()
    assert [one.arrive("a", FREE if number % 2 else VISIT, 0) for number in range(MOST + 3)] == [True] * MOST + [
        False
    ] * 3
    assert len(one) == MOST
    assert one.must_pause("a")
    one.check_invariants()
