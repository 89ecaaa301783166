"""The journal: what is flushed is read back, and a torn or damaged end costs only itself."""

from pathlib import Path
from struct import pack
from zlib import crc32

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.journal.facts import Event, Fact, Sample, Start, Tick
from overlay.journal.journal import JournalTail, JournalWriter, read_journal

START = Start("broker-0", 42, 1_700_000_000_000_000, "0.1.0")
TICK = Tick("broker-0", 1_000_000, {"entries": 3}, "", 6_000_000, 900_000, 440_000, 1200)
SAMPLE = Sample("consumer", 7, 1, "measuring", "answered", 102, 1, 10, 12, 350, "room|r0|climate", 1_700_000_000_123)
EVENT = Event("broker-0", 5, "NeighbourDied", {"address": "127.0.0.1:9000", "missed": 3})
FACTS: list[Fact] = [TICK, SAMPLE, EVENT]


def write(path: Path, facts: list[Fact]) -> bytes:
    journal = JournalWriter(path, START)
    for fact in facts:
        journal.write(fact)
    journal.close()
    return path.read_bytes()


def test_what_was_written_is_read_back_in_order(tmp_path: Path) -> None:
    write(tmp_path / "run" / "broker-0.journal", FACTS)
    assert list(read_journal(tmp_path / "run" / "broker-0.journal")) == [START, *FACTS]


def test_every_torn_end_costs_only_the_last_fact(tmp_path: Path) -> None:
    path = tmp_path / "broker-0.journal"
    whole = write(path, FACTS)
    without_last = len(write(tmp_path / "shorter", FACTS[:-1]))
    for length in range(without_last, len(whole)):
        path.write_bytes(whole[:length])
        journal = read_journal(path)
        assert list(journal) == [START, *FACTS[:-1]]
        assert journal.bad_bytes == length - without_last


@given(st.binary(min_size=1, max_size=200))
def test_arbitrary_bytes_behind_a_journal_never_raise(tmp_path_factory: pytest.TempPathFactory, junk: bytes) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "j"
    path.write_bytes(write(path, FACTS) + junk)
    journal = read_journal(path)
    assert list(journal)[:4] == [START, *FACTS]
    assert journal.bad_bytes <= len(junk)


@given(st.data())
def test_a_flipped_bit_never_changes_a_fact(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("flip") / "j"
    damaged = bytearray(write(path, FACTS))
    bit = data.draw(st.integers(0, 8 * len(damaged) - 1))
    damaged[bit // 8] ^= 1 << bit % 8
    path.write_bytes(damaged)
    journal = read_journal(path)
    facts = list(journal)
    assert facts == [START, *FACTS][: len(facts)]
    assert len(facts) < 4
    assert journal.bad_bytes


def test_a_tail_sees_each_fact_once_and_waits_for_the_rest_of_a_frame(tmp_path: Path) -> None:
    whole = write(tmp_path / "whole", FACTS)
    path = tmp_path / "growing"
    tail = JournalTail(path)
    assert tail.read_new() == []
    seen: list[Fact] = []
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        seen += tail.read_new()
        assert tail.bad_bytes == 0
    assert seen == [START, *FACTS]


def test_a_tail_says_that_a_journal_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "j"
    whole = write(path, FACTS)
    tail = JournalTail(path)
    assert len(tail.read_new()) == 4
    path.write_bytes(whole + b"\x02\x00\x00\x00\x00\x00\x00\x00no")
    assert tail.read_new() == []
    assert tail.bad_bytes == 10


def test_who_wants_ticks_alone_gets_them_and_all_the_others_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "j"
    whole = write(path, [SAMPLE, TICK, SAMPLE, EVENT, SAMPLE])
    tail = JournalTail(path, (Tick, Event))
    seen: list[Fact] = []
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        seen += tail.read_new()
    assert seen == [TICK, EVENT]
    path.write_bytes(whole.replace(b"measuring", b"pleasures") + write(tmp_path / "more", [TICK]))
    damaged = JournalTail(path, (Tick, Event))
    assert damaged.read_new() == []
    assert damaged.bad_bytes > len(whole) // 2


def test_a_journal_longer_than_what_is_read_at_once_is_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("overlay.journal.journal.CHUNK_BYTES", 100)
    long = Event("supervisor", 7, "noted", {"reason": "x" * 1_000})
    write(tmp_path / "j", [TICK, long, SAMPLE] * 5)
    journal = read_journal(tmp_path / "j")
    assert list(journal) == [START, *[TICK, long, SAMPLE] * 5]
    assert journal.offset == (tmp_path / "j").stat().st_size
    assert list(JournalTail(tmp_path / "j", (Sample,)).read_new()) == [SAMPLE] * 5


def test_a_fact_of_before_its_newest_field_has_that_field_s_default(tmp_path: Path) -> None:
    path = tmp_path / "j"
    write(path, [])
    body = msgpack.packb([0, "broker-1", 7, 8, "0.0.9"])
    path.write_bytes(path.read_bytes() + pack("<II", len(body), crc32(body)) + body)
    assert list(read_journal(path)) == [START, Start("broker-1", 7, 8, "0.0.9", address="")]


def test_a_restarted_process_continues_behind_the_last_whole_fact(tmp_path: Path) -> None:
    path = tmp_path / "broker-0.journal"
    path.write_bytes(write(path, FACTS)[:-3])
    write(path, [EVENT])
    journal = read_journal(path)
    assert list(journal) == [START, TICK, SAMPLE, START, EVENT]
    assert journal.bad_bytes == 0


def test_zeros_behind_a_journal_are_damage_to_whoever_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    whole = write(path, FACTS)
    path.write_bytes(whole + bytes(4096))
    for tail in (JournalTail(path), JournalTail(path, (Tick,))):
        tail.read_new()
        assert tail.bad_bytes == 4096
    write(path, [EVENT])
    assert list(read_journal(path)) == [START, *FACTS, START, EVENT]


def test_a_full_disk_surfaces_and_keeps_what_was_not_written() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this platform has no /dev/full")
    with pytest.raises(OSError, match="No space left"):
        JournalWriter(Path("/dev/full"), START)
