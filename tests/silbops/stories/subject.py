"""SilboPS and SIENA for ``tests.soak``."""

from __future__ import annotations

from collections.abc import Sequence

from tests.silbops.stories.bugs import BUGS
from tests.silbops.stories.plan import draw
from tests.silbops.stories.story import run
from tests.soak.subject import Subject


def faults(seed: int) -> list[str]:
    return [one["what"] for one in draw(seed).faults]


def drawn(seed: int) -> Sequence[str]:
    plan = draw(seed)
    network = f"{plan.brokers} brokers, links {plan.links} {plan.shape}"
    return [network, str(plan.settings), str(plan.workload), str(plan.faults)]


SUBJECT = Subject("silbops", run, faults, drawn, BUGS)
