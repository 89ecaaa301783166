"""A run, and what must hold of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from overlay.core.engines import SIMULATED
from overlay.core.node import SECOND
from overlay.deployment.deployment import Deployment, run_document
from overlay.experiment.definition import checked
from overlay.journal.journal import read_journal
from overlay.sim import engine
from overlay.sim.actors import CheckedActor
from overlay.sim.simulator import Outgoing
from overlay.systems.silbops.load.plans import client_name
from overlay.systems.silbops.measuring.figures import of_run
from overlay.systems.silbops.measuring.records import Facts
from overlay.systems.silbops.rows import ContextSet, Delivered
from tests.silbops.stories.plan import Plan, draw
from tests.soak.subject import Told

TWICE_EVERY = 20
"""One seed in so many is run twice."""
TOLD = ("in_adv", "in_unadv", "in_ctx", "in_sub", "in_unsub", "in_forget")
MOST_TOLD = 1_500
"""What a broker hears about tables in a simulated second: some hundreds, unless two tell each other without end."""


class Watched(CheckedActor):
    __slots__ = ("_before", "_second")

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._second = self._before = 0

    def step(self, now: int) -> Sequence[Outgoing]:
        outgoing = super().step(now)
        told = sum(self.node.peers.counters[name] for name in TOLD)  # type: ignore[attr-defined]
        if now // SECOND != self._second:
            self._second, self._before = now // SECOND, told
        assert told - self._before <= MOST_TOLD, "brokers tell each other without end"
        return outgoing


def run(seed: int) -> Told:
    """Raises ``AssertionError`` where something that must hold does not."""
    told = lived(seed)
    if seed % TWICE_EVERY == 0:
        assert lived(seed) == told, "equal seeds give different runs"
    return told


def lived(seed: int) -> Told:
    plan = draw(seed)
    with TemporaryDirectory() as directory, patch.object(engine, "NodeActor", Watched):
        planned = deployment(plan, seed, Path(directory))
        ended = engine.simulate(planned)
        facts = Facts.of(read_journal(engine.journal_path(Path(directory))))
    check(facts, plan)
    assert facts.end_us < facts.measured_us + 1e6 * planned.schedule.drain_s, "it does not come to rest"
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


def check(facts: Facts, plan: Plan) -> None:
    """Nothing spurious, nothing lost but by what was down, nothing twice, late only by the old way of who has moved.

    A publisher whose broker was ended has another key at the next: what the old one had passed on and not acknowledged
    is sent again, and counts as a duplicate. Publishers renew no advertisement, so that with ``ttl_s`` all end.
    """
    has_validity = check_validity(facts, plan.settings.get("ttl_s", 0))
    found = {**of_run(facts), "repeated": repeated(facts)}
    allowed = {"refused", "duplicates"} if plan.ends_brokers else set[str]()
    if plan.workload["handover_interval_s"]:
        allowed.add("late")
    if has_validity:
        allowed.add("refused")
    if plan.may_lose:
        allowed.add("lost")
    names = {"lost", "spurious", "duplicates", "refused", "repeated", "late"} - allowed
    wrong = {name: found[name] for name in sorted(names) if found[name]}
    assert not wrong, wrong


def check_validity(facts: Facts, ttl_s: float) -> bool:
    """Whether the run has a validity. Nobody renews advertisements, so they end; a context renews subscriptions."""
    assert facts.has_ended_rows == bool(ttl_s), "advertisements end when their validity is over, and else do not"
    renewed = [(one.client, one.called_us, one.accepted_us) for one in facts.rows[ContextSet] if one.accepted_us]
    for event in facts.events:
        if event.name == "ValidityEnded" and event.detail["table"] == "subscriptions":
            owner, began_us = client_name(bytes.fromhex(event.detail["client"])), event.at_us - ttl_s * 1e6
            assert not any(
                client == owner and began_us < called_us and accepted_us < event.at_us
                for client, called_us, accepted_us in renewed
            ), f"a subscription of {owner} has ended though its context was set"
    return bool(ttl_s)


def repeated(facts: Facts) -> int:
    """Notifications that an application got from the same publisher's key again."""
    got = Counter((one.client, one.publisher, one.number) for one in facts.rows[Delivered])
    return got.total() - len(got)
