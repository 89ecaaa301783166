"""Runs in virtual time, of each system: ``python -m tests.compiled.runs DIRECTORY`` prints the form that it used, and
a digest of each run's datagrams and records."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from overlay.compiled.finder import is_used
from overlay.core.engines import SIMULATED
from overlay.deployment.deployment import Deployment, run_document
from overlay.experiment.definition import checked
from overlay.sim.engine import simulate
from overlay.systems.registry import SYSTEMS
from overlay.topologies import generate

RING = generate("ring", 4, {"delay_ms": 2}, 0)


class Run(NamedTuple):
    system: str
    settings: dict[str, Any]
    workload: dict[str, Any]
    faults: Sequence[dict[str, Any]] = ()
    topology: str | None = "ring"


QUERIES = {"queries": 160, "rate_per_s": 20, "expiry_s": 5, "stagger_ms": 50}
STREAM = {"kind": "stream", "providers": 4, "consumers": 3, "scopes": 3, "queries": 0, "subscriptions": 12}
STREAM |= {"notifications": 80, "rate_per_s": 10, "expiry_s": 60}
SHORT = {"keepalive_s": 2, "broker_keepalive_s": 1, "exchange_s": 1, "give_up_s": 1, "mobile_brokers": "3"}
PUBSUB = {"publishers": 3, "subscribers": 12, "attribute_names": 10, "square_km": 100, "duration_s": 2}
CALLS = {"clients": 8, "messages_per_s": 20, "duration_s": 4, "stagger_ms": 10, "drain_s": 3}
MOBILE = {"nodes": 12, "gateways": 2, "messages": 4, "rate_per_min": 20, "direction": "both", "connect_interval_ms": 50}
MOBILE |= {"disconnecting_share": 0.5, "off_s": 2, "on_s": 4, "drain_s": 20, "address_change_per_h": 600}
OF_BROKERS = (
    {"what": "vanish", "clients": ["p1"], "way": "improper", "at_s": 0.5, "until_s": 3},
    {"what": "kill", "brokers": [1], "at_s": 1, "until_s": 4},
    {"what": "offline", "brokers": [3], "at_s": 2, "until_s": 5},
)
OF_GATEWAYS = (
    {"what": "kill", "servers": ["gateway-1"], "at_s": 3, "until_s": 5},
    {"what": "log_restart", "at_s": 7},
)
IN_XML = {"encoding": "contextml"}
ON_PHONE = {"bulk": "on", "device": "mcxb", "mobile_brokers": "3", "energy_model": "powertutor"}

RUNS = {
    "context broker": Run("context-broker", {}, {"duration_s": 5}),
    "Radiator": Run("radiator", {}, CALLS, topology=None),
    "federation, ContextML": Run("federation", IN_XML, QUERIES),
    "federation, ContextML, streams": Run("federation", IN_XML | {"covering": "merging"}, STREAM),
    "federation, flooding with cycles": Run("federation", {"routing": "flooding", "cycles": "suppress"}, STREAM),
    "federation, bulk on a phone": Run("federation", ON_PHONE, QUERIES),
    "federation, service times": Run("federation", {"service_ms": 3, "service_cv": 1, "processors": 2}, QUERIES),
    "federation, faults": Run("federation", SHORT | {"covering": "covering"}, STREAM, OF_BROKERS),
    "federation, faults, ContextML": Run("federation", SHORT | IN_XML, QUERIES, OF_BROKERS),
    "SilboPS": Run("silbops", {"arm": "silbops"}, PUBSUB),
    "SIENA": Run("silbops", {"arm": "siena"}, PUBSUB),
    "ContextNet": Run("contextnet", {}, MOBILE, OF_GATEWAYS, None),
    "ContextNet, as in the paper": Run("contextnet", {"profile": "paper"}, MOBILE, OF_GATEWAYS, None),
}


def digest(directory: Path, run: Run) -> str:
    definition = {"name": "test", "system": run.system, "engine": SIMULATED, "settings": run.settings}
    definition |= {"topology": run.topology, "workload": run.workload}
    topology = {"name": "ring", "kind": "custom", "brokers": RING.brokers, "positions": None}
    topology |= {"links": [link.to_json() for link in RING.links]}
    configuration = checked({**definition, "faults": list(run.faults)}, {"ring": topology}.get)[1][0]
    document = run_document(configuration, run="r1", seed=1, directory=str(directory))
    return simulate(Deployment.from_json(document, SIMULATED)).digest


def main(directory: Path) -> None:
    assert {run.system for run in RUNS.values()} == set(SYSTEMS), "each system is tried"
    told = {name: digest(directory / name, run) for name, run in RUNS.items()}
    json.dump({"compiled": is_used(), "digest": told}, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
