"""Traces of single queries: joined over brokers, numbered, timed, and never whole where a part was not told."""

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.journal.facts import Sample, Start, Tick, Trace
from overlay.journal.journal import JournalWriter
from telemetry.collect import collect
from telemetry.lake.runs import Lake, RunFiles
from telemetry.systems.context_broker import tracefile
from telemetry.systems.context_broker.traces import CONSUMER, NOBODY, OUTCOMES, STRANGER, Gathered, id_of
from tests.telemetry.synthetic import ZERO_UNIX_US, write_run

ADDRESSES = [f"127.0.0.1:{7000 + index}" for index in range(4)]
CONSUMER_AT = "127.0.0.1:40123"
NAME = (CONSUMER_AT, 1_790_000_004_000, "room|r0|climate")
AT = 4_000_000


def start(index):
    return Start(f"broker-{index}", 100 + index, ZERO_UNIX_US, "0.1.0", ADDRESSES[index])


def told(index, *steps, name=NAME):
    """What broker ``index`` reported: ``(microseconds, step, peer, detail)``, a peer by index, C for the consumer."""
    peers = {"C": CONSUMER_AT, None: "", "?": "10.9.9.9:9", **dict(enumerate(ADDRESSES))}
    rows = [
        [at, step, peers[peer], detail]
        for at, step, peer, detail in (row + (None, "")[len(row) - 2 :] for row in steps)
    ]
    return Trace(f"broker-{index}", *name, rows)


FOUND = (
    told(0, (AT, "received", "C"), (AT + 40, "forwarded", 1), (AT + 900, "answered", 1), (AT + 950, "replied", "C")),
    told(1, (AT + 240, "received", 0), (AT + 260, "forwarded", 2)),
    told(1, (AT + 600, "answered", 2), (AT + 610, "replicated"), (AT + 620, "replied", 0)),
    told(2, (AT + 400, "received", 1), (AT + 430, "found", 1)),
)


def joined(*traces, most=400_000):
    gathered = Gathered(most)
    for index in range(4):
        gathered.add_start(start(index))
    for trace in traces:
        gathered.add(trace)
    return list(gathered.queries())


def test_a_walk_is_one_trace_with_its_hops_numbered_and_timed():
    (query,) = joined(*reversed(FOUND))
    assert [(step.at_us - AT, step.broker, step.step, step.peer) for step in query.steps][:3] == [
        (0, 0, "received", CONSUMER),
        (40, 0, "forwarded", 1),
        (240, 1, "received", 0),
    ]
    assert [(hop.number, hop.kind, hop.sender, hop.receiver, hop.us) for hop in query.hops] == [
        (1, "request", 0, 1, 200),
        (2, "request", 1, 2, 140),
        (None, "answer", 2, 1, 170),
        (None, "answer", 1, 0, 280),
    ]
    assert (query.outcome, query.us, query.asked, query.requests, query.replicas) == ("answered", 950, 0, 2, [1])
    assert (query.silent, query.is_partial) == ([], False)
    assert query.steps[7].peer == NOBODY


@pytest.mark.parametrize(
    ("traces", "outcome", "us", "silent", "is_partial"),
    [
        ([told(0, (AT, "received", "C"), (AT + 5, "found", "C"))], "answered", 5, [], False),
        ([told(0, (AT, "received", "C"), (AT + 5, "passed back", "C", "202"))], "not_found", 5, [], False),
        ([told(0, (AT, "received", "C"), (AT + 5, "passed back", "C", "201"))], "refused", 5, [], False),
        ([told(0, (AT, "received", "C"), (AT + 5, "forwarded", 3), (AT + 9, "expired"))], "lost", None, [3], True),
        ([told(0, (AT, "received", "C"), (AT + 5, "forwarded", 3), (AT + 9, "gave up", 3))], "lost", None, [3], True),
        ([told(0, (AT, "received", "C"), (AT + 5, "forwarded", 3))], "unknown", None, [3], True),
        ([told(1, (AT, "received", 0), (AT + 5, "passed back", 0, "202"))], "unknown", None, [], True),
        ([told(0, (AT, "received", "?"), (AT + 5, "found", "?"))], "unknown", None, [], True),
    ],
)
def test_an_end_is_what_the_broker_asked_reported_and_nothing_is_guessed(traces, outcome, us, silent, is_partial):
    (query,) = joined(*traces)
    assert (query.outcome, query.us, query.silent, query.is_partial) == (outcome, us, silent, is_partial)


def test_a_neighbour_that_refused_is_a_way_back_too():
    (query,) = joined(
        told(0, (AT, "received", "C"), (1 + AT, "forwarded", 1)),
        told(1, (AT + 10, "received", 0), (AT + 20, "turned away", 0)),
        told(0, (AT + 30, "refused", 1, "202"), (AT + 31, "forwarded", 2)),
    )
    hops = [(hop.number, hop.kind, hop.us) for hop in query.hops]
    assert hops == [(1, "request", 9), (None, "refusal", 10), (2, "request", None)]


def test_brokers_that_answer_without_a_querys_name_are_timed_there_and_back():
    (query,) = joined(
        told(0, (AT, "received", "C"), (AT + 10, "forwarded", 1), (AT + 12, "forwarded", 2)),
        told(0, (AT + 30, "refused", 2, "not here"), (AT + 50, "answered", 1), (AT + 60, "replied", "C")),
    )
    hops = [(hop.number, hop.kind, hop.sender, hop.left_us and hop.left_us - AT, hop.round_us) for hop in query.hops]
    assert hops == [
        (1, "request", 0, 10, 40),
        (2, "request", 0, 12, 18),
        (None, "refusal", 2, None, None),
        (None, "answer", 1, None, None),
    ]
    assert (query.outcome, query.silent, query.is_partial) == ("answered", [], False)


def test_a_broker_that_is_passed_twice_has_each_arrival_matched_to_its_sending():
    (query,) = joined(
        told(0, (AT, "received", "C"), (AT + 10, "forwarded", 1)),
        told(1, (AT + 20, "received", 0), (AT + 30, "forwarded", 0)),
        told(0, (AT + 40, "received", 1), (AT + 50, "forwarded", 1)),
        told(1, (AT + 70, "received", 0), (AT + 80, "passed back", 0)),
    )
    assert [(hop.number, hop.sender, hop.us) for hop in query.hops[:3]] == [(1, 0, 10), (2, 1, 10), (3, 0, 20)]


def test_too_many_steps_leave_out_whole_queries_at_every_broker_alike():
    names = [(CONSUMER_AT, n, "room|r0|climate") for n in range(1000)]
    traces = [
        told(index, (AT, "received", "C" if index == 0 else 0), (AT + 5, "looked", 3), name=name)
        for index in (0, 1)
        for name in names
    ]
    kept = joined(*traces, most=600)
    assert 50 < len(kept) <= 150
    assert {len(query.steps) for query in kept} == {4}


texts = st.sampled_from(["received", "forwarded", "found", "replied", "passed back", "expired", "looks", "nonsense"])
rows = st.tuples(st.integers(0, 99), texts, st.sampled_from(["C", None, "?", 0, 1, 2, 3]), st.just("202"))


@given(st.lists(st.tuples(st.integers(0, 3), st.lists(rows, max_size=6)), max_size=6))
def test_whatever_was_reported_is_joined_without_an_error(reported):
    for query in joined(*(told(index, *steps) for index, steps in reported)):
        assert query.outcome in OUTCOMES
        assert all(hop.us is None or hop.us >= 0 for hop in query.hops)
        assert query.is_partial or query.us is not None or query.outcome == "lost"
        assert {step.peer for step in query.steps} <= {CONSUMER, NOBODY, STRANGER, 0, 1, 2, 3}


def traced_run(directory):
    """A run of three brokers that answered a query, and failed one that nobody has."""
    files = write_run(directory)
    failed = (CONSUMER_AT, 1_790_000_005_000, "room|r7|climate")
    for index, traces in enumerate(
        (
            [FOUND[0], told(0, (AT + 9000, "received", "C"), (AT + 9005, "passed back", "C", "202"), name=failed)],
            [*FOUND[1:3]],
            [FOUND[3]],
        )
    ):
        writer = JournalWriter(files.journal(f"broker-{index}"), start(index))
        for trace in traces:
            writer.write(trace)
        writer.write(Tick(f"broker-{index}", 10_000_000, {}, "", 1, 1, 1, 1))
        writer.close()
    return files


def test_a_collected_run_has_its_traces_in_one_file_and_a_live_one_in_its_journals(tmp_path):
    files = traced_run(tmp_path / "r1")
    live = tracefile.listed(files).to_pylist()
    collect(files, Lake(tmp_path / "lake"))
    assert tracefile.listed(files).to_pylist() == live
    assert [(row["outcome"], row["us"], row["hops"], row["messages"], row["partial"]) for row in live] == [
        ("answered", 950, 2, 4, False),
        ("not_found", 5, 0, 0, False),
    ]
    assert [row["us"] for row in tracefile.listed(files, order="latest").to_pylist()] == [5, 950]
    assert [row["entity"] for row in tracefile.listed(files, ["not_found"]).to_pylist()] == ["room|r7|climate"]
    assert pq.read_metadata(files.traces_path).num_rows == 2
    query = tracefile.find(files, id_of(NAME))
    assert (query, len(query.hops)) == (joined(*FOUND)[0], 4)
    assert tracefile.find(files, "0" * 16) is None


def test_what_is_still_under_way_is_not_shown_yet(tmp_path):
    files = RunFiles(tmp_path / "r1")
    writer = JournalWriter(files.journal("broker-0"), start(0))
    writer.write(FOUND[0])
    writer.write(Tick("broker-0", AT + 1_000_000, {}, "", 1, 1, 1, 1))
    writer.flush()
    assert tracefile.listed(files).num_rows == 0
    writer.write(Tick("broker-0", AT + 4_000_000, {}, "", 1, 1, 1, 1))
    writer.close()
    assert tracefile.listed(files).num_rows == 1


def test_the_clients_view_is_joined_only_where_it_can_be_no_other(tmp_path):
    files, lake = RunFiles(tmp_path / "r1"), Lake(tmp_path / "lake")
    (query,) = joined(*FOUND)

    def sample(client, sent, ended, broker=0, entity=NAME[2]):
        return Sample("consumer", client, broker, "measuring", "answered", 102, 1, sent - 10, sent, ended, entity, 1)

    others = [
        sample(2, AT - 50, AT + 999, broker=1),
        sample(3, AT - 50, AT + 999, entity="a|b|c"),
        sample(4, 0, AT - 1),
    ]
    cases = (([sample(1, AT - 80, AT + 1020)], 1), ([sample(n, AT - 9, AT + 9) for n in (1, 5)], None), ([], None))
    for samples, client in cases:
        files.journal("consumers-0").unlink(missing_ok=True)
        writer = JournalWriter(files.journal("consumers-0"), Start("consumers-0", 1, ZERO_UNIX_US, "0.1.0"))
        for one in samples + others:
            writer.write(one)
        writer.close()
        collect(files, lake)
        view = tracefile.client_view(query, lake, "r1")
        assert (view and (view["client"], view["sent_us"])) == (client and (client, AT - 80))


def test_a_run_of_older_brokers_has_no_traces_and_says_so(tmp_path):
    files = write_run(tmp_path / "r1")
    collect(files, Lake(tmp_path / "lake"))
    assert tracefile.listed(files).num_rows == 0
    assert tracefile.kept_one_in(tracefile.listed(files)) == 1
