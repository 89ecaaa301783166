"""Journals to Parquet and the summary: whole, repeatable, honest about what was lost."""

import json
import resource
import signal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from overlay.journal.facts import Delivery, Event, Sample, Start
from overlay.journal.journal import JournalWriter, read_journal
from telemetry.collect import collect
from telemetry.errors import StorageError, TelemetryError
from telemetry.lake.runs import Lake, RunFiles, checked_run_id
from telemetry.systems.context_broker.system import ContextBrokerTelemetry
from tests.telemetry.synthetic import IDLE_BYTES, SECOND, ZERO_UNIX_US, Script, write_run


@pytest.fixture
def lake(tmp_path):
    return Lake(tmp_path / "lake")


def measured_answers(files, role="consumer"):
    facts = [fact for path in files.journals() for fact in read_journal(path) if isinstance(fact, Sample)]
    return [fact for fact in facts if (fact.role, fact.phase, fact.outcome) == (role, "measuring", "answered")]


def test_a_summary_says_what_the_samples_say(tmp_path, lake):
    files = write_run(tmp_path / "r1")
    summary = collect(files, lake)
    answers = measured_answers(files)
    took = np.array([sample.ended_us - sample.intended_us for sample in answers])
    assert summary["requests"] == 4 * 10 * 5
    assert summary["answered"] == len(answers) == summary["requests"] - summary["not_found"]
    assert summary["mean"] == summary["mean_us"] == pytest.approx(took.mean())
    assert [summary["p50"], summary["p95"], summary["p99"]] == pytest.approx(list(np.percentile(took, [50, 95, 99])))
    assert summary["mean_from_sent_us"] < summary["mean_us"]
    assert summary["updates"]["answered"] == 2 * 5
    assert summary["hops"] == 0.5
    assert summary["messages_per_query"] == pytest.approx(3 * 20 / 40, rel=0.1)
    assert summary["datagrams_per_query"] == pytest.approx(3 * 45 / 40, rel=0.1)
    assert (summary["verdict"], summary["verdict_reasons"]) == ("valid", [])


def test_memory_is_what_serving_added_to_an_idle_broker(tmp_path, lake):
    memory = collect(write_run(tmp_path / "r1"), lake)["memory"]
    assert [row["index"] for row in memory["brokers"]] == [0, 1, 2]
    assert [row["over_idle_bytes"] for row in memory["brokers"]] == [200_000, 400_000, 600_000]
    assert memory["brokers"][0]["rss_bytes"] == IDLE_BYTES + 200_000
    assert memory["brokers"][0]["table_bytes"] == 1_000
    assert memory["mean"]["over_idle_bytes"] == 400_000


def test_collecting_twice_changes_nothing(tmp_path, lake):
    files = write_run(tmp_path / "r1")
    first = collect(files, lake)
    size = lake.part("samples", "r1").stat().st_size
    assert collect(files, lake) == first
    assert lake.part("samples", "r1").stat().st_size == size
    assert sorted(path.name for path in lake.table("samples").rglob("*")) == ["part-0.parquet", "run=r1"]


def test_the_lake_holds_every_fact_and_the_manifest(tmp_path, lake):
    files = write_run(tmp_path / "r1", seed=2**63 + 5)
    collect(files, lake)
    facts = [fact for path in files.journals() for fact in read_journal(path) if isinstance(fact, Sample)]
    assert pq.ParquetFile(lake.part("samples", "r1")).metadata.num_rows == len(facts)
    assert pq.ParquetFile(lake.part("ticks", "r1")).read().column("counters")[0].as_py()
    manifest = json.loads(lake.manifest_path("r1").read_text())
    assert manifest["seed"] == 2**63 + 5
    assert manifest["machine"]["cores"] >= 1
    assert manifest["code"]["version"]
    assert manifest["summary"]["verdict"] == "valid"


def test_a_torn_journal_is_collected_as_far_as_it_goes_and_makes_the_run_suspect(tmp_path, lake):
    files = write_run(tmp_path / "r1")
    path = files.journal("consumers-0")
    path.write_bytes(path.read_bytes()[:-7])
    summary = collect(files, lake)
    assert summary["requests"] > 0
    assert summary["verdict"] == "suspect"
    assert any("consumers-0.journal cannot be read" in reason for reason in summary["verdict_reasons"])


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (Script(late_us=30_000), "Generator late: 1 % of requests"),
        (Script(late_us=9_000), "Generator late:"),
        (Script(cpu_share=0.99), "Processor saturated"),
        (Script(restarted_broker=1), "Broker restarted while measuring: broker-1."),
        (Script(consumers=0), "no request was measured"),
        (Script(lose_samples=20), "Requests unaccounted for: 20 were due"),
    ],
)
def test_a_run_that_went_wrong_says_how(tmp_path, lake, script, reason):
    summary = collect(write_run(tmp_path / "r1", script), lake)
    assert summary["verdict"] == "suspect"
    assert any(reason in sentence for sentence in summary["verdict_reasons"])
    json.dumps(summary, allow_nan=False)


def tell(files, *events):
    """Has the supervisor report ``(second, name, detail)`` too."""
    writer = JournalWriter(files.journal("supervisor"), Start("supervisor", 1, ZERO_UNIX_US, "0.1.0"))
    for second, name, detail in events:
        writer.write(Event("supervisor", round(second * SECOND), name, detail))
    writer.close()


CRASHED, RETURNED = (5, "churn_crashed", {"broker": 1}), (6, "churn_returned", {"broker": 1})
AGAIN = "process_started", {"process": "broker-1", "pid": 9, "after": "killed by SIGKILL"}


@pytest.mark.parametrize(
    ("script", "events", "reason"),
    [
        (Script(restarted_broker=1), [CRASHED, RETURNED], ""),
        (Script(restarted_broker=1), [CRASHED, RETURNED, (7, *AGAIN)], "Broker restarted while measuring: broker-1."),
        (Script(restarted_broker=2), [CRASHED, RETURNED], "Broker restarted while measuring: broker-2."),
        (Script(), [(5, *AGAIN)], "Broker restarted while measuring: broker-1."),
        (Script(silent_broker=1), [CRASHED], ""),
        (Script(silent_broker=1), [CRASHED, (7, *RETURNED[1:])], ""),
        (Script(silent_broker=1), [(3, *CRASHED[1:]), (4, *RETURNED[1:])], "broker-1 reported nothing in the last 4 s"),
        (Script(silent_broker=2), [CRASHED], "broker-2 reported nothing in the last 4 s"),
    ],
)
def test_a_broker_that_went_by_churn_makes_no_run_suspect_and_hides_no_other_reason(
    tmp_path, lake, script, events, reason
):
    files = write_run(tmp_path / "r1", script)
    tell(files, *events)
    summary = collect(files, lake)
    assert summary["verdict"] == ("suspect" if reason else "valid"), summary["verdict_reasons"]
    assert any(reason in sentence for sentence in summary["verdict_reasons"]) == bool(reason)


def test_a_broker_that_was_lost_before_the_first_request_of_measuring_was_lost_while_measuring(tmp_path, lake):
    files = write_run(tmp_path / "r1")  # whose first request is due at 3 s
    tell(files, (2.5, "phase", {"phase": "measuring"}), (2.7, *AGAIN))
    assert "Broker restarted while measuring: broker-1." in collect(files, lake)["verdict_reasons"]


def test_a_run_without_journals_is_an_error_in_words(tmp_path, lake):
    with pytest.raises(TelemetryError, match="left no journals"):
        collect(RunFiles(tmp_path / "r1"), lake)
    assert not lake.directory.exists()


def test_a_full_disk_leaves_nothing_half_written(tmp_path, lake):
    files = write_run(tmp_path / "r1")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
    try:
        with pytest.raises(StorageError, match="Disk full"):
            collect(files, lake)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, ignored)
    assert [path for path in lake.directory.rglob("*") if path.is_file()] == []
    assert collect(files, lake)["verdict"] == "valid"


@pytest.mark.parametrize("run", ["", "../etc", "a/b", "run=1", "x" * 200])
def test_a_run_that_cannot_be_a_directory_is_refused(run):
    with pytest.raises(TelemetryError, match="not a run's id"):
        checked_run_id(run)


def test_the_oracle_of_a_system_sees_deliveries_before_they_are_counted(tmp_path, lake, monkeypatch):
    files = write_run(tmp_path / "r1")
    writer = JournalWriter(files.journal("listeners-0"), Start("listeners-0", 1, ZERO_UNIX_US, "0.1.0"))
    for copy, received in ((1, 400), (1, 900), (1, 950)):
        writer.write(Delivery("listener", 1, 0, "measuring", "news", 100, received, copy))
    writer.close()

    def resolved(self, table, rows, manifest, journalled):
        """The last arrival was meant for another run; the second is a copy."""
        rows = rows.filter(pc.less(rows["received_us"], 950))
        return rows.set_column(rows.column_names.index("copy"), "copy", pa.array([1, 2]))

    assert collect(files, lake)["deliveries"]["delivered"] == 3
    monkeypatch.setattr(ContextBrokerTelemetry, "resolved", resolved)
    found = collect(files, lake)["deliveries"]
    assert (found["delivered"], found["duplicates"], found["delay_us"]["max"]) == (1, 1, 300)
    stored = pq.read_table(lake.part("deliveries", "r1"), partitioning=None)
    assert (stored["copy"].to_pylist(), stored["verdict"].to_pylist()) == ([1, 2], [None, None])
