"""Radiator for ``tests.soak``."""

from __future__ import annotations

from tests.radiator.swarm import whole
from tests.radiator.swarm.bugs import BUGS
from tests.radiator.swarm.plan import draw
from tests.radiator.swarm.story import run
from tests.soak.subject import Subject


def faults(seed: int) -> list[str]:
    if whole.is_whole(seed):
        return [fault["what"] for fault in whole.draw(seed)["faults"]]
    return sorted(draw(seed).faults)


def drawn(seed: int) -> list[str]:
    if whole.is_whole(seed):
        return [f"{name}: {value}" for name, value in whole.draw(seed).items()]
    plan = draw(seed)
    return [
        f"{plan.clients} clients, {plan.p2p_share:.0%} in chains; {plan.calls} calls ({plan.pace})",
        f"drivers are {plan.late_ms} ms late",
        str(plan.shape),
        str(plan.settings),
    ]


SUBJECT = Subject("radiator", run, faults, drawn, BUGS)
