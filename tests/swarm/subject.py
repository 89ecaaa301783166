"""The context broker for ``tests.soak``."""

from __future__ import annotations

from collections.abc import Iterator

from tests.soak.cores import over_cores
from tests.soak.subject import Subject
from tests.swarm.bugs import BUGS
from tests.swarm.plan import draw
from tests.swarm.story import run
from tests.swarm.targets import ROWS, Row


def drawn(seed: int) -> list[str]:
    plan = draw(seed)
    took = f"{plan.service_scale} times as long as tests.swarm.served has it" if plan.service_scale else "no time"
    return [
        f"{plan.graph.brokers} brokers",
        f"what brokers do takes {took}; linear tables are {'scanned' if plan.scans else 'modelled'}",
        str(plan.shape),
        str(plan.config),
    ]


def targets(processes: int) -> Iterator[str]:
    """What is measured of each promise; one that is not kept is said, and is no failure of a seed."""
    yield "\n| what is promised, in virtual time | measured | kept |\n|---|---|---|"
    for name, row in over_cores(measure, ((name,) for name in ROWS), processes):
        yield f"| {name}: {ROWS[name].__doc__} | {row.figure} | {'yes' if row.is_held else 'NO'} |"


def measure(name: str) -> tuple[str, Row]:
    return name, ROWS[name](1)


SUBJECT = Subject("context-broker", run, lambda seed: draw(seed).faults, drawn, BUGS, targets)
