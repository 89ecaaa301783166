"""The messages of a recorded run: both ends of each joined, and whose query it belongs to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from overlay.core.node import SECOND
from overlay.sim.recorders import Recorders
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.topologies import generate
from telemetry.lake.runs import RunFiles
from telemetry.systems.context_broker import messages
from telemetry.systems.context_broker.lab.overlay import ASKER_HOST, Overlay
from telemetry.systems.context_broker.traces import id_of

ROOM = ("room", "r1", "climate")


@pytest.fixture
def files(tmp_path: Path) -> RunFiles:
    """Three brokers in a line, links without delay; what the last has is found at the first, and not once it died."""
    files = RunFiles(tmp_path / "run1")
    recorders = Recorders(files.journal_directory, 8, lambda: overlay.simulator.now)
    overlay = Overlay(generate("line", 3), BrokerConfig(replication="none"), make_server=recorders, monitoring=False)
    overlay.start()
    overlay.put(2, ROOM, b"a=1")
    assert overlay.get(0, ROOM).outcome == "answered"
    overlay.kill(2)
    overlay.get(0, ROOM)
    overlay.run_for(SECOND)
    recorders.close()
    assert messages.write(files) == []
    return files


def rows(files: RunFiles, **wanted: Any) -> list[dict[str, Any]]:
    _, found = messages.between(files.messages_path, 0, 10**12, None, 0, 1000)
    return [row for row in found if all(row[name] == value for name, value in wanted.items())]


def test_a_query_is_followed_from_its_consumer_to_the_holder_and_back(files: RunFiles) -> None:
    first = rows(files, code=3, sender=messages.OUTSIDE)[0]
    name = (f"{ASKER_HOST}:1026", int(first["text"].split("|")[1]), "room|r1|climate")
    assert first["query"] == id_of(name)
    count, walk = messages.between(files.messages_path, 0, 10**12, first["query"], 0, 1000)
    assert count == len(walk)
    assert [(row["sender"], row["receiver"]) for row in walk if row["code"] == 3] == [(-1, 0), (0, 1), (1, 2)]
    assert [(row["sender"], row["receiver"]) for row in walk if row["code"] == 4] == [(2, 1), (1, 0), (0, -1)]
    assert all(row["arrived_us"] == row["at_us"] for row in walk if min(row["sender"], row["receiver"]) >= 0)


def test_what_a_dead_broker_never_received_is_not_said_to_have_arrived(files: RunFiles) -> None:
    asked = [row for row in rows(files, code=3, sender=1, receiver=2) if row["arrived_us"] is None]
    assert asked
    assert not any(row["lost"] for row in asked), "it had stopped recording, so it is unknown"


def test_a_part_of_a_run_is_read_in_order_and_page_by_page(files: RunFiles) -> None:
    whole = rows(files)
    assert [row["at_us"] for row in whole] == sorted(row["at_us"] for row in whole)
    middle = whole[len(whole) // 2]["at_us"]
    count, page = messages.between(files.messages_path, middle, 10**12, None, 1, 2)
    later = [row for row in whole if row["at_us"] >= middle]
    assert (count, page) == (len(later), later[1:3])
    overview = messages.overview(files.messages_path)
    assert overview is not None
    assert (overview.count, sum(overview.bins), sum(overview.families.values())) == (len(whole),) * 3
    assert overview.longest_us == 0
    assert list(overview.brokers.values()) == [0, 1, 2]
    assert (overview.first_us, overview.last_us) == (whole[0]["at_us"], whole[-1]["at_us"])


def test_of_too_many_messages_the_first_are_kept_and_it_says_until_when(
    files: RunFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = rows(files)
    monkeypatch.setattr(messages, "MOST_MESSAGES", 10)
    messages.write(files)
    overview = messages.overview(files.messages_path)
    assert overview is not None
    assert overview.count == 10
    assert whole[9]["at_us"] <= (overview.kept_until_us or 0) <= whole[10]["at_us"]


def test_a_run_that_was_not_recorded_has_none(tmp_path: Path) -> None:
    files = RunFiles(tmp_path / "run2")
    files.journal_directory.mkdir(parents=True)
    assert messages.write(files) == []
    assert messages.overview(files.messages_path) is None
    (files.journal_directory / "broker-0.1.recording").write_bytes(b"noise")
    (problem,) = messages.write(files)
    assert "is not a recording of a broker" in problem
