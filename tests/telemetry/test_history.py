"""What happened in a run, from its journals while it is live and from the lake once it is collected."""

from overlay.journal.facts import Event
from overlay.journal.journal import JournalWriter
from telemetry.collect import collect
from telemetry.lake.history import happenings
from telemetry.lake.runs import Lake, RunFiles
from tests.telemetry.synthetic import ZERO_UNIX_US, _start, write_run


def test_journals_and_lake_tell_the_same_in_order(tmp_path):
    files, lake = write_run(tmp_path / "r1"), Lake(tmp_path / "lake")
    live = happenings(files, lake)
    collect(files, lake)
    assert happenings(files, lake) == live
    phases = [one.detail["phase"] for one in live if one.name == "phase"]
    assert phases[-2:] == ["measuring", "draining"]
    assert [one.unix_us for one in live] == sorted(one.unix_us for one in live)
    assert live[0].unix_us >= ZERO_UNIX_US


def test_more_events_than_a_snapshot_carries_are_all_there(tmp_path):
    files = RunFiles(tmp_path / "r1")
    files.journal_directory.mkdir(parents=True)
    writer = JournalWriter(files.journal("broker-0"), _start("broker-0"))
    for number in range(500):
        writer.write(Event("broker-0", number, "NeighbourJoined", {"neighbour": f"127.0.0.1:{number + 1}"}))
    writer.close()
    found = happenings(files, Lake(tmp_path / "lake"))
    assert len(found) == 500
    assert found[-1].detail == {"neighbour": "127.0.0.1:500"}


def test_a_run_that_left_nothing_tells_nothing(tmp_path):
    assert happenings(RunFiles(tmp_path / "r1"), Lake(tmp_path / "lake")) == []
