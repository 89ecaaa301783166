"""Which engine serves a log, and what each says of the deployments that it has. ``test_engines`` has what logs keep."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from overlay.core.errors import WaxwingError
from overlay.log.node import Start
from overlay.log.spec import LogSpec
from overlay.runtime.logs.engines import VARIABLE, engine_at, url_for
from overlay.runtime.redis_server import NoEngine
from tests.log.live import QUICK
from tests.log.reader import Reader, reads

ALL = "redis://:secret@a:1/0 nats://b kafka://c,d:7"


def test_the_setting_chooses_one_of_the_addresses(monkeypatch):
    monkeypatch.setenv(VARIABLE, ALL)
    assert [url_for(LogSpec((), engine)) for engine in ("valkey", "nats", "kafka")] == ALL.split()
    assert url_for(LogSpec((), "nats", servers="nats://mine")) == "nats://mine"


def test_an_engine_without_an_address_is_refused_with_what_to_do(monkeypatch):
    monkeypatch.setenv(VARIABLE, ALL.split()[1])
    sentence = (
        r"no engine kafka for the log \(WAXWING_LOG_URL has that of nats only\). Set WAXWING_LOG_URL=kafka://host"
    )
    with pytest.raises(NoEngine, match=sentence):
        url_for(LogSpec((), "kafka"))
    with pytest.raises(NoEngine, match="the engine memory is for simulated runs; choose one of valkey, nats, kafka"):
        url_for(LogSpec((), "memory"))
    monkeypatch.delenv(VARIABLE)
    with pytest.raises(NoEngine, match=r"no engine nats for the log\. Set WAXWING_LOG_URL=nats://"):
        url_for(LogSpec((), "nats"))


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("http://a:1/0", "must be as redis://.* or nats://.* or kafka://"),
        ("redis://a:x/0", "redis://user:password@host:port/0"),
        ("nats://", "nats://user:password@host:port"),
        ("nats://a:x", "nats://user:password@host:port"),
        ("nats://a/b", "nats://user:password@host:port"),
        ("nats://a?copies=3", r"\?replicas=3"),
        ("kafka://", "kafka://host:port,host:port"),
        ("kafka://a,", "kafka://host:port,host:port"),
        ("kafka://a/b", "kafka://host:port,host:port"),
        ("kafka://a?b", "options of librdkafka"),
        ("kafka://a?colour=red", 'No such configuration property: "colour"'),
    ],
)
def test_an_address_that_is_none_is_refused_with_what_it_must_be(url, sentence):
    if url.startswith("kafka"):
        pytest.importorskip("confluent_kafka", reason="Kafka's library is not installed")
    with pytest.raises(WaxwingError, match=sentence):
        engine_at(url)


def test_without_its_library_kafka_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "overlay.runtime.logs.kafka.engine", None)
    with pytest.raises(NoEngine, match="pip install confluent-kafka"):
        engine_at("kafka://a")


@pytest.fixture(params=["valkey", "nats", "kafka"])
def live(request, live_log):
    return live_log(request.param)


def test_an_engine_says_which_networks_it_has_and_their_newest_records(live):
    engine, deployment = engine_at(live.instance.url), live.deployment
    reader, writer = live.start("reader", Reader(reads("addresses"))), live.start("writer", Reader())
    for number in range(3):
        for key in ("a", "b", "c"):
            writer.append(key, f"{key}{number}", topic="addresses")
    live.until(lambda: len(reader.owned) == 2 and len(writer.durable) == 9)
    assert engine.partitions_read("readers", "addresses")[deployment] == 2
    assert engine.newest(deployment, "addresses", 2) == {b"a": b"a2", b"b": b"b2", b"c": b"c2"}
    engine.append(deployment, "addresses", 2, b"b", b"from outside")
    assert engine.newest_of(deployment, "addresses", 2, b"b") == b"from outside"
    assert engine.newest_of(deployment, "addresses", 2, b"nobody") is None
    whole = live.start("whole", Reader(reads("addresses", "mine", Start.WHOLE)))
    live.until(lambda: sorted(whole.values) == ["a2", "c2", "from outside"])


def test_an_engine_says_which_records_of_a_topic_are_the_newest(live):
    engine, deployment = engine_at(live.instance.url), live.deployment
    reader, writer = live.start("reader", Reader(reads())), live.start("writer", Reader())
    live.until(lambda: len(reader.owned) == 4)
    assert engine.latest(deployment, "letters", 4, 3) == []
    values = [f"b{number}" for number in range(300)]
    values[100:100], values[200:200], values[300:300] = ["a0"], ["a1"], ["a2"]
    for value in values:
        writer.append(value[0], value)
    live.until(lambda: len(writer.durable) == len(values))
    found = engine.latest(deployment, "letters", 4, 3)
    assert [one.value for one in found if one.key == b"b"] == [b"b299", b"b298", b"b297"]
    assert [one.value for one in found if one.key == b"a"] == [b"a2", b"a1", b"a0"]
    assert sorted(found, key=lambda one: one.appended_us, reverse=True) == found
    whole = engine.latest(deployment, "letters", 4, 1_000)
    assert sorted(one.value.decode() for one in whole) == sorted(values)


@pytest.mark.parametrize("name", ["valkey", "nats", "kafka"])
def test_what_is_always_durable_survives_the_death_of_the_server(live_log, name):
    """But the mock of Kafka, which keeps records in memory, only cannot be reached meanwhile."""
    log = live_log(name, replace(QUICK, durability="always"))
    writer = log.start("writer", Reader())
    values = [f"{key}{number}" for number in range(100) for key in "abc"]
    for value in values:
        writer.append(value[0], value)
    log.until(lambda: len(writer.durable) > 50)
    log.down()
    acknowledged = list(writer.durable)
    log.up()
    reader = log.start("reader", Reader(reads()))
    log.until(lambda: set(reader.values) == set(values))
    assert set(acknowledged) <= set(reader.values)
    for key in "abc":
        of_key = [value for value in dict.fromkeys(reader.values) if value[0] == key]
        assert of_key == [value for value in values if value[0] == key]


@pytest.mark.parametrize("name", ["valkey", "nats"])
def test_erasing_a_deployment_leaves_the_others(live_log, name):
    one, other = live_log(name), live_log(name)
    engine = engine_at(one.instance.url)
    for log in (one, other):
        reader, writer = log.start("reader", Reader(reads())), log.start("writer", Reader())
        writer.append("a", "1")
        log.until(lambda reader=reader: reader.values == ["1"])
        log.end("reader")
        log.end("writer")
    engine.erase(one.deployment)
    engine.erase(one.deployment)  # nothing is left
    known = engine.partitions_read("readers", "letters")
    assert (one.deployment in known, known[other.deployment]) == (False, 4)
    engine.forget(other.deployment, "readers", ["letters"])
    assert other.deployment not in engine.partitions_read("readers", "letters")


def test_an_engine_that_is_away_raises_an_error_that_can_be_told():
    for url in ("redis://127.0.0.1:1/0", "nats://127.0.0.1:1"):
        with pytest.raises((OSError, WaxwingError)):
            engine_at(url).erase("any")
