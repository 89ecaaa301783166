"""What a broker is known to hold while it goes on, its last messages by traces, and journals read from near the end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from overlay.journal.facts import Sample, Start, Tick, Trace
from overlay.journal.journal import JournalWriter
from telemetry.lake.journal_ends import EndTail, near_end
from telemetry.lake.runs import RunFiles
from telemetry.systems.context_broker.brokers import MESSAGES, BrokerWindow
from telemetry.systems.context_broker.entries import FOUND, KEPT, REPLICA, TOLD, UPDATE, Word, Words, known_entries
from telemetry.systems.context_broker.updates import Updates
from tests.telemetry.synthetic import ZERO_UNIX_US, Script, write_run
from tests.telemetry.traced import ANSWERED_ID, write_traces

SECOND = 1_000_000
ZERO_MS = ZERO_UNIX_US // 1000
VALID_MS = 10_000


def updated(entity: str, at_s: float, provider: int = 0) -> Word:
    """The provider wrote it a tenth of a second before the broker's acknowledgement was back."""
    at_us = int(at_s * SECOND)
    return Word(entity, UPDATE, at_us, f"provider-{provider}", ZERO_MS + at_us // 1000 - 100)


def told(*words: Word, as_of_s: float, valid_ms: int | None = VALID_MS) -> list[tuple[Any, ...]]:
    rows = known_entries(words, int(as_of_s * SECOND), ZERO_UNIX_US, valid_ms)
    return [(row["entity"], row["came_as"], row["provider"], row["left_ms"], row["at_most"]) for row in rows]


def test_the_newest_word_comes_first_and_says_how_long_the_data_are_valid() -> None:
    rows = told(updated("a", 1), updated("b", 3, provider=7), Word("c", REPLICA, 2 * SECOND), as_of_s=4)
    assert rows == [
        ("b", UPDATE, "provider-7", 8_900, False),
        ("c", REPLICA, "", 8_000, True),
        ("a", UPDATE, "provider-0", 6_900, False),
    ]


def test_what_has_expired_is_left_out_and_without_a_validity_nothing_expires() -> None:
    words = [updated("old", 1), updated("new", 8)]
    assert [row[0] for row in told(*words, as_of_s=12)] == ["new"]
    assert told(*words, as_of_s=1_000, valid_ms=None) == [
        ("new", UPDATE, "provider-0", None, False),
        ("old", UPDATE, "provider-0", None, False),
    ]


def test_a_find_says_that_the_data_lie_there_still_and_of_newer_ones_where_the_update_had_expired() -> None:
    assert told(updated("a", 1), Word("a", FOUND, 3 * SECOND), as_of_s=4) == [("a", UPDATE, "provider-0", 6_900, False)]
    assert told(updated("a", 1), Word("a", FOUND, 12 * SECOND), as_of_s=14) == [
        ("a", UPDATE, "provider-0", 8_000, True)
    ]
    assert told(Word("a", FOUND, 3 * SECOND), as_of_s=4) == [("a", FOUND, "", 9_000, True)]


def test_words_and_rows_are_bounded() -> None:
    words = Words()
    for number in range(KEPT + 50):
        words.add(Word(f"e{number}", FOUND, number))
    assert len(list(words)) == KEPT
    rows = known_entries(words, KEPT, ZERO_UNIX_US, None)
    assert (len(rows), rows[0]["entity"]) == (TOLD, f"e{KEPT + 49}")


def test_updates_that_a_broker_acknowledged_are_told_of_it_alone(tmp_path: Path) -> None:
    updates = Updates(write_run(tmp_path / "r1", Script(brokers=3, providers=2, seconds=5)))
    updates.advance()
    (word,) = updates.of(1)
    assert (word.entity, word.came_as, word.provider) == ("room|r0|climate", UPDATE, "provider-1")
    assert 7 * SECOND < word.at_us < 8 * SECOND
    assert updates.of(2) == ()


def test_an_update_that_was_not_acknowledged_says_nothing(tmp_path: Path) -> None:
    files = RunFiles(tmp_path / "r1")
    writer = JournalWriter(files.journal("providers-0"), Start("providers-0", 1, ZERO_UNIX_US, "0.1.0"))
    sample = Sample("provider", 4, 0, "measuring", "timed_out", 0, 1, 1, 1, 2, "room|r1|climate", 0)
    writer.write(sample)
    writer.write(replace(sample, role="consumer", outcome="answered"))
    writer.flush()
    updates = Updates(files)
    updates.advance()
    assert updates.of(0) == ()
    writer.write(replace(sample, outcome="answered", ended_us=5, entry_timestamp_ms=ZERO_MS))
    writer.close()
    updates.advance()
    assert [word.provider for word in updates.of(0)] == ["provider-4"]


def test_a_broker_tells_its_messages_and_data_by_what_was_traced_and_written_to_it(tmp_path: Path) -> None:
    files = write_run(tmp_path / "r1", Script(brokers=4))
    write_traces(files, [0, 1, 2, 3])
    seen = BrokerWindow(files, 1, names={f"127.0.0.1:{7000 + index}": index for index in range(4)}).advance()
    assert seen is not None
    answered = [row for row in seen["messages"] if row["query"] == ANSWERED_ID]
    ways = [(row["direction"], row["kind"], row["other"]) for row in answered]
    assert ways == [
        ("sent", "answer", 0),
        ("received", "answer", 2),
        ("sent", "request", 2),
        ("received", "request", 0),
    ]
    assert [(row["entity"], row["came_as"]) for row in seen["entries"]] == [("room|r0|climate", REPLICA)]
    last = BrokerWindow(files, 3).advance()
    assert [row["came_as"] for row in last["entries"]] == [FOUND]  # type: ignore[index]


def test_a_broker_that_was_started_again_holds_nothing_of_before(tmp_path: Path) -> None:
    files = RunFiles(tmp_path / "r1")
    before = Trace("broker-0", "127.0.0.1:4", 1, "room|r1|climate", [[SECOND, "replicated", "", ""]])
    start = Start("broker-0", 1, ZERO_UNIX_US, "0.1.0", "127.0.0.1:7000")
    writer = JournalWriter(files.journal("broker-0"), start)
    writer.write(before)
    writer.write(Tick("broker-0", 2 * SECOND, {}, "", 1, 1, 1, 1))
    writer.close()
    window, updates = BrokerWindow(files, 0), [updated("room|r2|climate", 1.5), updated("room|r3|climate", 2.5)]
    assert [row["entity"] for row in window.advance(updates)["entries"]] == [  # type: ignore[index]
        "room|r3|climate", "room|r2|climate", "room|r1|climate"]  # fmt: skip
    JournalWriter(files.journal("broker-0"), replace(start, pid=2)).close()
    assert [row["entity"] for row in window.advance(updates)["entries"]] == ["room|r3|climate"]  # type: ignore[index]


def test_messages_are_bounded_and_what_sends_nothing_is_none(tmp_path: Path) -> None:
    files = RunFiles(tmp_path / "r1")
    writer = JournalWriter(files.journal("broker-0"), Start("broker-0", 1, ZERO_UNIX_US, "0.1.0", "127.0.0.1:7000"))
    for number in range(MESSAGES + 5):
        steps = [[number * 10, "received", "127.0.0.1:4", ""], [number * 10 + 5, "expired", "", ""]]
        writer.write(Trace("broker-0", "127.0.0.1:4", number, "room|r1|climate", steps))
    writer.close()
    messages = BrokerWindow(files, 0).advance()["messages"]  # type: ignore[index]
    assert (len(messages), messages[0]["t_s"], messages[0]["with_consumer"]) == (MESSAGES, 240 / SECOND, True)
    assert {row["kind"] for row in messages} == {"request"}


@given(cut=st.integers(1, 4_000), ticks=st.integers(1, 40))
def test_a_journal_read_from_near_its_end_tells_its_newest_facts_whole(
    tmp_path_factory: Any, cut: int, ticks: int
) -> None:
    path = tmp_path_factory.mktemp("ends") / "broker-0.journal"
    writer = JournalWriter(path, Start("broker-0", 1, ZERO_UNIX_US, "0.1.0", "127.0.0.1:7000"))
    facts = [Tick("broker-0", at, {"in_3": at, "entries": 3}, "", at, 0, 1, 2) for at in range(ticks)]
    for fact in facts:
        writer.write(fact)
    writer.close()
    size = path.stat().st_size
    begin = near_end(path, cut)
    assert begin == 0 if size <= cut else size - cut <= begin <= size
    tail = EndTail(path, (Tick,), cut)
    read = tail.read_new()
    assert read == facts[len(facts) - len(read) :]
    assert tail.bad_bytes == 0
    more = Tick("broker-0", 99, {}, "", 1, 1, 1, 1)
    writer = JournalWriter(path, Start("broker-0", 2, ZERO_UNIX_US, "0.1.0"))
    writer.write(more)
    writer.close()
    assert tail.read_new() == [more]


def test_a_journal_that_is_not_there_yet_is_read_when_it_is(tmp_path: Path) -> None:
    path = tmp_path / "broker-0.journal"
    tail = EndTail(path, (Start,), 100)
    assert tail.read_new() == []
    start = Start("broker-0", 1, ZERO_UNIX_US, "0.1.0")
    JournalWriter(path, start).close()
    assert tail.read_new() == [start]
