"""ContextNet for ``tests.soak``."""

from __future__ import annotations

from collections.abc import Sequence

from tests.contextnet.stories.bugs import BUGS
from tests.contextnet.stories.plan import draw
from tests.contextnet.stories.story import run
from tests.soak.subject import Subject


def faults(seed: int) -> list[str]:
    return [one["what"] for one in draw(seed).faults]


def drawn(seed: int) -> Sequence[str]:
    plan = draw(seed)
    return [", ".join(plan.servers), str(plan.settings), str(plan.workload), str(plan.faults)]


SUBJECT = Subject("contextnet", run, faults, drawn, BUGS)
