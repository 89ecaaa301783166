"""What the clients of one process share, and what a client keeps of a call."""

from __future__ import annotations

from dataclasses import dataclass

from overlay.load.tally import Tally
from overlay.load.windows import Windows
from overlay.systems.radiator.load.contents import Contents
from overlay.systems.radiator.load.population import Population
from overlay.systems.radiator.load.turns import Turns
from overlay.systems.radiator.middleware.calls import Call
from overlay.systems.radiator.settings import Settings
from overlay.systems.radiator.tracing import Repeats
from overlay.systems.radiator.workload import Workload


@dataclass(slots=True)
class Shared:
    """What the clients of one process share."""

    settings: Settings
    workload: Workload
    windows: Windows
    population: Population
    turns: Turns
    contents: Contents
    seed: int
    wall_offset: int
    """Unix nanoseconds minus ``now``."""
    tally: Tally
    repeats: Repeats


@dataclass(slots=True, eq=False)
class Calling:
    """A call under way."""

    call: Call
    instance: int
    intended: int
    sent: int
