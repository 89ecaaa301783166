"""A live run is recorded by its real brokers, and replays in the simulator to the same bytes."""

from pathlib import Path

from overlay.journal.recording import recordings_in
from overlay.runtime.supervisor_client import is_gone
from overlay.sim.replay import replay_all
from telemetry.collect import collect
from telemetry.lake.runs import Lake, RunFiles
from telemetry.systems.context_broker import messages
from tests.runtime.hosts import Host
from tests.waiting import wait_for


def test_a_recorded_live_run_replays_to_the_same_bytes(host: Host, tmp_path: Path) -> None:
    settings = {"monitoring": True, "replication": "none", "trace_one_in": 1}
    line = {"brokers": 5, "links": [{"a": index, "b": index + 1} for index in range(4)]}
    host.deploy(host.run("recorded", topology=line, settings=settings, record_mb=8), "finished")
    wait_for(lambda: is_gone(host.client.status("recorded")), "all processes have ended")
    files = RunFiles(tmp_path / "recorded")
    found = replay_all(files.journal_directory)
    assert [one.difference for one in found] == [None] * 5
    assert sum(one.datagrams for one in found) > 100
    assert len(recordings_in(files.journal_directory)) == 5
    assert collect(files, Lake(tmp_path / "lake"))["requests"] > 0
    _, rows = messages.between(files.messages_path, 0, 10**11, None, 0, 10_000)
    walked = [row for row in rows if row["code"] == 3 and min(row["sender"], row["receiver"]) >= 0]
    assert walked
    assert all(row["arrived_us"] >= row["at_us"] and abs(row["sender"] - row["receiver"]) == 1 for row in walked)
