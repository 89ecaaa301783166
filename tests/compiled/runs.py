"""Runs in virtual time, in the forms that settings give them: ``python -m tests.compiled.runs DIRECTORY`` prints the
form that it used, and a digest of each run's datagrams."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from overlay.compiled.finder import is_used
from overlay.core.engines import SIMULATED
from overlay.deployment.deployment import Deployment, run_document
from overlay.experiment.definition import checked
from overlay.sim.engine import simulate
from overlay.topologies import generate

RING = generate("ring", 4, {"delay_ms": 2}, 0)
QUERIES = {"queries": 160, "rate_per_s": 20, "expiry_s": 5, "stagger_ms": 50}
STREAM = {"kind": "stream", "providers": 4, "consumers": 3, "scopes": 3, "queries": 0, "subscriptions": 12}
STREAM |= {"notifications": 80, "rate_per_s": 10, "expiry_s": 60}
SHORT = {"keepalive_s": 2, "broker_keepalive_s": 1, "exchange_s": 1, "give_up_s": 1, "mobile_brokers": "3"}
FAULTS = (
    {"what": "vanish", "clients": ["p1"], "way": "improper", "at_s": 0.5, "until_s": 3},
    {"what": "kill", "brokers": [1], "at_s": 1, "until_s": 4},
    {"what": "offline", "brokers": [3], "at_s": 2, "until_s": 5},
)
PUBSUB = {"publishers": 3, "subscribers": 12, "attribute_names": 10, "square_km": 100, "duration_s": 2}

FEDERATION: dict[str, tuple[dict[str, Any], dict[str, Any], bool]] = {
    "ContextML": ({"encoding": "contextml"}, QUERIES, False),
    "ContextML, streams": ({"encoding": "contextml", "covering": "merging"}, STREAM, False),
    "flooding, a graph with cycles": ({"routing": "flooding", "cycles": "suppress"}, STREAM, False),
    "bulk on a phone": (
        {"bulk": "on", "device": "mcxb", "mobile_brokers": "3", "energy_model": "powertutor"},
        QUERIES,
        False,
    ),
    "service times": ({"service_ms": 3, "service_cv": 1, "processors": 2}, QUERIES, False),
    "faults": (SHORT | {"covering": "covering"}, STREAM, True),
    "faults, ContextML": (SHORT | {"encoding": "contextml"}, QUERIES, True),
}
SILBOPS: dict[str, dict[str, Any]] = {"SilboPS": {"arm": "silbops"}, "SIENA": {"arm": "siena"}}


def digest(directory: Path, system: str, settings: Any, workload: Any, faults: Any) -> str:
    definition = {"name": "test", "system": system, "engine": SIMULATED, "topology": "t", "settings": settings}
    definition |= {"workload": workload, "faults": list(faults)}
    topology = {"name": "t", "kind": "custom", "brokers": RING.brokers, "positions": None}
    topology |= {"links": [link.to_json() for link in RING.links]}
    configuration = checked(definition, {"t": topology}.get)[1][0]
    document = run_document(configuration, run="r1", seed=1, directory=str(directory))
    return simulate(Deployment.from_json(document, SIMULATED)).digest


def main(directory: Path) -> None:
    told = {
        name: digest(directory / name, "federation", settings, workload, FAULTS if has_faults else ())
        for name, (settings, workload, has_faults) in FEDERATION.items()
    }
    told |= {name: digest(directory / name, "silbops", one, PUBSUB, ()) for name, one in SILBOPS.items()}
    json.dump({"compiled": is_used(), "digest": told}, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
