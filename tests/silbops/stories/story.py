"""A run, and what must hold of it."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from overlay.core.engines import SIMULATED
from overlay.deployment.deployment import Deployment, run_document
from overlay.experiment.definition import checked
from overlay.journal.journal import read_journal
from overlay.sim import engine
from overlay.sim.actors import CheckedActor
from overlay.systems.silbops.measuring import measures
from tests.silbops.stories.plan import Plan, draw
from tests.soak.subject import Told

TWICE_EVERY = 20
"""One seed in so many is run twice."""


def run(seed: int) -> Told:
    """Raises ``AssertionError`` where something that must hold does not."""
    told = lived(seed)
    if seed % TWICE_EVERY == 0:
        assert lived(seed) == told, "equal seeds give different runs"
    return told


def lived(seed: int) -> Told:
    plan = draw(seed)
    with TemporaryDirectory() as directory, patch.object(engine, "NodeActor", CheckedActor):
        ended = engine.simulate(deployment(plan, seed, Path(directory)))
        found = dict(measures(read_journal(engine.journal_path(Path(directory)))))
    check(found, plan)
    return Told(ended.digest, ended.delivered, float(plan.workload["duration_s"]))


def deployment(plan: Plan, seed: int, directory: Path) -> Deployment:
    definition = {"name": "story", "system": "silbops", "engine": SIMULATED, "topology": "t", "seed": seed}
    definition |= {"settings": plan.settings, "workload": plan.workload, "faults": plan.faults}
    definition |= {"simulation": {"service_times": "none"}}
    topology: dict[str, Any] = {"name": "t", "kind": "custom", "brokers": plan.brokers, "positions": None}
    topology["links"] = [{"a": one, "b": other, **plan.shape} for one, other in plan.links]
    configuration = checked(definition, {"t": topology}.get)[1][0]
    document = run_document(configuration, run="r1", seed=seed, directory=str(directory))
    return Deployment.from_json(json.loads(json.dumps(document)), SIMULATED)


def check(found: dict[str, Any], plan: Plan) -> None:
    """Nothing spurious and nothing twice, whatever breaks; nothing lost while nothing is down."""
    wrong = {name: found[name] for name in ("lost", "spurious", "duplicates", "refused") if found[name]}
    if plan.breaks:
        wrong.pop("refused", None)
        wrong.pop("duplicates", None)
    assert not wrong, wrong
