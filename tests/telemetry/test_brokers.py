"""One broker looked at: neighbours as it reported them, its counters, its last steps, and the end of its recording."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from overlay.journal.facts import Event, Holdings, Start, Tick
from overlay.journal.journal import JournalWriter
from overlay.journal.recording import Begin, Recorder, What, recording_path
from overlay.systems.context_broker.wire.codec import encode
from overlay.systems.context_broker.wire.messages import ContextResponse, ContextUpdateAdvertisement, Ping
from telemetry.lake.runs import RunFiles
from telemetry.systems.context_broker.brokers import KEYS, BrokerWindow, linked_to
from telemetry.systems.context_broker.recent_messages import recent
from tests.telemetry.synthetic import ZERO_UNIX_US, Script, write_run
from tests.telemetry.traced import ANSWERED_ID, write_traces

SECOND = 1_000_000
ADDRESSES = {f"127.0.0.1:{7000 + index}": index for index in range(4)}


def files_with(tmp_path: Path, *facts: Any) -> RunFiles:
    files = RunFiles(tmp_path / "r1")
    writer = JournalWriter(files.journal("broker-0"), Start("broker-0", 1, ZERO_UNIX_US, "0.1.0", "127.0.0.1:7000"))
    for fact in facts:
        writer.write(fact)
    writer.close()
    return files


def said(second: float, name: str, neighbour: int) -> Event:
    return Event("broker-0", int(second * SECOND), name, {"neighbour": f"127.0.0.1:{7000 + neighbour}"})


def test_neighbours_are_those_that_it_reported_and_what_became_of_them(tmp_path: Path) -> None:
    joined = [said(0.5, "NeighbourJoined", one) for one in (3, 1, 2)]
    files = files_with(
        tmp_path, *joined, said(4, "NeighbourLost", 1), said(5, "NeighbourLeft", 2), said(6, "NeighbourReturned", 1)
    )
    seen = BrokerWindow(files, 0, linked=[1, 3], names=ADDRESSES).advance()
    assert seen is not None
    rows = [(row["index"], row["state"], row["since_s"]) for row in seen["neighbours"]]
    assert rows == [(1, "joined", 6.0), (3, "joined", 0.5), (2, "left", 5.0)]


def test_without_a_word_of_them_the_topology_tells_who_is_linked(tmp_path: Path) -> None:
    seen = BrokerWindow(files_with(tmp_path), 0, linked=[2, 1]).advance()
    assert seen is not None
    assert [(row["index"], row["state"]) for row in seen["neighbours"]] == [(1, "linked"), (2, "linked")]
    assert linked_to(0, [{"a": 0, "b": 2}, {"a": 1, "b": 0}, {"a": 1, "b": 2}]) == [1, 2]


def test_what_is_new_is_read_on_and_a_restart_begins_anew(tmp_path: Path) -> None:
    files = files_with(tmp_path, said(1, "NeighbourJoined", 1))
    window = BrokerWindow(files, 0, names=ADDRESSES)
    assert window.advance()["lives"] == 1  # type: ignore[index]
    writer = JournalWriter(files.journal("broker-0"), Start("broker-0", 2, ZERO_UNIX_US, "0.1.0", "127.0.0.1:7000"))
    writer.write(Tick("broker-0", 7 * SECOND, {"in_3": 5, "in_4": 0, "entries": 2}, "", 1, 1, 1, 1))
    writer.close()
    seen = window.advance()
    assert seen is not None
    assert (seen["lives"], seen["neighbours"], seen["t_s"]) == (2, [], 7.0)
    assert (seen["counters"], seen["gauges"]) == ({"in_3": 5}, {"entries": 2})
    assert seen["as_of_unix_us"] == ZERO_UNIX_US + 7 * SECOND


def test_what_it_held_is_told_as_far_as_there_is_room(tmp_path: Path) -> None:
    own = [f"room|r{number}|climate" for number in range(KEYS + 5)]
    files = files_with(tmp_path, Holdings("broker-0", 9 * SECOND, own, ["room|x|climate"], 3))
    held = BrokerWindow(files, 0).advance()["held"]  # type: ignore[index]
    assert (len(held["own"]), held["replicas"], held["count"], held["left_out"]) == (
        KEYS,
        ["room|x|climate"],
        KEYS + 9,
        8,
    )


def test_its_last_steps_lead_to_their_queries(tmp_path: Path) -> None:
    files = write_run(tmp_path / "r1", Script(brokers=4))
    write_traces(files, [0, 1, 2, 3])
    seen = BrokerWindow(files, 1, names=ADDRESSES).advance()
    assert seen is not None
    answered = [row for row in seen["steps"] if row["query"] == ANSWERED_ID]
    assert [(row["step"], row["peer"]) for row in answered] == [
        ("replied", 0), ("replicated", None), ("answered", 2), ("forwarded", 2), ("received", 0)]  # fmt: skip


def test_a_broker_that_wrote_nothing_is_none(tmp_path: Path) -> None:
    assert BrokerWindow(files_with(tmp_path), 3).advance() is None
    assert recent(files_with(tmp_path), 0, {}) is None


@pytest.fixture
def recorded(tmp_path: Path) -> RunFiles:
    """Broker 0, which was told of two rooms, got an answer with a third, and pinged."""
    files = files_with(tmp_path)
    zero, offset = 10**9, ZERO_UNIX_US * 1000 - 10**9
    begin = Begin("broker-0", 1, ("127.0.0.1", 7000), {}, "random", 1, offset, zero, "0.1.0", "code", "3.11")
    recorder = Recorder(recording_path(files.journal("broker-0"), 1), begin, 1_000_000)
    now_ms = ZERO_UNIX_US // 1000
    for second, (room, valid_s) in enumerate([("r1", 10), ("r2", 1), ("r1", 20)]):
        update = ContextUpdateAdvertisement(
            now_ms + second, "U", "sensor", "room", room, "climate", now_ms, now_ms + valid_s * 1000, b"t=1;"
        )
        recorder.write(What.RECEIVED, zero + second * 10**9, "127.0.0.1", 40_000, encode(update))
    answer = ContextResponse(now_ms, "other", "room", "r3", "climate", now_ms, now_ms + 30_000, b"t=2;")
    recorder.write(What.RECEIVED, zero + 3 * 10**9, "127.0.0.1", 7001, encode(answer))
    recorder.flush()
    recorder.write(What.SENT, zero + 4 * 10**9, "127.0.0.1", 7002, encode(Ping(now_ms)))
    recorder.write(What.RECEIVED, zero + 5 * 10**9, "127.0.0.1", 7003, b"\xff|nothing")
    recorder.flush()
    return files


def test_the_end_of_a_recording_is_decoded(recorded: RunFiles) -> None:
    seen = recent(recorded, 0, ADDRESSES)
    assert seen is not None
    rows = [(row["t_s"], row["direction"], row["other"], row["kind"]) for row in seen["messages"]]
    assert rows == [
        (5.0, "received", 3, "unreadable"),
        (4.0, "sent", 2, "ping"),
        (3.0, "received", 1, "answer"),
        (2.0, "received", None, "update"),
        (1.0, "received", None, "update"),
        (0.0, "received", None, "update"),
    ]
    assert seen["as_of_unix_us"] == ZERO_UNIX_US + 5 * SECOND


def test_data_that_came_say_how_long_they_are_still_valid(recorded: RunFiles) -> None:
    seen = recent(recorded, 0, ADDRESSES)
    assert seen is not None
    assert [(row["entity"], row["came_as"], row["left_ms"]) for row in seen["entries"]] == [
        ("room|r3|climate", "answer", 25_000),
        ("room|r1|climate", "update", 15_000),
        ("room|r2|climate", "update", -4_000),
    ]


def test_half_a_frame_at_the_end_is_left_for_later(recorded: RunFiles) -> None:
    path = recording_path(recorded.journal("broker-0"), 1)
    path.write_bytes(path.read_bytes()[:-10])
    seen = recent(recorded, 0, ADDRESSES)
    assert seen is not None
    assert seen["messages"][0]["kind"] == "answer"
