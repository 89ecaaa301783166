"""Copies by entity and query rate, and the slope of copies over rate."""

from dataclasses import replace

import pytest

from overlay.journal.facts import Holdings, Sample
from overlay.journal.journal import JournalWriter, read_journal
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.broker.entries import Entry, Replica
from overlay.systems.context_broker.broker.reports import MOST_KEYS, make_holdings
from overlay.systems.context_broker.broker.table import Table
from overlay.systems.context_broker.holdings import fit_shape
from overlay.systems.context_broker.wire.messages import ContextResponse, ContextUpdateAdvertisement
from telemetry.collect import collect
from telemetry.lake.records import to_table
from telemetry.lake.runs import Lake
from telemetry.systems.context_broker import holdings
from tests.telemetry.synthetic import SECOND, Script, _start, write_run

AT_THE_END = 10**12


def asked(entity, times):
    one = Sample("consumer", 0, 0, "measuring", "answered", 102, 1, 10, 10, 20, entity, 0)
    return [one] * times


def held(process, own=(), replicas=(), left_out=0):
    return Holdings(process, AT_THE_END, list(own), list(replicas), left_out)


def test_rows_say_how_often_and_at_how_many_brokers():
    samples = to_table("samples", asked("a|1|x", 40) + asked("a|2|x", 10))
    facts = [held("broker-0", ["a|1|x"]), held("broker-1", ["a|3|x"], ["a|1|x"]), held("broker-2", [], ["a|1|x"], 2)]
    table = holdings.by_entity(samples, facts, 10 * SECOND)
    assert table.to_pylist() == [
        {"entity": "a|1|x", "queries": 40, "per_s": 4.0, "holders": 1, "replicas": 2},
        {"entity": "a|2|x", "queries": 10, "per_s": 1.0, "holders": 0, "replicas": 0},
        {"entity": "a|3|x", "queries": 0, "per_s": 0.0, "holders": 1, "replicas": 0},
    ]
    short = holdings.in_short(table, facts)
    assert (short["brokers"], short["entities"], short["copies"], short["left_out"]) == (3, 2, 4, 2)
    assert short["exponent"] is None, "one entity asked for and held is no line"


def test_a_broker_that_was_started_again_counts_once():
    samples = to_table("samples", asked("a|1|x", 4))
    table = holdings.by_entity(samples, [held("broker-0", ["a|1|x"]), held("broker-0", [], ["a|1|x"])], SECOND)
    assert [(row["holders"], row["replicas"]) for row in table.to_pylist()] == [(0, 1)]


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
def test_a_shape_that_is_there_is_found(exponent):
    shape = fit_shape([(rate, 3 * rate**exponent) for rate in (0.1, 1, 5, 40)] + [(0, 2), (3, 0)])
    assert shape.exponent == pytest.approx(exponent)
    assert shape.error == pytest.approx(0, abs=1e-6)
    assert shape.entities == 4


@pytest.mark.parametrize("points", [[], [(1, 1), (2, 2)], [(1, 1), (1, 2), (1, 3)], [(0, 1), (2, 0), (3, 3), (4, 4)]])
def test_where_there_is_no_line_none_is_drawn(points):
    assert fit_shape(points) is None


def test_a_broker_names_so_many_keys_and_counts_the_rest():
    keys = {("room", f"r{i}", "climate"): i % 3 == 0 for i in range(MOST_KEYS + 500)}
    fact = make_holdings("broker-1", 7, keys)
    assert len(fact.own) + len(fact.replicas) == MOST_KEYS
    assert (fact.left_out, fact.own[0], fact.replicas[0]) == (500, "room|r0|climate", "room|r1|climate")


def test_the_longest_names_fit_a_frame_of_the_journal(tmp_path):
    keys = {(f"{i:0>255}", "y" * 255, "z" * 255): True for i in range(2 * MOST_KEYS)}
    writer = JournalWriter(tmp_path / "j", _start("broker-0"))
    writer.write(make_holdings("broker-0", 7, keys))
    writer.close()
    assert [type(fact).__name__ for fact in read_journal(tmp_path / "j")] == ["Start", "Holdings"]


def test_what_a_provider_sent_and_what_was_kept_for_others_are_told_apart():
    table = Table(BrokerConfig(table_entries=10, table_bytes=10_000))

    def keep(kind, message, name, provider, end):
        table.store(kind.of(message(1, *provider, "room", name, "x", 0, end, b"v")), 5)

    keep(Entry, ContextUpdateAdvertisement, "own", ("A", "p1"), 100)
    keep(Replica, ContextResponse, "both", ("p1",), 100)
    keep(Entry, ContextUpdateAdvertisement, "both", ("A", "p2"), 100)
    keep(Replica, ContextResponse, "kept", ("p1",), 100)
    keep(Replica, ContextResponse, "ended", ("p1",), 9)
    held = table.held_keys(10)
    assert {key[1]: is_own for key, is_own in held.items()} == {"own": True, "both": True, "kept": False}


def test_a_collected_run_keeps_its_holdings(tmp_path):
    files = write_run(tmp_path / "r1", Script())
    for index in range(3):
        with_more = JournalWriter(files.journal(f"broker-{index}"), _start(f"broker-{index}"))
        with_more.write(held(f"broker-{index}", ["room|r0|climate"] if index == 0 else [], ["room|r0|climate"]))
        with_more.close()
    summary = collect(files, Lake(tmp_path / "lake"))
    count, (row,) = holdings.read(files.holdings_path, 0, 10)
    assert (count, row["entity"], row["queries"], row["holders"]) == (1, "room|r0|climate", summary["requests"], 1)
    assert row["per_s"] == pytest.approx(40, rel=0.05)
    assert summary["holdings"]["brokers"] == 3


def test_what_a_broker_held_that_went_by_churn_is_not_there_at_the_end(tmp_path):
    files = write_run(tmp_path / "r1", Script())
    for index, at_us in enumerate([9, AT_THE_END]):
        broker = JournalWriter(files.journal(f"broker-{index}"), _start(f"broker-{index}"))
        broker.write(replace(held(f"broker-{index}", ["room|r0|climate"]), at_us=at_us))
        broker.close()
    found = collect(files, Lake(tmp_path / "lake"))["holdings"]
    assert (found["brokers"], found["copies"]) == (1, 1)
