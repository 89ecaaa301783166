"""The clients of one process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from overlay.core.addresses import Address
from overlay.faults.churn import Change
from overlay.load.tally import Tally
from overlay.load.windows import Windows
from overlay.systems.radiator.load.caller import Caller
from overlay.systems.radiator.load.contents import Contents
from overlay.systems.radiator.load.population import population
from overlay.systems.radiator.load.shared import Shared
from overlay.systems.radiator.load.turns import turns
from overlay.systems.radiator.settings import Settings
from overlay.systems.radiator.tracing import Repeats
from overlay.systems.radiator.workload import Workload


class Fleet:
    """Clients by number; ``changes`` are the departures and returns of each."""

    def __init__(
        self,
        numbers: Sequence[int],
        server: Address,
        settings: Settings,
        workload: Workload,
        windows: Windows,
        changes: Mapping[int, Sequence[Change]],
        *,
        seed: int,
        wall_offset_ns: int,
    ) -> None:
        people = population(workload, settings.scenario, seed)
        contents = Contents(workload, settings.scenario, people, seed)
        self.tally = Tally()
        self._shared = Shared(
            settings,
            workload,
            windows,
            people,
            turns(workload, seed),
            contents,
            seed,
            wall_offset_ns,
            self.tally,
            Repeats(settings.trace_one_in),
        )
        self.clients = [Caller(number, server, changes.get(number, ()), self._shared) for number in numbers]

    def set_wall_clock(self, offset_ns: int) -> None:
        self._shared.wall_offset = offset_ns
