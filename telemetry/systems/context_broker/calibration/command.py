"""``make calibrate``: measures this machine, writes its model of service times, and compares it with live runs."""

from __future__ import annotations

import shutil
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from overlay.core.service_times import ServiceModel
from overlay.runtime.calibrated import FILE
from overlay.runtime.own_supervisor import own_supervisor
from telemetry.calibration.anchors import Anchor, Compared, Responses, compare, run_live, run_simulated
from telemetry.calibration.page import residuals_of, residuals_path, write_page
from telemetry.lake.manifest import code_version, library_versions, machine
from telemetry.lake.storage import write_json
from telemetry.systems.context_broker.calibration import probes
from telemetry.systems.context_broker.calibration.anchors import ANCHORS, GROWTH
from telemetry.systems.context_broker.calibration.fit import fit
from telemetry.systems.context_broker.calibration.stages import Pace, Stages, observe, paces, pooled

ROUNDS = 3
"""Each round measures everything once, so that other load on the machine affects all measurements equally."""
PROBES_S = 20.0
LAUNCH_S = 4.0
"""Overhead of a run, in addition to its ramp and the measuring phase."""
ANCHOR_S = 12.0

Say = Callable[[str], None]


def add_flags(command: ArgumentParser) -> None:
    """Add the flags of ``python -m telemetry calibrate``."""
    command.add_argument("--quick", action="store_true", help="a third of the time, for wider intervals")
    command.add_argument("--no-anchors", action="store_true", help="only measure; skip the comparison with live runs")
    command.add_argument(
        "--growth", action="store_true", help="also compare a central broker with a linear table with an indexed one"
    )
    command.add_argument("--name", default="this machine", help="name of the machine in the output")
    command.add_argument("--model", type=Path, help="the model's file (default: calibration.json in --var)")
    command.add_argument("--page", type=Path, help="write the residuals' page and chart here, as Markdown and SVG")


def calibrate(given: Namespace, say: Say, now: datetime) -> Path:
    """Measure, fit, compare and write; returns the model's file. Raises ``WaxwingError`` and leaves the old file."""
    rounds, scale = (1, 1 / ROUNDS) if given.quick else (ROUNDS, 1 / ROUNDS)
    anchors = () if given.no_anchors else (*ANCHORS, *(GROWTH if given.growth else ()))
    model, compared = measure(rounds, scale, given.name, say, now, anchors)
    path: Path = given.model or given.var / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, model.to_json())
    if compared:
        residuals = residuals_of(compared, model)
        write_json(residuals_path(path), residuals)
        if given.page:
            write_page(given.page, residuals)
    return path


def measure(
    rounds: int, scale: float, name: str, say: Say, now: datetime, anchors: Sequence[Anchor] = ANCHORS
) -> tuple[ServiceModel, list[Compared]]:
    """The model of this machine from live brokers and clients, and its residuals on ``anchors``.

    ``scale`` shortens each run. Raises ``TelemetryError``.
    """
    runs = paces(scale)
    steps_s = [PROBES_S, *map(_takes_s, runs), *(len(anchors) * [ANCHOR_S * scale * ROUNDS + 2 * LAUNCH_S])]
    left = Remaining(steps_s * rounds, say)
    costs: probes.Costs = {}
    memory: probes.Costs = {}
    stages: dict[str, list[Stages]] = defaultdict(list)
    live: dict[str, list[Responses]] = defaultdict(list)
    duration_s = max(2.0, ANCHOR_S * scale * ROUNDS)
    with _scratch() as directory:
        with own_supervisor() as client:
            for seed in range(rounds):
                left.begin("processor and memory of single messages")
                _extend(costs, probes.probe(client))
                _extend(memory, probes.memory(client))
                for number, pace in enumerate(runs):
                    left.begin(f"stages of requests, {pace.name}")
                    stages[pace.name].append(observe(client, pace, directory / f"pace-{number}-{seed}"))
                for number, anchor in enumerate(anchors):
                    left.begin(f"anchor, {anchor.name}")
                    here = directory / f"live-{number}-{seed}"
                    live[anchor.name].append(run_live(client, anchor, here, seed, duration_s))
        known = {pace: pooled(parts) for pace, parts in stages.items()}
        model = fit(costs, memory, known, provenance(name, rounds, scale, now))
        compared = []
        for number, anchor in enumerate(anchors):
            simulated = [
                run_simulated(model, anchor, directory / f"simulated-{number}-{seed}", seed, duration_s)
                for seed in range(rounds)
            ]
            compared.append(compare(anchor, live[anchor.name], simulated))
    return model, compared


def _extend(known: probes.Costs, more: probes.Costs) -> None:
    for name, values in more.items():
        known.setdefault(name, []).extend(values)


def provenance(name: str, rounds: int, scale: float, now: datetime) -> dict[str, Any]:
    """Machine, date and versions of the measurement."""
    return {
        "name": name,
        "date": now.date().isoformat(),
        "rounds": rounds,
        "scale": scale,
        "machine": machine(),
        "code": code_version(),
        "libraries": library_versions(),
    }


class Remaining:
    """Reports the next step and the estimated time for the remaining ones."""

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
        for _ in range(20):  # a process killed a moment ago may still be writing
            shutil.rmtree(directory, ignore_errors=True)
            if not directory.exists():
                break
            time.sleep(0.1)
