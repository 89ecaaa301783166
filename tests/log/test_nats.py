"""NATS as the engine of a log: its protocol, its subjects, and what it refuses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.log.topics import Topic
from overlay.runtime.logs.escaping import escaped, unescaped
from overlay.runtime.logs.nats.connection import Connection, Server
from overlay.runtime.logs.nats.names import Names, delivered, deployment_of, pack, unix_us
from overlay.runtime.logs.nats.protocol import BadBytes, Line, Message, Messages, publish
from overlay.runtime.logs.wire import LostConnection
from tests.log.reader import Reader

WORDS = st.text("abc.$", min_size=1, max_size=8)
MESSAGES = st.builds(
    Message, WORDS, st.integers(0, 99), st.just("") | WORDS, st.just(0) | st.just(408), st.binary(max_size=30)
)


def written(message):
    head = f"NATS/1.0 {message.status}\r\n\r\n".encode() if message.status else b""
    words = [message.subject, str(message.subscription), *([message.reply] if message.reply else [])]
    sizes = [len(head), len(head) + len(message.payload)] if head else [len(message.payload)]
    line = " ".join(["HMSG" if head else "MSG", *words, *map(str, sizes)])
    return line.encode() + b"\r\n" + head + message.payload + b"\r\n"


@given(st.lists(MESSAGES | st.just(Line("PING", "")), max_size=5), st.data())
def test_messages_are_read_whole_in_whatever_pieces_they_come(sent, data):
    stream = b"".join(written(one) if isinstance(one, Message) else b"PING\r\n" for one in sent)
    reader, found = Messages(), []
    while stream:
        length = data.draw(st.integers(1, len(stream)))
        found += reader.feed(stream[:length])
        stream = stream[length:]
    assert found == sent


@given(st.binary(max_size=60) | st.builds(b"MSG %b\r\n".__mod__, st.binary(max_size=20)))
def test_any_bytes_are_messages_or_refused(data):
    try:
        Messages().feed(data)
    except BadBytes as error:
        assert "the log's engine sent" in str(error)


def test_what_is_published_says_its_sizes():
    assert publish("a.b", b"xy") == b"PUB a.b 2\r\nxy\r\n"
    assert publish("a", b"xy", "in", b"Of: 7\r\n") == b"HPUB a in 19 21\r\nNATS/1.0\r\nOf: 7\r\n\r\nxy\r\n"


@given(st.text(max_size=12))
def test_any_text_is_one_word_of_a_subject_and_comes_back(text):
    word = escaped(text)
    assert word
    assert set(word) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
    assert unescaped(word) == text
    assert deployment_of(Names(text).state) == text
    assert deployment_of(Names(text).log) is None


def test_a_record_has_its_place_and_time_from_the_server_with_or_without_a_domain():
    for begin in ("$JS.ACK", "$JS.ACK.hub.account"):
        record = delivered(
            "letters", 2, f"{begin}.stream.consumer.1.77.5.1700000000123456789.0", pack(b"key", b"value")
        )
        assert record == ("letters", 2, 77, b"key", b"value", 1_700_000_000_123_456)
    assert unix_us("2023-11-14T22:13:20.123456789Z") == 1_700_000_000_123_456
    assert unix_us("2023-11-14T22:13:20Z") == 1_700_000_000_000_000


def test_a_key_of_a_compacted_topic_is_a_word_even_if_it_is_empty():
    topic = Topic("who.is", 2, is_compacted=True)
    assert Names("r 1").record(topic, 1, b"") == "waxwing.r_201.h.who_2eis.1.k"


def test_the_address_names_servers_a_login_and_replicas():
    found = Server.of("nats://me:p%40ss@a:7,[::1]?replicas=3")
    assert found == Server((("a", 7), ("::1", 4222)), "me", "p@ss", 3)
    assert found.where == "a:7,::1:4222"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'INFO {"tls_required": true}\r\n', "requires TLS"),
        (b"-ERR 'Authorization Violation'\r\n", "NATS says 'Authorization Violation'"),
        (b"HTTP/1.1 400\r\n", "not NATS's protocol"),
    ],
)
def test_a_server_that_cannot_be_used_is_lost_with_the_reason(nats, line, reason):
    wire = Connection(Server.of(nats.url))
    with pytest.raises(LostConnection, match=reason):
        wire.received(line)
    wire.close()


def test_a_server_without_jetstream_is_lost_with_what_to_do(nats):
    wire, found = Connection(Server.of(nats.url)), []
    wire.api(found.append, "STREAM.NAMES")
    inbox = next(iter(wire._waiting))
    with pytest.raises(LostConnection, match="nats-server --jetstream"):
        wire.received(f"HMSG {inbox} 1 16 16\r\nNATS/1.0 503\r\n\r\n\r\n".encode())
    wire.close()


def test_it_goes_on_after_a_stream_was_deleted_by_another(live_log):
    log = live_log("nats")
    writer = log.start("writer", Reader())
    writer.append("a", "1")
    log.until(lambda: writer.durable == ["1"])
    log._erase()
    writer.append("a", "2")
    log.until(lambda: writer.durable == ["1", "2"])
    assert log.ports["writer"].counters["log_lost"] > 0
