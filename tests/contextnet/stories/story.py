"""A run, and what must hold of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
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
from overlay.sim.simulator import Outgoing
from overlay.systems.contextnet.measuring.figures import measures
from tests.contextnet.stories.plan import Plan, draw
from tests.soak.subject import Told

TWICE_EVERY = 20
"""One seed in so many is run twice."""
MOST_STEPS = 2_000
"""Of a server at one instant: some dozens, unless it spins."""


class Watched(CheckedActor):
    __slots__ = ("_instant", "_steps")

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._instant = self._steps = 0

    def step(self, now: int) -> Sequence[Outgoing]:
        if now != self._instant:
            self._instant, self._steps = now, 0
        self._steps += 1
        assert self._steps <= MOST_STEPS, "a server is stepped again and again, and no time passes"
        return super().step(now)


def run(seed: int) -> Told:
    """Raises ``AssertionError`` where something that must hold does not."""
    told = lived(seed)
    if seed % TWICE_EVERY == 0:
        assert lived(seed) == told, "equal seeds give different runs"
    return told


def lived(seed: int) -> Told:
    plan = draw(seed)
    with TemporaryDirectory() as directory, patch.object(engine, "NodeActor", Watched):
        ended = engine.simulate(deployment(plan, seed, Path(directory)))
        found = measures(read_journal(engine.journal_path(Path(directory))))
    check(found, plan)
    return Told(ended.digest, ended.delivered, ended.simulated_s)


def deployment(plan: Plan, seed: int, directory: Path) -> Deployment:
    definition = {"name": "story", "system": "contextnet", "engine": SIMULATED, "seed": seed}
    definition |= {"settings": plan.settings, "workload": plan.workload, "faults": plan.faults}
    definition |= {"simulation": {"service_times": "none"}}
    configuration = checked(definition, {}.get)[1][0]
    document = run_document(configuration, run="r1", seed=seed, directory=str(directory))
    return Deployment.from_json(json.loads(json.dumps(document)), SIMULATED)


def check(found: dict[str, Any], plan: Plan) -> None:
    """Every message has its answer, nothing comes twice, and groups reach their members alone."""
    allowed = ({"lost", "late"} if plan.loses_records else set()) | ({"refused"} if plan.refuses else set())
    if plan.workload["link_loss"] or plan.faults:
        allowed.add("group_wrong")  # a context may take longer than measures allow for
    names = {"lost", "late", "expired", "evicted", "refused", "duplicates", "group_wrong"} - allowed
    wrong = {name: found[name] for name in sorted(names) if found.get(name)}
    assert not wrong, wrong
    assert found["sent"], "nothing was due"
