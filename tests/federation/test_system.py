"""The federation as a system: choices, plans, configurations, and runs in virtual time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from overlay.core.engines import SIMULATED
from overlay.core.errors import InvalidSetting
from overlay.deployment.deployment import Deployment, run_document
from overlay.experiment.definition import checked
from overlay.journal.facts import Sample
from overlay.journal.journal import read_journal
from overlay.sim.engine import Outcome, journal_path, simulate
from overlay.sim.replay import replay_all
from overlay.systems.federation.measuring import measures
from overlay.systems.federation.measuring.records import Facts
from overlay.systems.federation.names import MEASURES
from overlay.systems.federation.system import SYSTEM
from overlay.systems.roles import server_names
from overlay.topologies import Graph, generate
from tests.thorough import thoroughly

CHAIN = generate("line", 3, {"delay_ms": 1, "jitter_ms": 0.5}, 0)
ONE = Graph(1, ())
LOADED = {"service_ms": 7, "profile": "published"}
WORKLOAD = {"queries": 100, "rate_per_s": 40, "provider_ms": 2, "client_delay_ms": 1, "client_jitter_ms": 0.5}
WORKLOAD |= {"stagger_ms": 20}
CONSUMERS = ("c0", "c1", "c2")


def run(
    directory: Path,
    graph: Graph = CHAIN,
    settings: dict[str, Any] | None = None,
    workload: dict[str, Any] | None = None,
    seed: int = 1,
    **more: Any,
) -> Outcome:
    definition = {"name": "test", "system": SYSTEM.name, "engine": SIMULATED, "topology": "t", **more}
    definition |= {"settings": settings or LOADED, "workload": WORKLOAD | (workload or {})}
    topology = {"name": "t", "kind": "custom", "brokers": graph.brokers, "positions": None}
    topology |= {"links": [link.to_json() for link in graph.links]}
    configuration = checked(definition, {"t": topology}.get)[1][0]
    document = run_document(configuration, run="r1", seed=seed, directory=str(directory))
    return simulate(Deployment.from_json(json.loads(json.dumps(document)), SIMULATED))


def figures(directory: Path) -> dict[str, Any]:
    return dict(measures(read_journal(journal_path(directory))))


def test_a_configuration_is_read_as_it_was_written() -> None:
    for graph in (CHAIN, ONE, generate("waxman", 6, {"mean_degree": 3}, 2)):
        config = SYSTEM.config_of(SYSTEM.setup({"mobile_brokers": "0"}, None, graph))
        document = json.loads(json.dumps(SYSTEM.config_document(config)))
        assert SYSTEM.read_config(document) == config
    config = SYSTEM.config_of(SYSTEM.setup({}, None, CHAIN))
    assert config.links == ((0, 1, 1_000), (1, 2, 1_000)), "delays in µs"


def test_the_registration_service_is_the_last_server() -> None:
    setup = SYSTEM.setup({}, {}, CHAIN)
    assert SYSTEM.check(setup) == 4
    assert server_names(SYSTEM.roles(setup)) == ("broker-0", "broker-1", "broker-2", "bdrs-0")
    assert SYSTEM.default_topology(None, None).brokers == 3


def test_clients_are_planned_at_their_brokers_and_named_in_faults() -> None:
    setup = SYSTEM.setup({}, {}, CHAIN)
    plans = SYSTEM.plan_clients(setup)
    assert [len(found) for found in plans.values()] == [12, 6]
    assert [plan.broker for plan in plans["consumers-0"]] == [0, 0, 1, 1, 2, 2]
    faults = [
        {"what": "vanish", "clients": ["p3", "c0"], "way": "proper", "at_s": 1, "until_s": 2},
        {"what": "move", "brokers": [2], "at_s": 1},
        {"what": "offline", "brokers": [2], "at_s": 1, "until_s": 2},
    ]
    read = SYSTEM.read_faults(setup, faults)
    assert read[0].clients == ("provider-3", "consumer-0")
    assert [fault.label for fault in read] == [
        "provider-3, consumer-0: vanishes",
        "broker 2: moves to a new port",
        "broker 2: offline",
    ]
    with pytest.raises(InvalidSetting, match="this fault is of broker"):
        SYSTEM.read_faults(setup, [{"what": "move", "servers": ["bdrs"], "at_s": 1}])


def test_domains_see_of_each_other_what_they_export(tmp_path: Path) -> None:
    """Brokers 0 and 1 are of one domain, 2 is of another; provider i serves scope i at broker i."""
    workload = {"kind": "stream", "providers": 3, "consumers": 3, "scopes": 3, "subscriptions": 60, "notifications": 90}
    came = {}
    for domain in ("", "city,city,campus"):
        settings = {"domain": domain, "exports": "s0", "out_of_turn": True}
        run(tmp_path / (domain or "one"), settings=settings, workload=workload)
        facts = Facts.of(read_journal(journal_path(tmp_path / (domain or "one"))))
        came[domain] = {
            client: {one.provider for one in facts.notifies if one.client == client} for client in CONSUMERS
        }
        found = measures(read_journal(journal_path(tmp_path / (domain or "one"))))
        assert (found["lost"], found["spurious"], found["duplicates"]) == (0, 0, 0)
    assert came[""] == {client: {"p0", "p1", "p2"} for client in CONSUMERS}
    assert came["city,city,campus"] == {"c0": {"p0", "p1"}, "c1": {"p0", "p1"}, "c2": {"p0", "p2"}}


def test_the_names_of_measures_are_those_that_a_run_has() -> None:
    assert tuple(measures(())) == MEASURES == SYSTEM.measure_names


def test_equal_seeds_have_equal_digests_and_every_query_is_satisfied(tmp_path: Path) -> None:
    first, second = run(tmp_path / "a"), run(tmp_path / "b")
    assert first.digest == second.digest
    found = figures(tmp_path / "a")
    assert (found["subscriptions"], found["satisfied"], found["duplicates"], found["spurious"]) == (100, 100, 0, 0)
    assert 10_000 < found["ts_mean_us"] < 100_000
    samples = [fact for fact in read_journal(journal_path(tmp_path / "a")) if isinstance(fact, Sample)]
    assert {one.outcome for one in samples} == {"answered"}


def test_a_recorded_run_replays_byte_for_byte_with_its_faults(tmp_path: Path) -> None:
    faults = [
        {"what": "move", "brokers": [2], "at_s": 1},
        {"what": "vanish", "brokers": [0], "way": "improper", "at_s": 2, "until_s": 3},
        {"what": "offline", "brokers": [1], "at_s": 3, "until_s": 4},
    ]
    run(tmp_path, workload={"rate_per_s": 20}, faults=faults, record_mb=8)
    replayed = replay_all(tmp_path / "journal")
    assert [(one.begin.name, one.difference) for one in replayed] == [
        (name, None) for name in ("bdrs-0", "broker-0", "broker-1", "broker-2")
    ]


@thoroughly
@pytest.mark.parametrize(
    ("graph", "cap", "rate", "design_ms"),
    [(ONE, 0, 10, 22.4), (ONE, 0, 60, 96.0), (CHAIN, 0.15, 10, 32.4), (CHAIN, 0.15, 60, 53.7)],
)
def test_the_mean_times_are_those_of_the_prototype(
    tmp_path: Path, graph: Graph, cap: float, rate: float, design_ms: float
) -> None:
    """Means of 2,000 queries at 60/s vary by a sixth between seeds."""
    run(tmp_path, graph, {**LOADED, "cache_cap": cap}, {"queries": 2_000, "rate_per_s": rate})
    found = figures(tmp_path)
    assert found["satisfied"] == 2_000
    assert found["ts_mean_us"] / 1e3 == pytest.approx(design_ms, rel=0.25)
