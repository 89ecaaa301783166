"""The store: what it keeps, when it sends it, and what it drops."""

from __future__ import annotations

from overlay.systems.contextnet.mtd import mtd as mtd_module
from overlay.systems.contextnet.mtd.events import GivenBack, Stay, TakingOver
from overlay.systems.contextnet.records.records import Message, Outbound, Reason, Rejected, Unsent
from tests.contextnet.records_of import UNIX_US, node, presence, record
from tests.contextnet.stores import Stored

# ---- when it sends


def ready(**settings):
    stored = Stored(**settings)
    stored.lists(1, 0, 1)
    return stored


def test_a_message_waits_until_its_node_is_back():
    stored = ready()
    stored.unsent(7, epoch=3, name="a")
    stored.presence(7, 0, 3)
    assert stored.sent() == []
    stored.presence(7, 1, 4)
    [(topic, found)] = stored.durable
    assert topic == "gateway.1"
    assert (found.message.id.strip(), found.epoch, found.attempts) == (b"a", 4, 1)


def test_a_node_that_is_known_to_be_back_gets_what_comes_late():
    stored = ready()
    stored.presence(7, 1, 4)
    stored.unsent(7, epoch=3, name="a")
    assert stored.sent("gateway.1") == ["a"]


def test_a_node_that_has_gone_again_gets_nothing():
    stored = ready()
    stored.presence(7, 1, 4)
    stored.presence(7, 1, 4, connected=False)
    stored.unsent(7, epoch=3, name="a")
    assert stored.sent() == []
    stored.presence(7, 0, 5)
    assert stored.sent("gateway.0") == ["a"]


def test_without_events_of_presence_it_waits_for_a_report():
    stored = ready(presence_events=False)
    assert "presence" not in [one.topic for one in stored.mtd.subscriptions()]
    stored.unsent(7, epoch=3, name="a")
    stored.wait(5)
    stored.report(0, (6, 9))
    assert stored.sent() == []
    stored.report(0, (7, 4))
    assert stored.sent("gateway.0") == ["a"]


def test_a_report_that_is_newer_than_the_message_shows_the_same_connection_still():
    stored = ready()
    stored.unsent(7, epoch=3, name="a")
    stored.report(0, (7, 3), at_us=UNIX_US)
    assert stored.sent() == []
    stored.report(0, (7, 3), at_us=UNIX_US + 1)
    assert stored.sent() == ["a"]


def test_a_report_of_an_older_connection_says_nothing():
    stored = ready()
    stored.unsent(7, epoch=3, name="a")
    stored.wait(1)
    stored.report(1, (7, 2))
    assert stored.sent() == []


def test_a_gateway_that_is_not_listed_gets_nothing():
    stored = Stored()
    stored.presence(7, 1, 4)
    stored.unsent(7, epoch=3, name="a")
    stored.lists(1, 0)
    assert stored.sent() == []
    stored.lists(2, 0, 1)
    assert stored.sent("gateway.1") == ["a"]


def test_with_everyone_all_gateways_get_it():
    stored = ready(routing="everyone")
    stored.unsent(7, epoch=3, name="a")
    stored.presence(7, 1, 4)
    assert stored.sent("outbound") == ["a"]


def test_messages_of_a_node_go_in_order_and_not_all_at_once():
    stored = ready(drain_per_s=10)
    for letter in "abc":
        stored.unsent(7, name=letter)
    stored.unsent(8, name="x")
    stored.presence(8, 0, 2)
    stored.presence(7, 0, 2)
    assert stored.sent() == ["x", "a"]
    stored.wait(0.099)
    assert stored.sent() == ["x", "a"]
    stored.wait(0.101)
    assert stored.sent() == ["x", "a", "b", "c"]


def test_a_node_that_leaves_meanwhile_gets_the_rest_when_it_is_back():
    stored = ready(drain_per_s=10)
    for letter in "abc":
        stored.unsent(7, epoch=1, name=letter)
    stored.presence(7, 0, 2)
    stored.presence(7, 0, 2, connected=False)
    stored.wait(60)
    assert stored.sent() == ["a"]
    stored.presence(7, 1, 3)
    stored.wait(1)
    assert stored.sent("gateway.1") == ["b", "c"]


def test_no_more_is_sent_than_the_log_takes(monkeypatch):
    monkeypatch.setattr(mtd_module, "MOST_UNDER_WAY", 2)
    stored = ready()
    for number in (1, 2, 3):
        stored.unsent(number, name=f"to {number}")
    for number in (1, 2, 3):
        stored.mtd.receive_records([presence(number, 0, 2)], stored.now)
    appends = stored.mtd.records_to_append()
    assert len(appends) == 2
    assert stored.mtd.room(stored.mtd.subscriptions()[0]) == 0
    stored.mtd.appended([appends[0].token], stored.now)
    stored.step()
    assert stored.sent() == ["to 3"]


# ---- what it commits


def test_what_is_stored_is_settled_when_it_is_durable_elsewhere():
    stored = ready()
    stored.unsent(7, name="a", position=10)
    stored.unsent(8, name="b", position=11)
    stored.unsent(9, name="c", position=12)
    stored.committed()
    stored.mtd.receive_records([presence(8, 0, 2)], stored.now)
    [append] = stored.mtd.records_to_append()
    assert stored.committed().get(("unsent", 0)) is None
    stored.mtd.appended([append.token], stored.now)
    assert stored.committed().get(("unsent", 0)) is None
    stored.presence(7, 0, 2)
    assert stored.committed()["unsent", 0] == 12
    stored.presence(9, 0, 2)
    assert stored.committed()["unsent", 0] == 13


def test_what_was_revoked_is_forgotten_and_read_again():
    stored = ready()
    stored.unsent(7, name="a", position=10)
    [unsent] = [one for one in stored.mtd.subscriptions() if one.topic == "unsent"]
    partition = mtd_module.Assignment("unsent", unsent.group, 0, 0)
    stored.mtd.revoked([partition], stored.now)
    stored.presence(7, 0, 2)
    assert stored.sent() == []
    stored.mtd.assigned([partition], stored.now)
    stored.unsent(7, name="a", position=10)
    assert stored.sent() == ["a"]
    assert stored.committed()["unsent", 0] == 11


# ---- what it drops


def test_a_message_is_kept_as_long_as_its_sender_says():
    stored = ready(ttl_default_s=100)
    stored.unsent(7, name="short", ttl_s=5)
    stored.unsent(7, name="default")
    stored.wait(4.9)
    assert stored.discarded() == []
    stored.wait(0.1)
    assert stored.discarded() == [("short", "expired")]
    stored.wait(95)
    assert stored.discarded() == [("short", "expired"), ("default", "expired")]
    assert stored.mtd.store.count == 0


def test_with_a_uniform_policy_all_are_kept_equally_long():
    stored = ready(ttl_default_s=100, ttl_policy="uniform")
    stored.unsent(7, name="short", ttl_s=5)
    stored.wait(99)
    assert stored.discarded() == []
    stored.wait(1)
    assert stored.discarded() == [("short", "expired")]


def test_expiry_may_count_from_the_making_of_a_message():
    stored = ready(ttl_default_s=10, expiry_from="created")
    stored.unsent(7, name="old", created_at=UNIX_US - 8_000_000)
    stored.unsent(7, name="from the future", created_at=UNIX_US + 3_600_000_000)
    stored.wait(2)
    assert stored.discarded() == [("old", "expired")]
    stored.wait(8)
    assert stored.discarded()[1:] == [("from the future", "expired")]


def test_nothing_is_kept_longer_than_the_log_keeps_its_record():
    stored = ready(retention_s=100)
    stored.unsent(7, name="a", ttl_s=604_800)
    stored.wait(39)
    assert stored.discarded() == []
    stored.wait(1)
    assert stored.discarded() == [("a", "expired")]


def test_what_has_expired_is_not_sent_although_its_node_is_back():
    stored = ready()
    stored.unsent(7, name="a", ttl_s=5)
    stored.unsent(7, name="b")
    stored.now += 5 * mtd_module.SECOND
    stored.presence(7, 0, 2)
    assert stored.sent() == ["b"]
    assert stored.discarded() == [("a", "expired")]


def test_beyond_its_share_the_oldest_of_a_node_goes():
    stored = ready(per_node=2)
    for letter in "abc":
        stored.unsent(7, name=letter)
    assert stored.discarded() == [("a", "evicted")]
    stored.presence(7, 0, 2)
    stored.wait(1)
    assert stored.sent() == ["b", "c"]


def test_beyond_its_memory_the_oldest_of_the_fullest_node_goes():
    stored = ready(total_mb=1)
    for letter in "abcd":
        stored.unsent(7, name=letter, payload=bytes(60_000))
    number = 100
    while not stored.discarded():
        stored.unsent(number, name=f"other {number}", payload=bytes(30_000))
        number += 1
    assert stored.discarded() == [("a", "evicted")]
    while len(stored.discarded()) < 3:
        stored.unsent(number, name=f"other {number}", payload=bytes(30_000))
        number += 1
    assert [name for name, _ in stored.discarded()] == ["a", "b", "c"]


def test_a_step_of_the_wall_clock_ends_what_is_over():
    stored = ready()
    stored.unsent(7, name="a", ttl_s=3_600)
    stored.mtd.set_wall_clock(stored.mtd.wall_offset_ns + 3_600 * mtd_module.SECOND)
    stored.wait(1)
    assert stored.discarded() == [("a", "expired")]


# ---- gateways that are gone


def test_it_stores_what_a_gateway_left_that_is_gone_for_a_minute():
    stored = ready()
    stored.presence(7, 1, 4)
    stored.lists(2, 0)
    stored.wait(59.9)
    assert "gateway.1" not in [one.topic for one in stored.mtd.subscriptions()]
    stored.wait(0.1)
    assert ("gateway.1", "gateway-1") in [(one.topic, one.group) for one in stored.mtd.subscriptions()]
    assert stored.mtd.events() == [TakingOver("gateway-1")]
    stored.assign()
    message = Message(b"left".ljust(16), "applications-0", node(7).hex(), UNIX_US)
    stored.read(record("gateway.1", Outbound(message, 3, 2), node(7), position=40))
    assert stored.durable == [("unsent", Unsent(message, "gateway-1", 4, Reason.ABSENT, 2))]
    assert stored.committed()["gateway.1", 0] == 41


def test_a_gateway_that_is_back_reads_its_messages_itself():
    stored = ready()
    stored.lists(2, 0)
    stored.wait(60)
    stored.lists(3, 0, 1)
    assert stored.mtd.events() == [TakingOver("gateway-1"), GivenBack("gateway-1")]
    assert "gateway.1" not in [one.topic for one in stored.mtd.subscriptions()]


def test_a_gateway_that_is_back_within_a_minute_is_left_alone():
    stored = ready()
    stored.lists(2, 0)
    stored.wait(30)
    stored.lists(3, 0, 1)
    stored.wait(600)
    assert stored.mtd.events() == []


# ---- what it tells


def test_stays_and_numbers_of_messages_are_told():
    stored = ready()
    stored.unsent(7, name="a")
    stored.unsent(8, name="b", ttl_s=1)
    assert stored.mtd.stored_ids() == [b"a".ljust(16), b"b".ljust(16)]
    stored.wait(2)
    stored.presence(7, 0, 2)
    assert stored.mtd.traces() == [
        Stay(b"b".ljust(16), node(8), UNIX_US, UNIX_US + 1_000_000, "expired"),
        Stay(b"a".ljust(16), node(7), UNIX_US, UNIX_US + 2_000_000, "sent"),
    ]
    assert stored.mtd.traces() == []
    told = stored.mtd.statistics(stored.now)
    assert {name: told[name] for name in ("stored", "stored_in_all", "stored_sent", "stored_expired")} == {
        "stored": 0,
        "stored_in_all": 2,
        "stored_sent": 1,
        "stored_expired": 1,
    }


def test_a_record_that_cannot_be_read_is_rejected_and_settled():
    stored = ready()
    stored.read(record("unsent", b"\xc1", node(7), position=90))
    [(topic, found)] = stored.durable
    assert topic == "rejected"
    assert isinstance(found, Rejected)
    assert stored.committed()["unsent", 0] == 91
