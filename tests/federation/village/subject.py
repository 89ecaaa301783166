"""The federation for ``tests.soak``."""

from __future__ import annotations

from tests.federation.village.bugs import BUGS
from tests.federation.village.plan import draw
from tests.federation.village.story import run
from tests.soak.subject import Subject


def faults(seed):
    return sorted(draw(seed).faults)


def drawn(seed):
    plan = draw(seed)
    return [
        f"{plan.brokers} brokers, links {plan.links}; {plan.providers} providers, {plan.consumers} consumers",
        f"{plan.events} events",
        str(plan.shape),
        str(plan.settings),
    ]


SUBJECT = Subject("federation", run, faults, drawn, BUGS)
