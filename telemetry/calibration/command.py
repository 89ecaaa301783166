"""``python -m telemetry calibrate``: measure this machine, write its model down, and hold it against live runs."""

from __future__ import annotations

import shutil
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from overlay.runtime.calibrated import FILE
from overlay.services import ServiceModel
from telemetry.calibration import probes
from telemetry.calibration.fit import fit
from telemetry.calibration.live import supervisor
from telemetry.calibration.stages import Pace, observe, paces
from telemetry.manifest import code_version, library_versions, machine
from telemetry.storage import write_json

ROUNDS = 5
PROBES_S = 10.0
"""A round of the probes, and what standing brokers take."""
LAUNCH_S = 4.0
"""What a run takes beside its ramp and what is measured."""

Say = Callable[[str], None]


def add_flags(command: ArgumentParser) -> None:
    """What can be told to ``python -m telemetry calibrate``."""
    command.add_argument("--quick", action="store_true", help="a quarter of the time, for wider intervals")
    command.add_argument("--scale", type=float, help="the length of runs, 1 being the usual one")
    command.add_argument("--name", default="", help="what the machine is called in what is written")
    command.add_argument("--out", type=Path, help="the file of the model (default: calibration.json below --var)")


def calibrate(given: Namespace, say: Say, now: datetime) -> Path:
    """Measure, fit and write; the model's file. Raises ``WaxwingError``, with the old one as it was."""
    scale = given.scale or (0.25 if given.quick else 1.0)
    model = measure(scale, given.name, say, now)
    path: Path = given.out or given.var / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, model.to_json())
    return path


def measure(scale: float, name: str, say: Say, now: datetime) -> ServiceModel:
    """The model of this machine, from live brokers and clients. ``scale`` shortens what is measured."""
    rounds, runs = max(2, round(ROUNDS * min(1.0, scale * 2))), paces(scale)
    left = Remaining([rounds * PROBES_S, *map(_takes_s, runs)], say)
    with supervisor() as client, _scratch() as directory:
        left.begin("processor of single messages")
        costs = probes.probe(client, rounds, say)
        memory = probes.memory(client, say)
        stages = {}
        for number, pace in enumerate(runs):
            left.begin(f"stages of requests, {pace.name}")
            stages[pace.name] = observe(client, pace, directory / f"pace-{number}")
    return fit(costs, memory, stages, provenance(name, scale, now))


def provenance(name: str, scale: float, now: datetime) -> dict[str, Any]:
    """Where, when and with what it was measured."""
    return {
        "name": name,
        "date": now.date().isoformat(),
        "scale": scale,
        "machine": machine(),
        "code": code_version(),
        "libraries": library_versions(),
    }


class Remaining:
    """Tells what is done next, and how long all of the rest will take if each step takes what it should."""

    def __init__(self, steps_s: Sequence[float], say: Say) -> None:
        self._steps = list(steps_s)
        self._say = say
        self._done = 0

    def begin(self, what: str) -> None:
        left_s = sum(self._steps[self._done :])
        self._done += 1
        self._say(f"{self._done} of {len(self._steps)}: {what} (about {left_s / 60:.1f} min left)")


def _takes_s(pace: Pace) -> float:
    return pace.request_interval_s + max(1.0, pace.duration_s) + LAUNCH_S


@contextmanager
def _scratch() -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(prefix="waxwing-"))
    try:
        yield directory
    finally:
        for _ in range(20):  # what was killed a moment ago may still be writing
            shutil.rmtree(directory, ignore_errors=True)
            if not directory.exists():
                break
            time.sleep(0.1)
