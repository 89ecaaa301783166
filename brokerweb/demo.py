"""Contents of a new installation: an operator, topologies, and an experiment that is launched with a report.

Idempotent: existing objects are not changed.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from brokerweb.accounts.services import make_operator
from brokerweb.experiments import services as experiments
from brokerweb.experiments.models import Experiment
from brokerweb.storage import free_space
from brokerweb.topologies import services as topologies
from brokerweb.topologies.models import Topology

SHAPED = {"delay_ms": 0.5, "delay_spread_ms": 4.5}
"""Links of 0.5 to 5 ms each way, as between data centres of a region: loopback hops are too fast to see."""

TOPOLOGIES: dict[str, dict[str, Any]] = {
    "Ring of 10": {"kind": "ring", "brokers": 10, "params": SHAPED},
    "Full mesh of 10": {"kind": "full-mesh", "brokers": 10, "params": SHAPED},
    "Waxman of 10": {"kind": "waxman", "brokers": 10, "params": {**SHAPED, "mean_degree": 2.0}, "seed": 1},
    "One central broker": {"kind": "central", "brokers": 1},
}

EXPERIMENT = "Ring, full mesh and Waxman, with 10 brokers, against one central broker"
WORKLOAD = {
    "providers": 10,
    "consumers": 50,
    "update_interval_s": 1.0,
    "request_interval_s": 0.25,
    "duration_s": 3.0,
    "stagger_ms": 10.0,
    "entities": 10,
}
"""Twelve runs of about 8 s each, finished within two minutes on two cores.

Each provider describes its own entity. If all data were the same, as in the thesis, nearly every request would be
answered by the first broker, and topologies would differ only by noise.
"""


def first_start() -> None:
    """Create missing objects. Launches the demo experiment only when it creates it and disk space is available."""
    operator = make_operator()
    if Experiment.objects.filter(demo=True).exists():
        return
    with transaction.atomic():
        experiment = experiments.create(
            {
                "name": EXPERIMENT,
                "topology": [_topology(name, operator).pk for name in TOPOLOGIES],
                "workload": WORKLOAD,
                "replicates": 3,
                "seed": 1,
            },
            operator,
            report_when_done=True,
            demo=True,
        )
        if not free_space.refusal():  # otherwise it can be launched later
            experiments.launch(experiment, operator)


def _topology(name: str, owner: User) -> Topology:
    existing = Topology.objects.filter(name=name).first()
    return existing or topologies.create(name=name, owner=owner, **TOPOLOGIES[name])
