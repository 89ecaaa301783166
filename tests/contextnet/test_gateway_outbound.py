"""What a gateway does with records for nodes: whom they reach, when they are settled, and what is stored instead."""

from __future__ import annotations

from overlay.core.node import MILLISECOND
from overlay.systems.contextnet.records.records import GroupReport, Message, Outbound, Unsent
from tests.contextnet.site import Site


def reasons(site):
    return [(found.reason, found.epoch) for found in site.records("unsent")]


BREAK_MS = 32_000
"""A connection without a sample of its round trip is broken after 1 + 2 + 4 + 8 + 8 + 8 s."""


def test_a_record_is_settled_when_its_node_has_acknowledged_it():
    site = Site()
    (phone,) = site.phones
    message = site.give(phone)
    assert (site.settled(), site.room()) == (0, 255)
    site.run(100)
    assert phone.messages == [message]
    assert (site.settled(), site.room()) == (1, 256)


def test_a_record_for_a_node_that_is_not_here_is_settled_when_it_is_durable_in_unsent():
    site = Site(2)
    absent = site.phones[1]
    absent.end.close(site.now)
    site.drain(absent)
    site.run(100)
    site.is_durable = False
    message = site.give(absent, epoch=7, attempts=3)
    site.give(site.phones[0])
    site.run(100)
    assert site.settled() == 0, "the second waits for the first"
    assert site.log["unsent"] == [(absent.id, Unsent(message, "gateway-0", 7, "absent", 3))]
    site.make_durable()
    assert site.settled() == 2


def test_a_silent_node_keeps_no_other_waiting_and_its_messages_are_stored_in_order_after_it_lingered():
    site = Site(2, pool_size=4, linger_s=20)
    silent, other = site.phones
    silent.is_on = False
    for number in range(4):
        site.give(silent, b"%d" % number)
    assert site.room() == 0
    site.run(1_500)
    assert site.room() == 4, "they wait in the queue of its connection"
    site.give(silent, b"4")
    assert site.room() == 4, "one more joins them at once"
    site.give(other)
    site.run(100)
    assert other.payloads == [b"hello"]
    site.run(BREAK_MS)
    site.give(silent, b"5")
    assert site.records("unsent") == [], "its connection lingers"
    site.run(20_000)
    assert [found.message.payload for found in site.records("unsent")] == [b"0", b"1", b"2", b"3", b"4", b"5"]
    assert set(reasons(site)) == {("broken", 1)}
    assert site.settled() == 7


def test_a_node_that_resumes_gets_what_waited_for_it():
    site = Site()
    (phone,) = site.phones
    phone.is_on = False
    site.give(phone, b"1")
    site.run(BREAK_MS)
    site.give(phone, b"2")
    phone.is_on = True
    phone.end.ping(0, site.now)
    site.drain(phone)
    site.run(5_000)
    assert phone.payloads == [b"1", b"2"]
    assert (site.records("unsent"), site.settled()) == ([], 2)


def test_what_a_full_queue_cannot_take_is_stored():
    site = Site(queue_per_connection=2, window=1)
    (phone,) = site.phones
    phone.is_on = False
    for number in range(4):
        site.give(phone, b"%d" % number)
    assert [found.message.payload for found in site.records("unsent")] == [b"3"]
    assert reasons(site) == [("queue", 1)]


def test_beyond_the_limit_of_memory_messages_are_stored():
    site = Site(memory_limit_mb=1, pool_size=100)
    (phone,) = site.phones
    phone.is_on = False
    for _ in range(20):
        site.give(phone, bytes(60_000))
    assert reasons(site) == [("queue", 1)] * 4, "16 of 60,000 bytes and their heads fit"


def test_messages_of_nodes_that_wait_for_the_log_take_of_the_same_memory():
    site = Site(11, memory_limit_mb=1, pool_size=100)
    silent, *others = site.phones
    silent.is_on, site.is_durable = False, False
    for phone in others:
        phone.send(payload=bytes(60_000))
    site.run(1_000)
    for _ in range(10):
        site.give(silent, bytes(60_000))
    site.make_durable()
    assert reasons(site) == [("queue", 1)] * 4, "6 next to 10 of nodes"


def test_with_a_mini_buffer_records_are_settled_when_sent_and_the_last_two_are_stored():
    site = Site(delivery="mini_buffer", mini_buffer=2)
    (phone,) = site.phones
    site.give(phone, b"0")
    site.run(100)
    phone.is_on = False
    for number in range(1, 6):
        site.give(phone, b"%d" % number)
    assert (site.settled(), site.room()) == (6, 256)
    site.run(BREAK_MS)
    assert [found.message.payload for found in site.records("unsent")] == [b"4", b"5"]
    assert reasons(site) == [("mini_buffer", 1)] * 2
    assert site.gateway.counters["given_up"] == 3


def test_without_delivery_only_what_fails_at_once_is_stored():
    site = Site(delivery="none")
    (phone,) = site.phones
    phone.is_on = False
    site.give(phone, b"0")
    site.run(BREAK_MS)
    site.give(phone, b"1")
    assert [(found.message.payload, found.reason) for found in site.records("unsent")] == [(b"1", "absent")]
    assert site.settled() == 2


def test_a_message_that_expired_is_not_sent():
    site = Site(config={"expires_us": lambda message, now_us: message.created_at})
    (phone,) = site.phones
    message = site.give(phone)
    site.run(100)
    assert (phone.messages, site.settled()) == ([], 1)
    assert [(found.id, found.reason) for found in site.records("discarded")] == [(message.id, "expired")]
    (expired,) = site.gateway.outbound.take_expired()
    assert expired == (message.id, site.now - 100 * MILLISECOND)
    assert site.gateway.outbound.take_expired() == []


def lasting(ms):
    """Lifetimes from the instant at which a message was made."""
    return {"expires_us": lambda message, now_us: message.created_at + ms * 1_000}


def test_what_waits_for_room_in_the_window_is_dropped_if_it_expires_before_its_turn():
    site = Site(window=1, config=lasting(3_000))
    (phone,) = site.phones
    phone.is_on = False
    site.give(phone, b"under way")
    late = [site.give(phone, b"too late %d" % number).id for number in range(2)]
    site.run(5_000)
    site.give(phone, b"in time")
    site.run(500)
    assert site.records("discarded") == [], "their turn has not come"
    phone.is_on = True
    site.run(5_000)
    assert phone.payloads == [b"under way", b"in time"], "what was sent is repeated, whatever its lifetime"
    assert [(found.id, found.reason) for found in site.records("discarded")] == [(id, "expired") for id in late]
    assert [one.id for one in site.gateway.outbound.take_expired()] == late
    assert (site.settled(), site.room(), site.gateway.counters["expired"]) == (4, 256, 2)
    assert site.gateway.waiting_ids() == []


def test_what_waits_for_a_busy_node_is_dropped_if_it_expires_before_its_turn():
    site = Site(config=lasting(500))
    (phone,) = site.phones
    phone.end.is_busy = True
    phone.end.ping(0, site.now)
    site.drain(phone)
    site.run(10)
    message = site.give(phone)
    site.run(600)
    assert (phone.payloads, site.settled()) == ([], 0), "it waits for a time-out"
    site.run(600)
    assert (phone.payloads, site.settled()) == ([], 1)
    assert [found.id for found in site.records("discarded")] == [message.id]


def test_a_message_whose_first_part_was_sent_is_sent_to_its_end():
    site = Site(window=1, config=lasting(3_000))
    (phone,) = site.phones
    phone.is_on = False
    site.give(phone, bytes(3_000))
    site.run(5_000)
    phone.is_on = True
    site.run(10_000)
    assert phone.payloads == [bytes(3_000)]
    assert (site.records("discarded"), site.settled()) == ([], 1)


def test_with_a_mini_buffer_what_expires_in_the_queue_of_its_connection_is_dropped_and_settled_before():
    site = Site(window=1, delivery="mini_buffer", config=lasting(3_000))
    (phone,) = site.phones
    phone.is_on = False
    site.give(phone, b"under way")
    site.give(phone, b"too late")
    site.run(4_000)
    assert site.settled() == 2
    phone.is_on = True
    site.run(5_000)
    assert phone.payloads == [b"under way"]
    assert (site.gateway.counters["expired"], site.settled(), site.room()) == (1, 2, 256)


def test_groupcasts_reach_the_union_of_the_newest_groups_and_broadcasts_all():
    site = Site(3)
    one, two, three = site.phones

    def report(definer, phone, groups, version):
        site.feed(
            "group_advertisement",
            GroupReport(definer, phone.id, groups, version),
            key=definer.encode() + b"/" + phone.id,
        )

    report("region", one, ("north",), 5)
    report("region", two, ("south",), 6)
    report("speed", three, ("north",), 7)
    report("region", two, ("north",), 4)  # older
    for group in ("region/north", "north", "*", "south", "nowhere"):
        site.cast(group, group.encode())
    site.run(200)
    assert sorted(one.payloads) == [b"*", b"north", b"region/north"]
    assert sorted(two.payloads) == [b"*", b"south"]
    assert sorted(three.payloads) == [b"*", b"north"]
    report("region", one, (), 8)
    site.cast("north", b"again")
    site.run(200)
    assert [len(phone.payloads) for phone in (one, two, three)] == [3, 2, 3]
    assert three.payloads[-1] == b"again"
    assert (site.settled("groupcast"), site.settled("broadcast")) == (5, 1)


def test_a_groupcast_that_a_node_did_not_acknowledge_is_stored_for_it():
    site = Site(2)
    silent, other = site.phones
    silent.is_on = False
    site.cast("*")
    site.run(BREAK_MS + 61_000)
    assert other.payloads == [b"hello"]
    assert [(key, found.reason) for key, found in site.log["unsent"]] == [(silent.id, "broken")]
    assert site.settled("broadcast") == 1


def test_a_message_to_a_group_that_comes_back_from_the_store_goes_to_the_node_of_its_key():
    site = Site(2)
    message = Message(bytes(16), "applications-0", "region/north", site.wall_us, payload=b"x")
    site.feed("gateway.0", Outbound(message), key=site.phones[1].id)
    site.run(100)
    assert [phone.payloads for phone in site.phones] == [[], [b"x"]]


def test_a_record_that_cannot_be_read_is_rejected_and_settled():
    site = Site()
    site.feed("gateway.0", b"\xc1", key=site.phones[0].id)
    site.feed("groupcast", b"", key=b"north")
    site.feed("handover", b"poison", key=b"gateway-0")
    assert [(found.topic, found.reader) for found in site.records("rejected")] == [
        ("gateway.0", "gateway-0"),
        ("groupcast", "gateway-0"),
        ("handover", "gateway-0"),
    ]
    assert (site.settled(), site.settled("groupcast"), site.settled("handover")) == (1, 1, 1)
