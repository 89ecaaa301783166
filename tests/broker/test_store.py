"""Store (2): what is acknowledged, what wins, what expires."""

from tests.broker.transcript import C, Talk

UPDATE = "ContextUpdateAdvertisement"


def answer(talk, key="room|r1|temp"):
    """The payload that a consumer gets, or the status of its NACK."""
    for _, text in talk.ask(key):
        fields = text.split("|")
        if fields[0] == "4":
            return "|".join(fields[9:])
        if fields[0] == "6":
            return fields[3]
    return None


def test_an_advertisement_is_acknowledged_twice():
    talk = Talk()
    assert talk.provide() == [talk.ack(101, UPDATE), talk.ack(102, UPDATE)]
    assert answer(talk) == "degC=21.5"


def test_an_update_of_unseen_data_is_stored_and_a_payload_comes_back_byte_for_byte():
    talk = Talk()
    payload = "a|b|*|;=é|"
    begin, end = talk.wall - 1, talk.wall + 1000
    sent = talk.hear(C, f"2|7|{len(payload.encode())}|U|p1|room|r1|temp|{begin}|{end}|{payload}")
    assert sent == [talk.ack(101, UPDATE), talk.ack(102, UPDATE)]
    assert talk.ask()[1] == ("C", f"4|7|{len(payload.encode())}|p1|room|r1|temp|{begin}|{end}|{payload}")


def test_the_later_stamp_wins_whatever_the_order_of_arrival():
    talk = Talk()
    talk.provide(stamp=talk.wall + 5, payload="new")
    assert talk.provide(stamp=talk.wall, payload="old") == [talk.ack(101, UPDATE), talk.ack(102, UPDATE)]
    assert answer(talk) == "new"
    talk.provide(stamp=talk.wall + 5, payload="same stamp, too late")
    assert answer(talk) == "new"
    talk.provide(stamp=talk.wall + 6, payload="newer")
    assert answer(talk) == "newer"


def test_of_several_providers_the_latest_valid_one_answers():
    talk = Talk()
    talk.provide(provider="p1", stamp=talk.wall + 1, payload="one")
    talk.provide(provider="p2", stamp=talk.wall + 2, payload="two", valid=(-1, 500))
    talk.provide(provider="p3", stamp=talk.wall + 3, payload="not yet", valid=(1000, 2000))
    assert answer(talk) == "two"
    talk.wait(500)
    assert answer(talk) == "one"
    talk.wait(500)
    assert answer(talk) == "not yet"


def test_data_is_valid_from_its_begin_until_just_before_its_end():
    talk = Talk()
    talk.provide(valid=(100, 200))
    assert answer(talk) == "Status:202"
    talk.wait(100)
    assert answer(talk) == "degC=21.5"
    talk.wait(99)
    assert answer(talk) == "degC=21.5"
    talk.wait(1)
    assert answer(talk) == "Status:202"
    assert talk.stats()["entries"] == talk.stats()["bytes"] == 0
    assert talk.stats()["expired"] == 1


def test_expired_data_is_acknowledged_and_changes_nothing():
    talk = Talk()
    talk.provide(payload="valid")
    late = talk.provide(stamp=talk.wall + 9, payload="late", valid=(-100, 0))
    assert late == [talk.ack(101, UPDATE), talk.ack(102, UPDATE)]
    assert answer(talk) == "valid"


def test_a_stamp_beyond_the_clock_window_is_refused_and_one_within_is_not():
    talk = Talk()
    stamp = talk.wall + 30_001
    assert talk.provide(stamp=stamp) == [talk.nack(301, UPDATE, stamp)]
    assert answer(talk) == "Status:202"
    assert talk.provide(stamp=stamp - 1) == [talk.ack(101, UPDATE), talk.ack(102, UPDATE)]


def test_a_full_table_refuses_keeps_what_it_has_and_makes_room_from_what_expired():
    talk = Talk(table_entries=2)
    talk.provide("room|r1|temp", valid=(-1, 1000))
    talk.provide("room|r2|temp", payload="two")
    refused = talk.provide("room|r3|temp", stamp=talk.wall)
    assert refused == [talk.ack(101, UPDATE), talk.nack(201, UPDATE, talk.wall)]
    assert answer(talk, "room|r3|temp") == "Status:202"
    talk.now += 1000 * 1_000_000  # no timer has run yet
    assert talk.provide("room|r3|temp", payload="three")[1] == talk.ack(102, UPDATE)
    assert [answer(talk, f"room|r{i}|temp") for i in (1, 2, 3)] == ["Status:202", "two", "three"]
    assert [event.detail() for event in talk.broker.events()] == [{"limit": "table"}]


def test_the_table_is_bounded_in_bytes_and_an_update_that_does_not_fit_leaves_the_old():
    talk = Talk(table_bytes=200)
    talk.provide(payload="x" * 50)
    assert talk.provide(stamp=talk.wall + 1, payload="y" * 200)[1] == talk.nack(201, UPDATE, talk.wall + 1)
    assert answer(talk) == "x" * 50


def test_a_step_of_the_wall_clock_touches_validity_at_once():
    talk = Talk()
    talk.provide(valid=(-1, 60_000))
    day = 86_400_000_000_000
    talk.broker.set_wall_clock(talk.wall * 1_000_000 + day)
    assert answer(talk) == "Status:202"
