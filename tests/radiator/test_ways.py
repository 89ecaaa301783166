"""One message's complete way, of small runs in virtual time and of chains written by hand."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from overlay.core.node import SECOND
from overlay.journal.facts import Row
from overlay.systems.radiator.system import SYSTEM
from overlay.systems.radiator.tracing import LISTED_A_SECOND, REPEATS_A_SECOND, Pushed, Repeats, Tracer, number_of
from overlay.topologies import Graph
from telemetry.collect import collect
from telemetry.lake.runs import Lake, RunFiles
from telemetry.systems.radiator import messages, way_files
from telemetry.systems.radiator.folding import MOST_DRAWN, Gap, folded
from telemetry.systems.radiator.way_sequence import MOST_LANES, sequence_of
from telemetry.systems.radiator.ways import Arrival, Chain, Hop, Records, Step
from tests.radiator.runs import ran

SETTINGS = {"aggregability": "{volume: 4}", "chain_percent": 30, "rto_ms": 50, "chain_wait_s": 1, "trace_one_in": 1}
STORMY = [
    {"what": "crash", "clients": 0.2, "at_s": 2, "until_s": 5},
    {"what": "restart", "brokers": [0], "at_s": 4},
    {"what": "loss", "clients": 1.0, "share": 0.05, "at_s": 1, "until_s": 8},
]


def collected(directory, settings, faults=(), **workload):
    """A run of which everything is read, its summary and the facts of its journal."""
    files, lake = RunFiles(directory / "r1"), Lake(directory / "lake")
    outcome, facts = ran(files.directory, settings, {"duration_s": 8, **workload}, faults=list(faults))
    manifest = {"system": "radiator", "engine": "simulated", "settings": settings, "workload": workload}
    files.write_manifest({**manifest, "topology": {"brokers": 1, "links": []}})
    summary = collect(files, lake)
    rows = messages.listed(files, "all", 0, 1_000)[1]
    found = [way_files.find(files, lake, row["id"]) for row in rows]
    return SimpleNamespace(files=files, lake=lake, summary=summary, facts=facts, ways=found, digest=outcome.digest)


@pytest.fixture(scope="module")
def stormy(tmp_path_factory):
    return collected(tmp_path_factory.mktemp("stormy"), SETTINGS, STORMY)


def chains(found):
    return [chain for way in found.ways for one in way.propagations for chain in one.chains]


def test_the_states_of_all_messages_add_up_to_the_measures_of_the_run(stormy):
    rows = pq.read_table(stormy.files.traces_path, partitioning=None)
    for name in ("due", "delivered", "retained", "dropped", "failed"):
        assert pc.sum(rows[name]).as_py() == stormy.summary["radiator"][f"pairs_{name}"], name
    assert pc.count(rows["number"]).as_py() == stormy.summary["radiator"]["accepted"]
    assert rows.num_rows == stormy.summary["radiator"]["messages"] == 80


def test_messages_are_listed_by_view_in_order_and_in_part(stormy):
    def listed(view, offset=0, limit=1_000):
        return messages.listed(stormy.files, view, offset, limit)

    count, rows = listed("all")
    due = [row["due_us"] for row in rows]
    assert (count, due) == (80, sorted(due))
    assert listed("all", 20, 10) == (80, rows[20:30])
    assert listed("failed")[1] == [row for row in rows if row["failed"] or row["late"]] != []
    assert listed("refused")[1] == [row for row in rows if row["number"] is None] != []
    assert listed("retained")[1] == [row for row in rows if row["retained"] or row["dropped"]] != []
    slowest = [row["p95_us"] for row in listed("slowest")[1]]
    assert slowest == sorted(slowest, reverse=True)
    assert len(slowest) == sum(row["delivered"] > 0 for row in rows)


def test_every_recipient_of_a_traced_message_is_in_one_group(stormy):
    traced = [way for way in stormy.ways if way.row["traced"]]
    assert len(traced) > 40
    for way in traced:
        assert sum(group.recipients for group in way.groups) == way.row["due"]
        assert sum(group.delivered for group in way.groups) == way.row["delivered"]
        assert {group.queue for group in way.groups} <= {"volume 4"}
        assert len(way.undelivered) == way.row["due"] - way.row["delivered"]
        states = Counter(one.state for one in way.undelivered)
        assert way.row["retained"] in (0, states["retained"])


def test_a_chain_is_repaired_behind_the_client_that_is_silent(stormy):
    repaired = [chain for chain in chains(stormy) if any(one.step == "failed" for one in chain.steps)]
    assert repaired
    for chain in repaired:
        assert (chain.is_troubled, chain.failures > 0) == (True, True)
        assert [hop.client for hop in chain.hops] == list(chain.clients)
        assert chain.delivered == sum(hop.state == "delivered" for hop in chain.hops)
        for hop in chain.hops:
            injected = [one for one in hop.steps if one.step == "injected"]
            assert hop.took_us is None or hop.received_us - hop.took_us >= chain.emitted_us
            assert not hop.is_from_server or injected or any(one.step == "direct" for one in hop.steps)
    silent = next(chain for chain in repaired if chain.repairs)
    failed = next(one for one in silent.steps if one.step == "failed")
    again = next(one for one in silent.steps if one.step == "injected" and one.position > failed.position)
    assert again.at_us == failed.at_us
    repeats = [one for one in silent.steps if one.step == "repeated" and one.position == failed.position]
    assert 0 < len(repeats) < 4, "the others were sent by the client that gave up"


def test_a_sequence_diagram_has_pushes_reports_and_what_was_lost(stormy):
    chain = next(one for one in chains(stormy) if one.repairs and any(step.step == "failed" for step in one.steps))
    found = sequence_of(chain)
    assert found.lanes == ["server", *(f"client {client}" for client in chain.clients)]
    kinds = Counter(one.kind for one in found.messages)
    assert kinds["failed"] == sum(one.step == "failed" for one in chain.steps)
    assert kinds["repeat"] == chain.repeats
    assert any(one.is_lost for one in found.messages)
    assert [one.sent_ms for one in found.messages] == sorted(one.sent_ms for one in found.messages)
    arrived = {one.receiver for one in found.messages if one.kind == "push" and one.ms is not None}
    assert arrived == {at for at, hop in enumerate(chain.hops, start=1) if hop.state == "delivered"}
    assert found.left_out == 0


def test_a_message_that_is_retained_waits_in_its_queue(tmp_path):
    found = collected(tmp_path, {**SETTINGS, "aggregability": "{volume: 900}"}, duration_s=2, drain_s=0)
    for way in found.ways:
        (group,) = way.groups
        assert group == ("volume 900", None, "retained", 19, 0)
        assert {one.state for one in way.undelivered} == {"retained"}
        assert (way.row["retained"], way.row["p95_us"], way.propagations) == (19, None, [])


def test_a_message_that_was_never_accepted_has_no_recipients(stormy):
    refused = [way for way in stormy.ways if way.row["number"] is None]
    assert refused
    assert {way.row["outcome"] for way in refused} & {"refused", "timed_out"}
    for way in refused:
        # What the killed server had accepted since it last wrote its journal was answered, and is not known to it.
        assert way.row["outcome"] in ("refused", "timed_out", "answered")
        assert (way.groups, way.propagations, way.undelivered) == ([], [], [])


def test_tracing_changes_nothing_that_is_sent(stormy, tmp_path):
    plain = collected(tmp_path, {**SETTINGS, "trace_one_in": 0}, STORMY)
    assert plain.digest == stormy.digest
    tables = Counter(fact.table for fact in plain.facts if isinstance(fact, Row))
    assert tables.keys() == {"messages", "propagations", "missed"}
    same = [name for name in plain.summary["radiator"] if plain.summary["radiator"][name] is not None]
    assert {name: plain.summary["radiator"][name] for name in same} == {
        name: stormy.summary["radiator"][name] for name in same
    }
    for bare, full in zip(plain.ways, stormy.ways, strict=True):
        assert {**full.row, "traced": False} == bare.row
        assert bare.groups == []
        assert {one.client for one in bare.undelivered} <= {one.client for one in full.undelivered}


def test_of_messages_that_are_not_sampled_only_chains_with_trouble_are_traced(tmp_path):
    found = collected(tmp_path, {**SETTINGS, "trace_one_in": 1_000_000}, STORMY)
    sampled = [way for way in found.ways if way.row["number"] == 0]
    others = [way for way in found.ways if way.row["number"]]
    assert all(way.row["traced"] for way in sampled)
    traced = [chain for way in others for one in way.propagations for chain in one.chains if 0 not in one.messages]
    assert traced and all(chain.is_troubled for chain in traced)
    assert not any(way.row["traced"] for way in others)


# ---- long chains, by hand


def long_chain(members=6_000, silent=3_000):
    """Each hop takes a millisecond; one is silent, and the server pushes to the next one 3 s later."""
    arrivals = {at: Arrival(1_000 * (at + 1), at == 0) for at in range(silent)}
    again = 1_000 * silent + 3_000_000
    arrivals |= {at: Arrival(again + 1_000 * (at - silent), at == silent + 1) for at in range(silent + 1, members)}
    steps = [
        Step(0, "injected", 0, 0),
        Step(again, "failed", silent, 0),
        Step(again, "injected", silent + 1, 1),
        Step(again + 9_000_000, "done", members - 1, 1),
    ]
    return Chain(0, range(members), steps, Records({}, arrivals=arrivals, missed={silent: ("failed", "")}), 0)


def test_a_long_chain_is_folded_around_what_happened():
    hops = long_chain().hops
    found = folded(hops)
    drawn = [one.position for one in found if isinstance(one, Hop)]
    gaps = [one for one in found if isinstance(one, Gap)]
    assert len(found) <= MOST_DRAWN
    assert {0, 2_999, 3_000, 3_001, 5_999} < set(drawn)
    assert len(drawn) + sum(gap.count for gap in gaps) == 6_000
    assert all((gap.shortest_us, gap.longest_us, gap.delivered) == (1_000, 1_000, gap.count) for gap in gaps)
    assert [hop.position for hop in hops if hop.is_marked] == [3_000, 3_001]


def test_a_chain_full_of_trouble_stays_bounded():
    steps = [Step(at, "failed", at, 0) for at in range(6_000)]
    chain = Chain(0, range(6_000), steps, Records({}), 0)
    assert len([one for one in folded(chain.hops) if isinstance(one, Hop)]) <= MOST_DRAWN
    found = sequence_of(chain)
    assert len(found.lanes) <= MOST_LANES + 1
    assert len(found.messages) + found.left_out == 6_000


# ---- bounds


def traced_chain(members):
    entries = [SimpleNamespace(key=("", f"client-{at:05d}")) for at in range(members)]
    chain = SimpleNamespace(members=entries, push=SimpleNamespace(chain=0), is_traced=False)
    return SimpleNamespace(number=1, messages=(0,), chains=[chain])


def test_a_server_lists_a_limited_number_of_clients_a_second():
    tracer, propagation = Tracer(1), traced_chain(10_000)
    for _ in range(100):
        tracer.begin(propagation, (), now=5 * SECOND)
    listed = [event for event in tracer.events() if isinstance(event, Pushed)]
    assert len(listed) == LISTED_A_SECOND // 10_000
    assert listed[0].clients == list(range(10_000))
    tracer.begin(propagation, (), now=6 * SECOND)
    assert len(tracer.events()) == 1


def test_clients_report_a_limited_number_of_repeats_a_second():
    repeats = Repeats(100)
    assert sum(repeats.allow(now) for now in range(1_000)) == REPEATS_A_SECOND
    assert repeats.allow(SECOND)
    assert not Repeats(0).allow(3 * SECOND)


def test_ids_of_other_clients_have_no_number():
    assert [number_of(id) for id in ("client-00017", "alice", "client-x", "-", "client-" + "9" * 30)] == [17] + [-1] * 4


@pytest.mark.parametrize(("workload", "is_reported"), [(None, False), ({}, True)])
def test_a_network_keeps_no_log_that_nobody_reads(workload, is_reported):
    assert SYSTEM.config_of(SYSTEM.setup({}, workload, Graph(1, ()))).is_reported == is_reported
