"""The oracle: a request held against what had been provided, by a plain model of it, and by brokers in virtual time."""

from collections import Counter
from functools import partial

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.node import SECOND
from overlay.journal.facts import OUTCOMES, Event, Sample, Start
from overlay.journal.journal import JournalWriter, read_journal
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.workload import Workload, plan_clients
from overlay.topologies import generate
from telemetry.collect import collect
from telemetry.lake.runs import Lake
from telemetry.summary.truths import TRUTHS, account
from telemetry.systems.context_broker import oracle
from telemetry.systems.context_broker.lab.overlay import Overlay
from telemetry.systems.context_broker.oracle import Conditions
from tests.telemetry.synthetic import ZERO_UNIX_US, Script, write_run
from tests.thorough import examples

MS = 1000
VALID_MS = 100
ALWAYS = Conditions(VALID_MS, 0)


def exchange(role, outcome, sent_ms, ended_ms, stamp_ms=0, broker=0, entity="e", **more):
    times = {"intended_us": sent_ms * MS, "sent_us": sent_ms * MS, "ended_us": ended_ms * MS}
    named = {"role": role, "client": 0, "broker": broker, "phase": "measuring", "outcome": outcome, "status": 0}
    return Sample(**{**named, **times, "attempts": 1, "entity": entity, "entry_timestamp_ms": stamp_ms, **more})


def told(sent_ms, ended_ms, **more):
    return exchange("provider", "answered", sent_ms, ended_ms, sent_ms, **more)


def answered(sent_ms, ended_ms, stamp_ms, **more):
    return exchange("consumer", "answered", sent_ms, ended_ms, stamp_ms, **more)


def denied(sent_ms, ended_ms, **more):
    return exchange("consumer", "not_found", sent_ms, ended_ms, **more)


def words(samples, conditions=ALWAYS):
    return [word for word in oracle.judge(oracle.columns_of(samples), conditions).words() if word]


# ---- what each word means


def test_an_answer_is_fresh_with_the_newest_value_that_was_acknowledged_or_with_a_newer_one():
    provided = [told(10, 12), told(50, 52)]
    assert words([*provided, answered(53, 55, 50)]) == ["fresh"]
    assert words([*provided, answered(53, 55, 54)]) == ["fresh"]
    assert words([*provided, answered(51, 55, 10)]) == ["fresh"]  # the second was on its way
    assert words([*provided, answered(52, 55, 10)]) == ["fresh"]  # and came in the same instant


def test_an_answer_is_stale_by_what_its_stamp_is_behind():
    judged = oracle.judge(oracle.columns_of([told(10, 12), told(50, 52), answered(53, 55, 10)]), ALWAYS)
    assert judged.words() == [None, None, "stale"]
    assert judged.stale_ms.tolist() == [-1, -1, 40]


def test_an_answer_that_came_after_its_validity_is_expired_whatever_there_is():
    assert words([told(10, 12), answered(100, 111, 10)]) == ["expired"]
    assert words([told(10, 12), answered(100, 110, 10)]) == ["fresh"]


def test_a_not_found_is_false_while_a_value_is_there_and_proved_where_none_is():
    provided = [told(10, 12)]
    assert words([*provided, denied(13, 20)]) == ["false_not_found"]
    assert words([*provided, denied(13, 20, entity="other")]) == ["proved_not_found"]
    assert words([*provided, denied(11, 20)]) == ["proved_not_found"]  # not acknowledged yet
    assert words([*provided, denied(100, 111)]) == ["proved_not_found"]  # expired while it was looked for
    assert words([exchange("provider", "timed_out", 1, 11), denied(13, 20)]) == ["proved_not_found"]


def test_what_nobody_answered_is_lost_and_what_was_refused_is_refused():
    assert words([exchange("consumer", "timed_out", 5, 15), exchange("consumer", "refused", 5, 6)]) == [
        "lost",
        "refused",
    ]


def died(broker, at_ms):
    return Event("supervisor", at_ms * MS, "process_ended", {"process": f"broker-{broker}", "reason": "killed"})


def started(broker, at_ms):
    return Event("supervisor", at_ms * MS, "process_started", {"process": f"broker-{broker}", "after": "killed"})


def test_a_value_dies_with_the_broker_that_acknowledged_it():
    events = [started(0, 0), started(1, 0), died(0, 30), started(0, 40), died(0, 80)]
    lives = Conditions(VALID_MS, 0, oracle.lives_of(events))
    assert words([told(10, 12), denied(13, 20)], lives) == ["false_not_found"]
    assert words([told(10, 12), denied(20, 31)], lives) == ["proved_not_found"]  # it died meanwhile
    assert words([told(10, 12), denied(50, 60)], lives) == ["proved_not_found"]
    assert words([told(10, 12, broker=1), denied(50, 60)], lives) == ["false_not_found"]
    assert words([told(28, 33), denied(50, 60)], lives) == ["proved_not_found"]  # its last word
    assert words([told(43, 45), denied(50, 60)], lives) == ["false_not_found"]  # to the one that came after it


def test_a_broker_that_left_took_its_values_along():
    events = [Event("broker-0", 30 * MS, "NetworkLeft", {})]
    lives = Conditions(VALID_MS, 0, oracle.lives_of(events))
    assert words([told(10, 12), denied(13, 20), denied(50, 60)], lives) == ["false_not_found", "proved_not_found"]


# ---- against a plain model

moments = st.integers(0, 60)
spans = st.tuples(moments, st.integers(0, 20)).map(lambda pair: (pair[0], sum(pair)))


@st.composite
def samples(draw):
    (sent, ended), role = draw(spans), draw(st.sampled_from(["provider", "consumer"]))
    outcome = draw(st.sampled_from(OUTCOMES))
    about = {"broker": draw(st.integers(0, 2)), "entity": draw(st.sampled_from("ab"))}
    stamp = (draw(st.integers(1, 60)) if role == "consumer" else sent + 1) if outcome == "answered" else 0
    return exchange(role, outcome, sent, ended, stamp, **about)


events = st.builds(
    lambda make, broker, at: make(broker, at), st.sampled_from([died, started]), st.integers(0, 1), moments
)


def dies_ms(events, broker, at_ms):
    """When what this broker was told then is gone: at once where it was not there."""
    is_up, end = True, None
    for event in sorted(events, key=lambda one: one.at_us):
        if event.detail["process"] != f"broker-{broker}":
            continue
        if event.at_us <= at_ms * MS:
            is_up = event.name == "process_started"
        elif event.name == "process_ended" and end is None:
            end = event.at_us // MS
    return (10**9 if end is None else end) if is_up else 0


def expected(request, provided, events, valid_ms):
    sent, ended = request.sent_us // MS, request.ended_us // MS
    known = [one for one in provided if one.entity == request.entity and one.ended_us // MS < sent]
    newest = max((one.entry_timestamp_ms for one in known), default=0)
    if request.outcome == "answered":
        entry = request.entry_timestamp_ms
        return "expired" if ended > entry + valid_ms else "stale" if entry < newest else "fresh"
    if request.outcome == "not_found":
        ends = [
            min(one.entry_timestamp_ms + valid_ms, dies_ms(events, one.broker, one.ended_us // MS)) for one in known
        ]
        return "false_not_found" if max(ends, default=0) > ended else "proved_not_found"
    return {"timed_out": "lost", "refused": "refused"}[request.outcome]


@settings(max_examples=examples(300))
@given(st.lists(samples(), max_size=25), st.lists(events, max_size=6), st.integers(1, 40))
def test_the_oracle_and_a_dictionary_agree(samples, events, valid_ms):
    provided = [one for one in samples if one.role == "provider" and one.outcome == "answered"]
    requests = [one for one in samples if one.role == "consumer"]
    conditions = Conditions(valid_ms, 0, oracle.lives_of(events))
    assert words(samples, conditions) == [expected(one, provided, events, valid_ms) for one in requests]
    judged = oracle.judge(oracle.columns_of(samples), conditions)
    assert set(judged.stale_ms[judged.truth == TRUTHS.index("fresh")].tolist()) <= {0}
    assert (judged.stale_ms[judged.truth == TRUTHS.index("stale")] > 0).all()
    score = oracle.score(samples, conditions)
    assert {word: score[word] for word in TRUTHS} == dict.fromkeys(TRUTHS, 0) | Counter(words(samples, conditions))
    assert score["success"] is None or 0 <= score["success"] <= 1


def test_shares_of_nothing_are_none_and_not_zero():
    nothing = account({}, np.array([]), 0)
    assert [nothing[name] for name in ("fresh_share", "success", "false_not_found_per_1000")] == [None] * 3


# ---- brokers in virtual time


def scored(workload, graph, config, *faults, seed=3):
    """A simulated run's score; each fault is when (s) and which broker is killed."""
    overlay = Overlay(graph, config, seed)
    overlay.start()
    overlay.add_clients(workload)
    for at_s, index in faults:
        overlay.at(overlay.simulator.now + round(at_s * SECOND), partial(overlay.kill, index))
    overlay.run_for(round((workload.duration_s + 20) * SECOND))
    conditions = Conditions(workload.valid_ms, overlay.zero_unix_us, oracle.lives_of(overlay.happened))
    return oracle.score(overlay.samples(), conditions)


RARE = Workload(
    providers=2, consumers=20, entities=2, holders=1, update_interval_s=5, request_interval_s=1, duration_s=20,
    stagger_ms=10,
)  # fmt: skip
WAXMAN = generate("waxman", 10, {"delay_ms": 1}, seed=5)


def test_a_walk_that_gives_up_is_caught_and_one_that_turns_back_never_lies():
    short = scored(RARE, WAXMAN, BrokerConfig(walk_policy="avoid", walk_ttl=3, replication_index=0))
    assert short["requests"] == 400
    assert short["false_not_found"] > 20
    assert short["proved_not_found"] == 0  # everything existed
    assert short["success"] < 0.95
    thorough = scored(RARE, WAXMAN, BrokerConfig(walk_policy="backtrack", replication_index=0))
    assert (thorough["false_not_found"], thorough["success"]) == (0, 1)
    assert thorough["fresh"] == 400


def test_replicas_that_nobody_refreshes_go_stale_and_the_oracle_says_by_how_much():
    score = scored(RARE, WAXMAN, BrokerConfig(walk_policy="backtrack", replication_index=2))
    assert score["stale"] > 0
    assert score["stale_ms"]["p95"] % 5000 == pytest.approx(0, abs=50)  # a whole number of updates
    assert score["fresh_share"] < 1


def test_data_that_died_with_their_broker_are_proved_not_to_be_found():
    lone = Workload(
        providers=1, consumers=10, holders=1, update_interval_s=60, request_interval_s=1, duration_s=20, stagger_ms=10
    )
    line = generate("line", 4, {"delay_ms": 1})
    config = BrokerConfig(walk_policy="backtrack", replication_index=0)
    assert scored(lone, line, config)["success"] == 1
    held_by = plan_clients(lone, 4, 3)[0].broker
    score = scored(lone, line, config, (10, held_by))
    assert score["proved_not_found"] > 0
    assert (score["false_not_found"], score["stale"]) == (0, 0)


def test_a_harness_reports_ends_and_starts_as_a_supervisor_does():
    overlay = Overlay(generate("line", 4), seed=1)
    overlay.start()
    overlay.run_for(SECOND)
    overlay.kill(2)
    overlay.run_for(SECOND)
    overlay.restart(2)
    ended, again = [event.at_us for event in overlay.happened]
    assert again == ended + 1_000_000
    assert oracle.lives_of(overlay.happened) == {2: [(oracle.NOT_AT_ALL, ended), (again, oracle.NEVER)]}


# ---- a run's files


def read(lake, name):
    return pq.read_table(lake.part(name, "r1"), partitioning=None).to_pylist()


def test_a_collected_run_holds_the_truth_of_every_request_and_counts_that_of_the_measured(tmp_path):
    files, lake = write_run(tmp_path / "r1"), Lake(tmp_path / "lake")
    truth = collect(files, lake)["truth"]
    known = [fact for path in files.journals() for fact in read_journal(path) if isinstance(fact, Sample)]
    conditions = Conditions(120_000, ZERO_UNIX_US)
    assert truth == oracle.score(known, conditions)
    assert truth["fresh"] > 0 < truth["stale"]
    assert truth["false_not_found"] == pytest.approx(20, abs=12)  # one in ten is not found, and everything was there
    assert truth["requests"] == sum(truth[word] for word in TRUTHS) == 200
    rows = read(lake, "samples")
    assert [row["truth"] for row in rows] == oracle.judge(oracle.columns_of(known), conditions).words()
    assert {row["stale_ms"] for row in rows if row["truth"] == "fresh"} == {0}
    assert {(row["stale_ms"], row["existed"]) for row in rows if row["role"] == "provider"} == {(None, None)}


def test_brokers_that_died_are_known_from_the_journals(tmp_path):
    files, lake = write_run(tmp_path / "r1", Script(consumers=2)), Lake(tmp_path / "lake")
    writer = JournalWriter(files.journal("supervisor"), Start("supervisor", 1, ZERO_UNIX_US, "0.1.0"))
    for broker in (0, 1):
        writer.write(died(broker, 2_500))
    writer.close()
    truth = collect(files, lake)["truth"]
    assert truth["false_not_found"] == 0 < truth["proved_not_found"]


def test_journals_without_stamps_of_updates_are_judged_by_when_these_were_sent():
    provided = [exchange("provider", "answered", 10, 12), exchange("provider", "answered", 50, 52)]
    assert words([*provided, answered(53, 55, 10), answered(53, 55, 50)]) == ["stale", "fresh"]


def test_a_run_of_nothing_is_collected_too(tmp_path):
    truth = collect(write_run(tmp_path / "r1", Script(consumers=0, providers=0)), Lake(tmp_path / "lake"))["truth"]
    assert (truth["requests"], truth["success"]) == (0, None)


def test_a_broker_sent_away_by_churn_holds_nothing_from_that_instant():
    """It reports its leave at its next tick, and its process ends after the third."""
    told = [
        Event("supervisor", 5_000_000, "churn_left", {"broker": 1}),
        Event("broker-1", 5_800_000, "NetworkLeft", {}),
        Event("supervisor", 5_900_000, "process_ended", {"process": "broker-1"}),
        Event("supervisor", 9_000_000, "process_started", {"process": "broker-1"}),
    ]
    (before, after) = oracle.lives_of(told)[1]
    assert (before[1], after[0]) == (5_000_000, 9_000_000)
