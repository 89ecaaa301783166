"""Creates the servers of a simulated network, with or without recording. Recordings have the format of live ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.journal.recorded import recorded
from overlay.journal.recording import Recorder, recording_path, recordings_in
from overlay.sim.simulator import WALL_OFFSET_NS
from overlay.systems.contract import System
from overlay.systems.cores import Server
from overlay.systems.recordings import recorder_of
from overlay.systems.roles import Place

MakeServer = Callable[[System, Any, Place, int], Server]
"""Creates a server from its system, configuration, place and random seed."""


def fresh_server(system: System, config: Any, place: Place, seed: int) -> Server:
    """A server without recording."""
    return system.make_server(config, place, Chances.streams(seed), WALL_OFFSET_NS, is_simulated=True)


class Recorders:
    """Creates recorded servers instead of ``fresh_server``; ``clock`` returns simulated nanoseconds.

    For a server with service times, output is recorded at the start of its service and leaves at the end.
    """

    def __init__(self, directory: Path, most_mb: int, clock: Callable[[], int]) -> None:
        """Deletes recordings of an earlier run from ``directory``, which would be mistaken for servers of this one."""
        for left in recordings_in(directory):
            left.unlink()
        self._directory = directory
        self._most_mb = most_mb
        self._clock = clock
        self._lives = Counter[Address]()
        self._recorders: list[Recorder] = []

    def __call__(self, system: System, config: Any, place: Place, seed: int) -> Server:
        self._lives[place.address] += 1
        life = self._lives[place.address]
        recorder = recorder_of(
            system,
            config,
            place,
            ("streams", seed),
            WALL_OFFSET_NS,
            path=recording_path(self._directory / f"{place.name}.journal", life),
            most_mb=self._most_mb,
            life=life,
        )
        self._recorders.append(recorder)
        return recorded(fresh_server(system, config, place, seed), recorder, self._clock, system.queries)

    def close(self) -> None:
        """Ends the run's recordings. Raises ``OSError`` if the disk is full."""
        for recorder in self._recorders:
            recorder.close()
