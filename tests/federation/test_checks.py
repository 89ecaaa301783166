"""What is refused before a launch, the words for faults, signs of life, and what meters count."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from overlay.channel import wire
from overlay.core.errors import InvalidSetting
from overlay.core.links import Link
from overlay.systems.contract import Setup
from overlay.systems.federation.advice import warnings
from overlay.systems.federation.checks import check_setup, find_cycle
from overlay.systems.federation.expectations import expected
from overlay.systems.federation.fault_words import in_common_words
from overlay.systems.federation.metering import server_meter
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.signs import answers_ping, ping
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.codec import CODEC, encode
from overlay.systems.federation.wire.values import BrokerAdvertisement
from overlay.systems.federation.workload import Workload
from overlay.topologies import Graph
from tests.thorough import examples

RING = Graph(4, (Link(0, 1), Link(1, 2), Link(3, 2), Link(0, 3)))


def check(graph: Graph = RING, workload: Workload | None = None, **settings: object) -> None:
    check_setup(Setup(Settings(**settings), workload, graph))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "field", "words"),
    [
        ({"cycles": "refuse"}, "cycles", "the links form the cycle 0 – 1 – 2 – 3 – 0"),
        ({"mobile_brokers": "1,4"}, "mobile_brokers", "has 4, but the last broker is 3"),
        ({"device": "mcxb"}, "device", "needs a mobile broker"),
        ({"cycles": "suppress", "domain": "ours"}, "cycles", "flooded tables are not filtered"),
        ({"domain": "city,campus"}, "domain", "has 2 names for 4 brokers"),
        ({"domain": "a,a,b,b", "routing": "notifications"}, "domain", "filters nothing"),
        ({"routing": "notifications"}, "routing", "asks no providers"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(settings: dict[str, str], field: str, words: str) -> None:
    with pytest.raises(InvalidSetting, match=words) as caught:
        check(workload=Workload(), **settings)
    assert caught.value.field == f"settings.{field}"


def test_what_fits_is_not_refused() -> None:
    check(cycles="suppress", mobile_brokers="0,3", device="mcxb")
    check(domain="city, city, campus, ")
    with pytest.raises(InvalidSetting, match="at most 64 bytes"):
        Settings(domain="é" * 33)
    check(Graph(3, (Link(0, 1), Link(1, 2))), cycles="refuse")
    check(routing="notifications")
    with pytest.raises(InvalidSetting, match="0 – 1 – 2 – 3 – 4 – 5 – 6 – 7 – …"):
        check(Graph(9, tuple(Link(index, (index + 1) % 9) for index in range(9))), cycles="refuse")


@hypothesis_settings(max_examples=examples(120))
@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda ends: ends[0] < ends[1])))
def test_a_cycle_is_found_if_there_is_one(edges: set[tuple[int, int]]) -> None:
    cycle = find_cycle(7, sorted(edges))
    trees = 7 - len(edges)
    if not cycle:
        parts = {frozenset([node]) for node in range(7)}
        for ends in edges:
            joined = frozenset().union(*(part for part in parts if part & set(ends)))
            parts = {part for part in parts if not part & joined} | {joined}
        assert len(parts) == trees, "a forest has one edge less than nodes, for each tree"
    else:
        assert len(set(cycle)) == len(cycle) >= 3
        steps = zip(cycle, [*cycle[1:], cycle[0]], strict=True)
        assert {(min(step), max(step)) for step in steps} <= edges


def test_names_of_the_contract_are_put_into_common_words() -> None:
    documents = [
        {"what": "vanish", "clients": ["p3", "c0", "provider-1"], "at_s": 1},
        {"what": "kill", "servers": ["bdrs", "b1"], "at_s": 1},
        {"what": "partition", "islands": [["b0", 1], ["bdrs"]], "at_s": 1},
        {"what": "slow", "links": [["b0", "bdrs"]], "delay_ms": 1, "at_s": 1},
        {"what": "vanish", "clients": 0.5, "at_s": 1},
        {"what": "slow", "links": "all", "delay_ms": 1, "at_s": 1},
        "no fault",
    ]
    assert in_common_words(documents) == [
        {"what": "vanish", "clients": ["provider-3", "consumer-0", "provider-1"], "at_s": 1},
        {"what": "kill", "servers": ["bdrs-0", "broker-1"], "at_s": 1},
        {"what": "partition", "islands": [["broker-0", 1], ["bdrs-0"]], "at_s": 1},
        {"what": "slow", "links": [["broker-0", "bdrs-0"]], "delay_ms": 1, "at_s": 1},
        *documents[4:],
    ]
    assert in_common_words("none") == "none"


def test_a_sign_of_life_is_recognised_and_nothing_else() -> None:
    advertisement = BrokerAdvertisement("b0", "127.0.0.1:1", False, None, "", ())
    here = wire.loose(b"b0", encode(m.Here(5, advertisement)))
    assert answers_ping(here)
    for other in (b"", here[:-1], here[:30], ping(5), wire.head(wire.HELLO, 1), b"\0" + here[1:]):
        assert not answers_ping(other)
    assert len(here) * 3 < len(ping(5)) * 9, "an answer is at most three times as long"


@given(st.binary(max_size=200))
def test_no_bytes_break_the_reading_of_signs_of_life(data: bytes) -> None:
    assert not answers_ping(wire.head(wire.LOOSE, 0) + data)


def test_a_meter_counts_datagrams_and_messages_since_the_last_call() -> None:
    class Peers:
        codec = CODEC
        counters = {"in_publish": 2, "in_ack": 1, "out_notify": 3, "out_notify_bytes": 900, "refused_bad": 1}

    class Server:
        peers = Peers()

    meter = server_meter(Server())
    work = meter.work([wire.head(wire.DATA, 1), wire.head(wire.ACK, 1)], [wire.head(wire.LOOSE, 0), b"?"])
    assert (list(work.received), list(work.sent)) == (["DATA", "ACK"], ["LOOSE", ""])
    assert work.moved_bytes == 85
    assert work.units == {"in_publish": 2, "in_other": 1, "out_messages": 3}
    Peers.counters["in_publish"] = 5
    assert meter.work([], []).units == {"in_publish": 3}
    Peers.counters = {"in_publish": 1}
    assert meter.work([], []).units == {"in_publish": 1}, "another life"


def test_estimates_grow_with_what_a_run_sends() -> None:
    def work(brokers: int = 3, **workload: object) -> float:
        return expected(Settings(), Workload(**workload), brokers).exchanges  # type: ignore[arg-type]

    assert work() < work(queries=4_000) < work(queries=4_000, brokers=9)
    stream = {"kind": "stream", "subscriptions": 200, "notifications": 500}
    assert work(queries=0) < work(**stream)
    found = expected(Settings(), Workload(), 3)
    assert (found.servers, found.processes, dict(found.clients)) == (4, 6, {"providers": 12, "consumers": 6})
    assert found.seconds == pytest.approx(204.6), "its starts, a second, and 2,000 queries at 10/s"


def test_overload_and_clients_that_will_be_invalid_are_warned_of() -> None:
    def said(brokers: int = 1, **more: object) -> str:
        settings, workload = Settings(), Workload()
        configuration = {
            "settings": {**asdict(settings), **more},
            "workload": {**asdict(workload), **more},
            "topology": {"brokers": brokers},
        }
        return " ".join(warnings([configuration, configuration]))

    assert said() == ""
    assert said(service_ms=7, rate_per_s=60) == ""
    assert "105% busy" in said(service_ms=7, rate_per_s=75)
    assert said(service_ms=7, rate_per_s=75, processors=2) == ""
    assert "invalid now and then" in said(client_loss=0.1, keepalive_share=0.9, implicit_keepalive=False)
    assert "expire before" in said(expiry_s=0.1, provider_ms=80)
