"""The live window: whole for whoever comes late, bounded however long it lasts, and true to the journals."""

import json

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.journal.facts import Event
from overlay.journal.journal import JournalWriter
from overlay.load.response_times import HISTOGRAM_DIGITS, LONGEST_US
from telemetry.charts.live import Line
from telemetry.collect import collect
from telemetry.lake.runs import Lake, RunFiles
from telemetry.live.window import EVENTS, LiveWindow
from telemetry.statistics import histograms, metrics
from telemetry.summary.series import Series
from tests.telemetry.synthetic import Script, _start, _tick, write_run

WITHIN_HISTOGRAM = 1.2e-2
"""Two digits, as the load generator has, and a percentile that is a recorded value where the exact one interpolates."""


def test_live_and_collected_agree_on_one_journal(tmp_path):
    files = write_run(tmp_path / "r1", Script(per_second=200, consumers=10))
    live, summary = LiveWindow(files).advance(), collect(files, Lake(tmp_path / "lake"))
    assert live["outcomes"] == {name: summary[name] for name in live["outcomes"]}
    assert live["updates"]["answered"] == summary["updates"]["answered"]
    assert live["latency"]["n"] == summary["answered"]
    for name in ("mean", "p50", "p95", "p99", "max"):
        assert live["latency"][name] == pytest.approx(summary[f"{name}_us"], rel=WITHIN_HISTOGRAM)
    assert live["memory"]["mean"]["over_idle_bytes"] == summary["memory"]["mean"]["over_idle_bytes"]


def test_a_late_window_shows_what_an_early_one_shows(tmp_path):
    whole = write_run(tmp_path / "whole")
    growing = RunFiles(tmp_path / "growing")
    growing.journal_directory.mkdir(parents=True)
    early = LiveWindow(growing)
    assert early.advance()["series"]["t"] == []
    for part in range(1, 5):  # by quarters, which cut both frames and journals
        for path in whole.journals():
            data = path.read_bytes()
            growing.journal(path.stem).write_bytes(data[: len(data) * part // 4])
        snapshot = early.advance()
    late = LiveWindow(whole).advance()
    assert snapshot["seq"] == 5
    assert {**snapshot, "seq": 1} == late
    json.dumps(late, allow_nan=False)


def test_processor_time_is_that_of_all_brokers_and_of_all_generators(tmp_path):
    series = LiveWindow(write_run(tmp_path / "r1", Script(brokers=4, cpu_share=0.2))).advance()["series"]
    known = [cores for cores in series["broker_cores"] if cores is not None]
    assert known == pytest.approx([0.8] * len(known))
    assert len(known) > 5
    # Two generators, one of consumers and one of providers.
    assert [cores for cores in series["client_cores"] if cores is not None] == pytest.approx([0.4] * len(known))


def test_what_a_restart_used_is_not_known_and_halving_keeps_the_mean(tmp_path):
    restarted = LiveWindow(write_run(tmp_path / "r1", Script(brokers=2, restarted_broker=1))).advance()["series"]
    at = restarted["t"].index(6)
    assert restarted["broker_cores"][at] == pytest.approx(0.1)
    series = Series(points=4)
    for second in range(1, 12):
        series.at(second * 1_000_000).use("broker_cores", "broker-0", 100_000 * (1 + second % 2), 1_000_000)
    halved = series.columns(())
    assert series.step_s == 4
    assert halved["broker_cores"] == pytest.approx([0.15, 0.15, 0.4 / 3 + 0.1 / 3], abs=0.02)


def test_a_snapshot_says_who_is_loaded_and_what_happened(tmp_path):
    snapshot = LiveWindow(write_run(tmp_path / "r1")).advance()
    assert snapshot["phase"] == "draining"
    assert snapshot["throughput"]["requests_per_s"] == pytest.approx(40, rel=0.3)
    assert [row["forwards_per_s"] for row in snapshot["load"]["brokers"]] == [20, 20, 20]
    assert [row["received_per_s"] for row in snapshot["load"]["brokers"]] == [80, 80, 80]
    assert snapshot["load"]["brokers"][0]["entries"] == 1
    assert snapshot["load"]["brokers"][0]["cores"] == pytest.approx(0.1)
    assert [event["detail"]["phase"] for event in snapshot["events"]][-1] == "draining"
    assert snapshot["series"]["t"][-1] == snapshot["t_s"]
    assert len(snapshot["series"]["p95"]) == len(snapshot["series"]["t"]) == len(snapshot["series"]["updates"])


def test_events_are_bounded(tmp_path):
    files = write_run(tmp_path / "r1")
    writer = JournalWriter(files.journal("broker-9"), _start("broker-9"))
    for i in range(EVENTS * 2):
        writer.write(Event("broker-9", i + 1_000_000, "NeighbourJoined", {"neighbour": f"127.0.0.1:{i}"}))
    writer.close()
    events = LiveWindow(files).advance()["events"]
    assert len([event for event in events if event["name"] == "NeighbourJoined"]) == EVENTS
    assert "measuring" in [event["detail"].get("phase") for event in events]  # however much else happened


def test_the_course_of_memory_ends_where_the_table_of_brokers_stands(tmp_path):
    snapshot = LiveWindow(write_run(tmp_path / "r1")).advance()
    for name in ("rss_bytes", "pss_bytes", "uss_bytes", "over_idle_bytes"):
        assert snapshot["series"][name][-1] == pytest.approx(snapshot["memory"]["mean"][name])
    assert snapshot["series"]["over_idle_bytes"][0] == 0


def test_brokers_that_wait_for_their_end_show_the_load_they_had(tmp_path):
    files = write_run(tmp_path / "r1")
    writer = JournalWriter(files.journal("broker-9"), _start("broker-9"))
    for second, requests in ((6, 100), (7, 160), (8, 220), (9, 221), (10, 222)):  # measuring ends at 8 s
        writer.write(_tick("broker-9", second * 1_000_000, {"in_3": requests}, Script()))
    writer.close()
    rows = {row["index"]: row for row in LiveWindow(files).advance()["load"]["brokers"]}
    assert rows[9]["in_3_per_s"] == 60


def encoded(values):
    histogram = HdrHistogram(1, LONGEST_US, HISTOGRAM_DIGITS)
    for value in values:
        histogram.record_value(value)
    return histogram.encode().decode()


@settings(max_examples=40)
@given(st.lists(st.lists(st.integers(1, 50_000_000), min_size=1, max_size=20), min_size=1, max_size=8))
def test_merging_histograms_is_recording_everything_in_one(parts):
    everything = [value for part in parts for value in part]
    unpacked = histograms.merged(histograms.unpacked(encoded(part)) for part in parts)
    assert unpacked == histograms.unpacked(encoded(everything))
    assert_close(histograms.spread(unpacked), metrics.spread(np.array(everything)))


def assert_close(found, expected):
    assert found["n"] == expected["n"]
    for name in expected:
        assert found[name] == pytest.approx(expected[name], rel=5e-3, abs=1)


@pytest.mark.parametrize("text", ["nonsense", "HISTFAAAAFt4nJNp", "=" * 7])
def test_a_histogram_that_cannot_be_read_is_left_out(text):
    assert histograms.unpacked(text) == {}


def test_a_series_keeps_the_whole_course_in_bounded_points():
    series = Series(points=8)
    for second in range(1, 101):
        bucket = series.at(second * 1_000_000)
        bucket.response_us[second] += 1
        bucket.counts["answered"] += 1
    columns = series.columns(["answered"])
    assert len(columns["t"]) <= 8
    assert columns["t"][-1] >= 100
    assert columns["answered"][0] == 1.0
    assert columns["p99"][0] < columns["p99"][-1]


def test_a_second_of_which_only_brokers_have_told_is_no_second_without_requests():
    series = Series()
    series.at(1_000_000).counts.update({"answered": 5, "timed_out": 0})
    series.at(2_000_000).memory["broker-0"] = {"rss_bytes": 3, "pss_bytes": 2, "uss_bytes": 1}
    columns = series.columns(["answered", "timed_out"])
    assert columns["answered"] == [5.0, None]
    assert columns["timed_out"] == [0.0, None]
    assert columns["rss_bytes"] == [None, 3.0]


ENTRIES = Line("held", "entries held", of="entries", how="total")


def held(ticks, points=600):
    """The column of ``ENTRIES`` after ``(second, server, entries)`` each."""
    series = Series(points)
    for second, server, entries in ticks:
        series.at(second * 1_000_000).gauges.setdefault("entries", {})[server] = entries
    return series.columns((), lines=[ENTRIES])["held"]


def test_a_total_counts_a_server_without_a_report_with_its_last_value():
    late = [(1, "broker-0", 10), (1, "broker-1", 5), (2, "broker-0", 11), (3, "broker-0", 12), (3, "broker-1", 6)]
    assert held(late) == [15, 16, 18]


def test_a_total_leaves_out_a_server_that_has_been_silent_for_three_seconds():
    dead = [(1, "broker-1", 5), *((second, "broker-0", 10) for second in range(1, 7))]
    assert held(dead) == [15, 15, 15, 15, 10, 10]
    assert held([(1, "broker-0", 10), (6, "broker-0", 11)]) == [10, 10, 10, 10, None, 11]


def test_a_total_over_long_steps_counts_only_servers_that_reported():
    dead = [(1, "broker-1", 5), *((second, "broker-0", 10) for second in range(1, 17))]
    assert held(dead, points=4) == [15, 10, 10, 10]


def test_a_second_without_ticks_is_a_gap():
    series = Series()
    for second in (1, 4):
        series.at(second * 1_000_000).counts["answered"] += 1
    assert series.columns(["answered"])["answered"] == [1.0, None, None, 1.0]
