"""Measures one system on this machine as its plan says, and compares simulated with live runs.

Counterparts: ``plan`` is what a system declares; ``telemetry.cli.calibrate`` is the command.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from overlay.core.calibration import Calibration, Measured
from overlay.core.service_times import ServiceModel
from overlay.runtime.calibrated import model_of, reference
from overlay.runtime.logs.engines import VARIABLE
from overlay.runtime.logs.valkey.instance import own_instance
from overlay.runtime.own_supervisor import own_supervisor
from overlay.runtime.supervisor_client import SupervisorClient
from overlay.systems.contract import System
from telemetry.calibration.anchors import Compared, Ran, Reading, compare, document_for, run_live, run_simulated
from telemetry.calibration.plan import Anchor, Fitted, Probe
from telemetry.lake.manifest import code_version, library_versions, machine

ROUNDS = 3
"""Each round measures everything once, so that other load on the machine affects all measurements equally."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    rounds: int
    scale: float
    """Shortens the runs of probes."""
    anchor_s: float
    """For how long each run of an anchor is measured."""


FULL, QUICK = Effort(ROUNDS, 1 / ROUNDS, 12.0), Effort(1, 1 / ROUNDS, 6.0)


def measure(
    reading: Reading,
    known: Calibration,
    anchors: Sequence[Anchor],
    effort: Effort,
    origin: Mapping[str, Any],
    say: Say,
) -> tuple[Calibration, list[Compared]]:
    """``known`` with the measurements of the system in ``reading``, and its residuals on ``anchors``.

    ``origin`` is the first part of the provenance. Raises ``TelemetryError``.
    """
    system, plan = reading.system, reading.plan
    probes = plan.probes(effort.scale)
    with _scratch() as directory:
        with log_for(system), own_supervisor() as client:
            runs = _Runs(reading, anchors, effort, directory, say)
            results, live = runs.measure(client, probes)
        fitted = plan.fit(results)
        after = {"load_average_after": list(os.getloadavg()), "delays_of": _delays_of(known, fitted)}
        found = known.with_system(system.name, Measured(fitted.roles, {**origin, **after, **fitted.precision}))
        if fitted.deliveries is not None:
            found = Calibration(found.systems, fitted.deliveries)
        return found, runs.compare(live, model_of(found.over(reference()), system))


def assess(
    reading: Reading, known: Calibration, anchors: Sequence[Anchor], effort: Effort, origin: Mapping[str, Any], say: Say
) -> list[Compared]:
    """The residuals on ``anchors`` of what is ``known``, and of the reference for what it lacks. Measures no costs.

    Raises ``TelemetryError``.
    """
    with _scratch() as directory:
        runs = _Runs(reading, anchors, effort, directory, say)
        with log_for(reading.system), own_supervisor() as client:
            _, live = runs.measure(client, ())
        after = {**origin, "load_average_after": list(os.getloadavg())}
        compared = runs.compare(live, model_of(known.over(reference()), reading.system))
        return [replace(one, origin=after) for one in compared]


@contextmanager
def log_for(system: System) -> Iterator[None]:
    """In the environment: an engine of its own, if the system has a log and the environment names none. Raises
    ``NoEngine``."""
    if type(system).log_of is System.log_of or VARIABLE in os.environ:
        yield
        return
    with own_instance() as url:
        os.environ[VARIABLE] = url
        try:
            yield
        finally:
            del os.environ[VARIABLE]


def _delays_of(known: Calibration, fitted: Fitted) -> str:
    """The processor of another machine, of which the delays between processes are; empty if they are of this one."""
    if known.deliveries is not None or fitted.deliveries is not None:
        return ""
    machines = (one.measured.get("machine", {}) for one in reference().systems.values())
    return next((str(one["processor"]) for one in machines if one.get("processor")), "another machine")


def origin_of(name: str, effort: Effort, now: datetime) -> dict[str, Any]:
    """Machine, date and versions of a measurement."""
    return {
        "name": name,
        "date": now.date().isoformat(),
        "rounds": effort.rounds,
        "seeds": list(range(effort.rounds)),
        "scale": effort.scale,
        "machine": machine(),
        "code": code_version(),
        "libraries": library_versions(),
    }


class _Runs:
    """Everything that is measured live."""

    def __init__(self, reading: Reading, anchors: Sequence[Anchor], effort: Effort, directory: Path, say: Say) -> None:
        self._system, self._plan = reading.system, reading.plan
        self._reading, self._anchors = reading, anchors
        self._effort, self._directory, self._say = effort, directory, say

    def measure(
        self, client: SupervisorClient, probes: Sequence[Probe]
    ) -> tuple[dict[str, list[Any]], dict[str, list[Ran]]]:
        """The results of the probes and of the anchors, by name, one of each round."""
        results: dict[str, list[Any]] = defaultdict(list)
        live: dict[str, list[Ran]] = defaultdict(list)
        seeds = range(self._effort.rounds)
        steps_s = [
            took_s
            for seed in seeds
            for took_s in (*(probe.seconds for probe in probes), *map(self._run_s, self._anchors_of(seed)))
        ]
        left = Remaining(steps_s, self._say)
        for seed in seeds:
            for number, probe in enumerate(probes):
                left.begin(f"{self._system.name}, {probe.role}: {probe.name}")
                results[probe.name].append(probe.measure(client, self._directory / f"probe-{number}-{seed}"))
            for number, anchor in enumerate(self._anchors_of(seed)):
                left.begin(f"{self._system.name}, anchor: {anchor.name}")
                document = self._document(anchor, self._directory / f"live-{number}-{seed}", seed)
                live[anchor.name].append(run_live(client, document, self._reading))
        return results, live

    def compare(self, live: Mapping[str, Sequence[Ran]], model: ServiceModel) -> list[Compared]:
        """The anchors' runs in virtual time, beside ``live``."""
        compared = []
        for number, anchor in enumerate(self._anchors):
            self._say(f"simulated, {number + 1} of {len(self._anchors)}: {self._system.name}, anchor: {anchor.name}")
            places = [(self._directory / f"simulated-{number}-{seed}", seed) for seed in range(len(live[anchor.name]))]
            simulated = [run_simulated(model, self._document(anchor, *place), self._reading) for place in places]
            compared.append(compare(anchor, live[anchor.name], simulated, self._configuration(anchor)))
        return compared

    def _anchors_of(self, seed: int) -> list[Anchor]:
        return [one for one in self._anchors if one.rounds is None or seed < one.rounds]

    def _measured_s(self, anchor: Anchor) -> float:
        return self._effort.anchor_s if anchor.seconds is None else anchor.seconds

    def _run_s(self, anchor: Anchor) -> float:
        return self._measured_s(anchor) + self._plan.around_s(anchor)

    def _document(self, anchor: Anchor, directory: Path, seed: int) -> dict[str, Any]:
        return document_for(anchor, self._plan, self._system, directory, seed, self._measured_s(anchor))

    def _configuration(self, anchor: Anchor) -> dict[str, Any]:
        """What the runs of an anchor have in common."""
        topology = f"{anchor.kind} of {anchor.brokers}"
        workload = self._plan.workload(anchor, self._measured_s(anchor))
        return {"topology": topology, "settings": dict(anchor.settings), "workload": workload}


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
