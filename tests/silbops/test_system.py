"""SilboPS as a system: choices, plans, configurations, operators' questions, and runs in virtual time."""

from __future__ import annotations

import json
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgpack
import pytest

from brokerweb.systems.registry import web_of
from overlay.channel import wire as channel
from overlay.core.chance import Chances
from overlay.core.engines import SIMULATED
from overlay.core.errors import InvalidSetting
from overlay.core.links import Link
from overlay.core.strangers import MOST_TIMES
from overlay.deployment.deployment import Deployment, run_document
from overlay.experiment.definition import checked
from overlay.peers.questions import ASKER, Inspect, Outcome, question, read_answer
from overlay.sim.engine import Outcome as Ended
from overlay.sim.engine import simulate
from overlay.sim.replay import replay_all
from overlay.systems.roles import Place, server_names
from overlay.systems.silbops.measuring import measures
from overlay.systems.silbops.metering import BrokerMeter
from overlay.systems.silbops.names import GAUGES, MEASURES, UNITS
from overlay.systems.silbops.subjects import Subject
from overlay.systems.silbops.system import SYSTEM
from overlay.systems.silbops.wire import messages as m
from overlay.systems.silbops.wire.codec import SILBOPS
from overlay.topologies import Graph, generate

CHAIN = generate("line", 3, {"delay_ms": 1}, 0)
SMALL = {"publishers": 2, "subscribers": 5, "filters_max": 3, "attribute_names": 12, "duration_s": 2}
SERVERS = (("127.0.0.1", 7000), ("127.0.0.1", 7001))
OPERATOR, STRANGER = ("127.0.0.1", 9999), ("10.0.0.1", 2001)


def run(directory: Path, arm: str, **more: Any) -> Ended:
    definition = {"name": "test", "system": SYSTEM.name, "engine": SIMULATED, "topology": "t", **more}
    definition |= {"settings": {"arm": arm}, "workload": SMALL}
    topology = {"name": "t", "kind": "custom", "brokers": 3, "positions": None}
    topology |= {"links": [link.to_json() for link in CHAIN.links]}
    configuration = checked(definition, {"t": topology}.get)[1][0]
    document = run_document(configuration, run="r1", seed=1, directory=str(directory))
    return simulate(Deployment.from_json(json.loads(json.dumps(document)), SIMULATED))


def test_a_configuration_is_read_as_it_was_written() -> None:
    for workload in (None, {}):
        config = SYSTEM.config_of(SYSTEM.setup({"arm": "siena", "index": "cells"}, workload, CHAIN))
        assert SYSTEM.read_config(json.loads(json.dumps(SYSTEM.config_document(config)))) == config
        assert config.links == ((0, 1), (1, 2))
        assert config.is_followed == (workload is not None), "brokers of networks report to no measures"


def test_servers_and_clients_are_planned() -> None:
    default = SYSTEM.default_topology(None, None)
    setup = SYSTEM.setup({}, SMALL, default)
    assert SYSTEM.check(setup) == 5
    assert server_names(SYSTEM.roles(setup))[-1] == "broker-4"
    plans = SYSTEM.plan_clients(setup)
    assert {name: len(found) for name, found in plans.items()} == {"publishers-0": 2, "subscribers-0": 5}
    assert [SYSTEM.identity(plan) for plan in plans["publishers-0"]] == [("publisher", 0), ("publisher", 1)]


def test_links_may_form_cycles_and_must_reach_all_brokers() -> None:
    ring = Graph(3, (Link(0, 1), Link(1, 2), Link(0, 2)))
    assert SYSTEM.check(SYSTEM.setup({}, None, ring)) == 3
    with pytest.raises(InvalidSetting, match="no path joins broker 0 to 2, 3") as caught:
        SYSTEM.check(SYSTEM.setup({}, None, Graph(4, (Link(0, 1), Link(2, 3)))))
    assert caught.value.field == "topology"


def test_links_that_are_not_of_the_tree_rest() -> None:
    ring = Graph(4, (Link(0, 1), Link(1, 2), Link(2, 3), Link(3, 0)))
    assert SYSTEM.resting_links(SYSTEM.setup({}, None, ring)) == ((2, 3),)
    assert SYSTEM.resting_links(SYSTEM.setup({}, None, CHAIN)) == ()
    links = [{"a": 3, "b": 2, "delay_ms": 1}, *({"a": 0, "b": b} for b in (1, 2, 3))]
    network: Any = SimpleNamespace(deployed={"brokers": 4, "links": links})
    assert web_of(SYSTEM.name).resting_links(network) == ((2, 3),)


def test_the_names_of_measures_are_those_that_a_run_has() -> None:
    assert set(measures(())) == set(MEASURES) == set(SYSTEM.measure_names)


def test_estimates_grow_with_the_load_and_are_higher_in_siena() -> None:
    def work(arm: str, **workload: Any) -> float:
        return SYSTEM.expected({"settings": {"arm": arm}, "workload": workload, "topology": {"brokers": 5}}).exchanges

    assert work("silbops") < work("silbops", subscribers=2_000)
    assert work("silbops") < work("siena")


def test_equal_seeds_have_equal_digests(tmp_path: Path) -> None:
    assert run(tmp_path / "a", "siena").digest == run(tmp_path / "b", "siena").digest


def test_a_recorded_run_replays_byte_for_byte(tmp_path: Path) -> None:
    run(tmp_path, "silbops", record_mb=4)
    replayed = replay_all(tmp_path / "journal")
    assert [(one.begin.name, one.difference) for one in replayed] == [(f"broker-{n}", None) for n in range(3)]


# ---- operators


def broker() -> Any:
    config = SYSTEM.config_of(SYSTEM.setup({}, None, Graph(2, (Link(0, 1),))))
    place = Place("broker-0", 0, SERVERS[0], SERVERS)
    return SYSTEM.make_server(config, place, Chances.of_one(random.Random(1)), 0)


def ask(node: Any, source: Any, data: bytes) -> bytes:
    node.receive_datagrams([(data, source)], 1_000)
    node.check_invariants()
    (answer,) = [data for data, to in node.datagrams_to_send() if to == source]
    return answer


def inspect(node: Any, source: Any, **fields: Any) -> Any:
    return read_answer(ask(node, source, channel.loose(ASKER, question(Inspect(7, **fields)))))


def test_every_broker_answers_a_ping_of_any_sender_with_few_bytes() -> None:
    for source in (OPERATOR, STRANGER):
        answer = ask(broker(), source, SYSTEM.ping(5))
        assert SYSTEM.answers_ping(answer)
        assert len(answer) <= MOST_TIMES * len(SYSTEM.ping(5))
    assert not SYSTEM.answers_ping(b"?")


def test_counters_fit_into_three_times_the_question() -> None:
    node = broker()
    for layout in SILBOPS.layouts:
        for name in (f"in_{layout.name}", f"out_{layout.name}", f"out_{layout.name}_bytes"):
            node.peers.counters[name.lower()] = 10**12
        node.core.station.busy.end(layout.message, 0)
    node.core.station.busy.charge(10**15)
    for one in m.Code:
        node.peers.counters[f"refused_{one.name.lower()}"] = 10**12
    found = SYSTEM.read_statistics(ask(node, OPERATOR, SYSTEM.statistics_request(5)))
    assert found is not None
    assert found.keys() >= GAUGES
    assert found["out_ctx_bytes"] == 10**12


def test_with_a_token_an_operator_sees_the_tables_and_another_host_nothing() -> None:
    node = broker()
    for subject in Subject:
        token = inspect(node, OPERATOR, subject=Subject.STATE).token
        found = inspect(node, OPERATOR, token=token, subject=subject, limit=10)
        assert found.outcome is Outcome.OK
        content = msgpack.unpackb(found.content)
        if subject is Subject.STATE:
            assert (content["name"], content["arm"]) == ("b0", "silbops")
        elif subject is Subject.NEIGHBOURS:
            assert [row["broker"] for row in content["rows"]] == ["b1"]
        elif subject is Subject.WHY:
            assert content["refused"].startswith("a dry publication is a map")
        elif subject is not Subject.FIGURES:
            assert content == {"total": 0, "rows": []}
        if subject is not Subject.FIGURES:
            assert inspect(node, STRANGER, subject=subject).outcome is Outcome.ELSEWHERE


def test_the_meter_counts_messages_by_kind_and_the_work_of_matching() -> None:
    node = broker()
    meter = BrokerMeter(node)
    node.peers.counters.update({"in_ctx": 2, "in_peer": 1, "out_ctx": 3, "out_ctx_bytes": 90})
    assert meter.work([], []).units == {"in_ctx": 2, "in_other": 1, "out_messages": 3}
    assert set(UNITS) == set(SYSTEM.work_units["broker"])


def test_the_time_of_a_service_is_shared_by_its_messages() -> None:
    """Live, the processor's clock times each message."""
    node, busy = broker(), {}
    for message in (m.Pub, m.Pub, m.SetCtx):
        node.core.station.busy.end(message, node.core.station.busy.begin())
    BrokerMeter(node).charged(90_000)
    BrokerMeter(node).charged(50_000)  # no message
    busy |= {name: us for name, us in node.statistics(0).items() if name.startswith("busy_")}
    assert busy == {"busy_pub_us": 60, "busy_setctx_us": 30}
    clock = iter((1_000, 5_000))
    SYSTEM.time_server(node, lambda: next(clock))
    node.core.station.busy.end(m.Sub, node.core.station.busy.begin())
    assert node.statistics(0)["busy_sub_us"] == 4
