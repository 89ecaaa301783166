"""What every engine of the log keeps: order, nothing lost, one owner, refused commits. One suite for all of them."""

from __future__ import annotations

from collections import Counter

from overlay.log.node import Start
from tests.log.reader import Reader, reads


def owned(*nodes):
    """How many partitions each has; all of them are different ones."""
    places = [place for node in nodes for place in node.owned]
    assert len(set(places)) == len(places), "a partition has one owner"
    return [len(node.owned) for node in nodes]


def write(log, writer, values, key=lambda value: value):
    """Durable, when this returns."""
    for value in values:
        writer.append(key(value), value)
    log.until(lambda: writer.durable[-len(values) :] == values)


def test_records_of_a_key_are_read_in_their_order_and_durable_in_that_of_the_writer(log):
    reader, writer = log.start("reader", Reader(reads())), log.start("writer", Reader())
    values = [f"{key}{number}" for number in range(30) for key in "abcdef"]
    write(log, writer, values, key=lambda value: value[0])
    log.until(lambda: len(reader.seen) == len(values))
    for key in "abcdef":
        assert [value for value in reader.values if value[0] == key] == [f"{key}{number}" for number in range(30)]
    assert all(record.key.decode() == record.value.decode()[0] for record in reader.seen)
    positions = {}
    for record in reader.seen:
        assert positions.get(record.partition, -1) < record.position
        positions[record.partition] = record.position


def test_members_of_a_group_share_the_partitions_and_other_groups_read_all(log):
    first = log.start("first", Reader(reads()))
    log.until(lambda: owned(first) == [4])
    second, third = log.start("second", Reader(reads())), log.start("third", Reader(reads()))
    alone = log.start("alone", Reader(reads(group="another")))
    log.until(lambda: sorted(owned(first, second, third)) == [1, 1, 2] and owned(alone) == [4])
    writer = log.start("writer", Reader())
    values = [str(number) for number in range(60)]
    write(log, writer, values)
    log.until(lambda: len(alone.seen) == 60 and sum(len(one.seen) for one in (first, second, third)) == 60)
    assert sorted(alone.values) == sorted(values)
    assert Counter(first.values + second.values + third.values) == Counter(values)


def test_who_stays_keeps_its_partitions_when_others_come_and_go(log):
    first = log.start("first", Reader(reads()))
    log.until(lambda: owned(first) == [4])
    second = log.start("second", Reader(reads()))
    log.until(lambda: owned(first, second) == [2, 2])
    before = set(second.owned)
    log.end("first")
    log.until(lambda: owned(second) == [4])
    assert before <= set(second.owned)


def test_what_a_killed_reader_had_not_settled_comes_again_to_another(log):
    victim = log.start("victim", Reader(reads(), keeps=True))
    writer = log.start("writer", Reader())
    values = [str(number) for number in range(20)]
    write(log, writer, values)
    log.until(lambda: len(victim.seen) == 20)
    heir = log.start("heir", Reader(reads()))
    log.until(lambda: owned(heir)[0] > 0)
    log.kill("victim")
    log.until(lambda: owned(heir) == [4] and set(heir.values) == set(values))
    assert Counter(heir.values) == Counter(values)


def test_what_was_committed_does_not_come_again_and_what_was_not_does(log):
    reader, writer = log.start("reader", Reader(reads(), keeps=True)), log.start("writer", Reader())
    write(log, writer, ["1", "2", "3"], key=lambda value: "same")
    log.until(lambda: len(reader.seen) == 3)
    for record in reader.kept[:2]:
        reader.progress.settle(record.topic, record.partition, record.position)
    witness = log.start("witness", Reader(reads(topic="addresses")))
    log.until(lambda: owned(witness) == [2])  # so that the commit has reached the engine
    log.kill("reader")
    reader = log.start("reader", Reader(reads()))
    log.until(lambda: reader.values == ["3"])


def test_an_owner_killed_before_its_commit_leaves_it_to_be_read_again(log):
    reader, writer = log.start("reader", Reader(reads(), keeps=True)), log.start("writer", Reader())
    write(log, writer, ["1", "2"], key=lambda value: "same")
    log.until(lambda: reader.values == ["1", "2"])
    reader.settle()
    log.kill("reader")
    reader = log.start("reader", Reader(reads()))
    log.until(lambda: reader.values == ["1", "2"])


def test_a_commit_of_an_owner_that_was_thought_dead_is_refused(log):
    stale, writer = log.start("stale", Reader(reads(), keeps=True)), log.start("writer", Reader())
    write(log, writer, ["1", "2"], key=lambda value: "same")
    log.until(lambda: stale.values == ["1", "2"])
    heir = log.start("heir", Reader(reads(), keeps=True))
    log.stop("stale")
    log.while_others_go_on("stale")
    log.until(lambda: owned(heir) == [4] and heir.values == ["1", "2"])
    stale.settle()
    log.resume("stale")
    log.until(lambda: len(stale.owned) == len(heir.owned) == 2)
    assert owned(stale, heir) == [2, 2]
    log.end("stale")
    log.kill("heir")
    last = log.start("last", Reader(reads()))
    log.until(lambda: owned(last) == [4] and last.values == ["1", "2"])


def test_a_reader_gets_no_more_than_it_has_room_for(log):
    reader, writer = log.start("reader", Reader(reads(), keeps=True, most=3)), log.start("writer", Reader())
    values = [str(number) for number in range(10)]
    write(log, writer, values)
    log.until(lambda: len(reader.kept) == 3)
    while len(reader.seen) < 10:
        before = len(reader.seen)
        reader.settle()
        log.until(lambda before=before: len(reader.seen) > before)
    assert Counter(reader.values) == Counter(values)


def test_of_a_compacted_topic_a_new_reader_gets_the_newest_of_each_key(log):
    writer = log.start("writer", Reader())
    for number in range(5):
        for key in "abc":
            writer.append(key, f"{key}{number}", topic="addresses")
    log.until(lambda: len(writer.durable) == 15)
    reader = log.start("reader", Reader(reads("addresses", "mine", Start.WHOLE)))
    log.until(lambda: len(reader.seen) >= 3)
    assert sorted(reader.values) == ["a4", "b4", "c4"]
    last = {(record.topic, record.partition): record.position + 1 for record in reader.seen}
    assert {place: end for place, end in reader.ends.items() if end} == last
    writer.append("a", "a5", topic="addresses")
    log.until(lambda: reader.values[-1] == "a5")
    log.end("reader")
    again = log.start("reader", Reader(reads("addresses", "mine", Start.WHOLE)))
    log.until(lambda: sorted(again.values) == ["a5", "b4", "c4"])


def test_a_group_that_begins_with_the_newest_misses_what_was_before_and_nothing_after(log):
    writer = log.start("writer", Reader())
    write(log, writer, ["1", "2"])
    reader = log.start("reader", Reader(reads(start=Start.NEWEST)))
    log.until(lambda: owned(reader) == [4])
    log.kill("reader")
    write(log, writer, ["3", "4"])
    reader = log.start("reader", Reader(reads(start=Start.NEWEST)))
    log.until(lambda: sorted(reader.values) == ["3", "4"])


def test_a_subscription_that_ends_gives_its_partitions_to_others(log):
    first, second = log.start("first", Reader(reads())), log.start("second", Reader(reads()))
    log.until(lambda: owned(first, second) == [2, 2])
    first.subscribe(reads("addresses"))
    log.until(lambda: owned(second) == [4] and {topic for topic, _ in first.owned} == {"addresses"})


def test_while_the_log_is_down_appends_wait_and_nothing_acknowledged_is_lost(log):
    reader, writer = log.start("reader", Reader(reads())), log.start("writer", Reader())
    before, after = [f"before {number}" for number in range(10)], [f"after {number}" for number in range(10)]
    write(log, writer, before, key=lambda value: "same")
    log.until(lambda: reader.values == before)
    log.down()
    for value in after:
        writer.append("same", value)
    for _ in range(3):
        log.turn()
    assert writer.durable == before
    assert reader.values == before
    log.up()
    log.until(lambda: list(dict.fromkeys(writer.durable)) == before + after)
    log.until(lambda: list(dict.fromkeys(reader.values)) == before + after)
