"""What a broker tells of a query: one in so many whole, the others if they fail, and never more than its bounds."""

import random
import re
from pathlib import Path

from overlay.core.node import SECOND
from overlay.systems.context_broker import broker as broker_package
from overlay.systems.context_broker.broker.tracing import (
    FAILURES,
    OF_A_FAILURE,
    REPORTED_A_SECOND,
    STEPS,
    Recorder,
    Tracer,
)
from tests.broker.transcript import NAMES, A, B, C, D, Talk, hop

ROOM = "room|r1|temp"
EVERY, HARDLY_ANY = 1, 1_000_000


def told(talk):
    """``step [peer] [detail]`` of what was reported since the last time."""
    steps = talk.broker.traces()
    return [" ".join(filter(None, (step.step, NAMES.get(step.peer), step.detail))) for step in steps]


def answer(talk, tail):
    return f"4|{talk.wall}|9|p1|{ROOM}|{talk.wall - 1000}|{talk.wall + 120_000}|degC=21.5{tail}"


def test_one_query_at_every_broker_from_its_request_to_its_answer():
    at_a, at_b = Talk(B, trace_one_in=EVERY), Talk(A, address=B, trace_one_in=EVERY)
    at_b.provide()
    at_a.ask(stamp=7)
    at_b.ask(source=A, hops=[C], stamp=7)
    assert told(at_b) == ["received A", "found A"]
    at_a.hear(B, answer(at_a, f"{hop(C)}|*"))
    (received, *_) = steps = at_a.broker.traces()
    assert [step.step for step in steps] == ["received", "forwarded", "answered", "replicated", "replied"]
    assert [step.peer for step in steps] == [C, B, B, None, C]
    assert {(step.consumer, step.timestamp, step.entity) for step in steps} == {(C, 7, ROOM)}
    assert (received.at, at_a.broker.traces()) == (0, [])


def test_a_query_that_is_answered_and_not_sampled_is_told_to_nobody():
    talk = Talk(B, trace_one_in=HARDLY_ANY)
    talk.provide()
    talk.ask()
    assert told(talk) == []


def test_a_query_that_fails_is_told_from_its_beginning():
    talk = Talk(B, trace_one_in=HARDLY_ANY)
    talk.ask(stamp=5)
    talk.ask("room|r9|temp", source=D, stamp=6)
    assert told(talk) == []
    talk.hear(B, talk.nack(202, "ContextRequest", 5)[1] + hop(C))
    assert told(talk) == ["received C", "forwarded B", "refused B 202", "passed back C 202"]
    talk.wait(10_000)
    assert told(talk) == ["received D", "forwarded B", "expired"]
    assert talk.stats()["trace_lost"] == 0


def test_what_follows_a_failure_is_told_too():
    talk = Talk(trace_one_in=HARDLY_ANY, search="walk", walk_policy="backtrack")
    talk.ask(source=B, hops=[C], stamp=5)
    assert told(talk) == ["received B", "passed back B 202"]
    talk.ask(source=D, hops=[C], stamp=5)
    assert told(talk) == ["received D", "turned away D"]


def test_nothing_is_told_where_tracing_is_off():
    talk = Talk(trace_one_in=0)
    talk.ask()
    assert type(talk.broker._station.tracer) is Tracer
    assert (told(talk), talk.stats()["trace_lost"]) == ([], 0)


def test_every_broker_samples_the_same_queries():
    names = [((f"10.0.0.{n % 250}", 40_000 + n % 97), 1_700_000_000_000 + 13 * n, b"room|r|t") for n in range(9000)]
    chosen = []
    for broker in (Recorder(100, 16), Recorder(100, 2000)):
        for at, name in enumerate(names):
            broker.note(name, "received", at * SECOND)
            chosen += [name for step in broker.drain()]
    assert chosen[: len(chosen) // 2] == chosen[len(chosen) // 2 :]
    assert 60 < len(chosen) // 2 < 130


def test_what_the_ring_has_overwritten_is_counted():
    recorder = Recorder(HARDLY_ANY, 16)
    slow = (C, 1, b"room|slow|t")
    recorder.note(slow, "received", 0, C)
    recorder.note(slow, "forwarded", 0, B)
    for n in range(15):
        recorder.note((C, 2 + n, b"room|r|t"), "received", n)
    recorder.note(slow, "expired", 99)
    assert [step.step for step in recorder.drain()] == ["expired"]
    assert recorder.lost == 1


def test_failures_leave_half_of_the_rate_to_the_sample():
    recorder = Recorder(2, 2000)
    for n in range(2000):
        name = (C, n, b"room|r|t")
        recorder.note(name, "received", 0, C)
        recorder.note(name, "passed back", 0, C, "202")
        recorder.check_invariants()
    steps = recorder.drain()
    failed = [step for step in steps if hash((step.timestamp, C[1])) % 2]
    assert len(steps) == REPORTED_A_SECOND
    assert len(failed) <= REPORTED_A_SECOND // 2
    assert recorder.lost > 0
    for n in range(150):
        recorder.note((C, n, b"new|r|t"), "passed back", SECOND, C, "202")
    assert len(recorder.drain()) > len(failed)


def test_a_long_walk_that_fails_is_told_from_where_it_fits():
    recorder = Recorder(HARDLY_ANY, 2000)
    name = (C, 1, b"room|r|t")
    for n in range(100):
        recorder.note(name, "received", n, B)
        recorder.note(name, "forwarded", n, D)
    recorder.note(name, "gave up", 100, D)
    steps = recorder.drain()
    assert (len(steps), steps[-1].step, steps[0].at) == (OF_A_FAILURE, "gave up", 75)
    assert recorder.lost == 201 - OF_A_FAILURE


def test_no_stranger_swells_what_is_remembered():
    recorder, chance = Recorder(1000, 64), random.Random(5)
    for n in range(20_000):
        consumer = (f"10.0.{chance.randrange(256)}.{chance.randrange(256)}", chance.randrange(1, 65_536))
        name = (consumer, n, b"room|%b|t" % (b"x" * 60_000))
        peer = consumer if n % 2 else (consumer[0], 7)
        recorder.note(name, chance.choice(STEPS), n * SECOND // 1000, peer, str(chance.randrange(1000)))
    recorder.check_invariants()
    assert {len(step.entity) for step in recorder.drain()} == {500}


def test_every_step_that_is_noted_has_a_name_here():
    text = "".join(path.read_text() for path in Path(broker_package.__file__).parent.rglob("*.py"))
    noted = set(re.findall(r'tracer\.note\([^"]*"([a-z ]+)"', text)) | set(
        re.findall(r'\bnote\(query\.name, "([a-z ]+)"', text)
    )
    assert noted <= set(STEPS)
    assert set(STEPS) > FAILURES
