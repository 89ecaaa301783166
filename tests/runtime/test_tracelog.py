"""What a broker of a network traced: kept in two small files, whatever the disk does."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from overlay.core.node import MILLISECOND
from overlay.journal.facts import Start, Trace
from overlay.journal.journal import read_journal
from overlay.runtime.tracelog import MOST_BYTES, TraceLog
from overlay.systems.context_broker.broker.tracing import Recorder, is_sampled
from overlay.systems.context_broker.clients.exchange import TracedTimestamps, WallClock

START = Start("broker-0", 1, 0, "1", "127.0.0.1:20000")


def trace(stamp: int) -> Trace:
    return Trace("broker-0", "127.0.0.1:5", stamp, "room|r1|temp", [[stamp, "received", "127.0.0.1:5", ""]] * 20)


def test_the_newest_traces_stay_and_the_files_never_grow_beyond_two(tmp_path: Path) -> None:
    log = TraceLog(tmp_path / "traces" / "broker-0.journal")
    log.begin(START)
    for stamp in range(2_000):
        log.write([trace(stamp)])
    log.close()
    files = sorted((tmp_path / "traces").iterdir())
    assert [file.name for file in files] == ["broker-0.journal", "broker-0.journal.old"]
    assert all(file.stat().st_size < MOST_BYTES + 2_000 for file in files)
    newest = [fact.timestamp_ms for file in reversed(files) for fact in list(read_journal(file))[1:]]
    assert newest == list(range(newest[0], 2_000))
    assert all(next(iter(read_journal(file))) == START for file in files)


def test_nothing_is_written_of_a_broker_that_traced_nothing(tmp_path: Path) -> None:
    log = TraceLog(tmp_path / "traces" / "broker-0.journal")
    log.begin(START)
    log.write([])
    log.close()
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_cannot_be_written_costs_traces_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "traces").write_text("a file in the place of the directory")
    log = TraceLog(tmp_path / "traces" / "broker-0.journal")
    log.begin(START)
    log.write([trace(1)])
    (tmp_path / "traces").unlink()
    log.write([trace(2)])
    log.close()
    assert [fact.timestamp_ms for fact in list(read_journal(tmp_path / "traces" / "broker-0.journal"))[1:]] == [2]


@given(st.integers(1, 65_535), st.integers(0, 10**13), st.integers(1, 200))
def test_a_chosen_timestamp_is_one_that_every_broker_traces(port: int, now_ms: int, one_in: int) -> None:
    stamps = TracedTimestamps(WallClock(), port, one_in)
    first, second = stamps.next(now_ms * MILLISECOND), stamps.next(now_ms * MILLISECOND)
    assert now_ms <= first < second
    for stamp in (first, second):
        assert stamp <= now_ms + 2 * TracedTimestamps.AHEAD_MS
        recorder = Recorder(one_in, 16)
        recorder.note((("127.0.0.1", port), stamp, b"room|r1|temp"), "received", 1)
        assert (len(recorder.drain()) == 1) is is_sampled(stamp, port, one_in) is True


def test_where_none_is_near_the_present_one_is_taken() -> None:
    stamps = TracedTimestamps(WallClock(), 4_000, 2**61)
    assert stamps.next(1_000 * MILLISECOND) == 1_000
    assert not is_sampled(1_000, 4_000, 0)
