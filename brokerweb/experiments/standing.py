"""Finished runs that stand for those of a launch: same configuration, seed and code.

The configuration hash names what is run, and the manifest says by which code: a digest of its files, and for simulated
runs the service times. Runs without a manifest that says so, what-if runs and runs without samples stand for nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from brokerweb.experiments.models import Run, RunState
from brokerweb.kit.ids import in_chunks
from overlay.core.chance import derive_seed
from overlay.core.engines import SIMULATED
from overlay.experiment.sweeps import configuration_hash
from overlay.runtime.calibrated import services_of
from telemetry.errors import TelemetryError
from telemetry.lake.runs import RunFiles
from telemetry.sweep.simulation import simulator_version

Pair = tuple[dict[str, Any], int]
"""A configuration and a replicate."""
CODE = "code_digest"
"""In the manifest of a live run."""


@dataclass(frozen=True, slots=True)
class Stand:
    """A run that is not launched, and the finished one that stands for it."""

    configuration_hash: str
    replicate: int
    run: str
    verdict: str


def split(pairs: Sequence[Pair], seed: int) -> tuple[list[Pair], list[Stand]]:
    """The pairs to launch, and those that finished runs stand for. ``seed`` is the experiment's."""
    if not pairs:
        return [], []
    hashes = {id(configuration): configuration_hash(configuration) for configuration, _ in pairs}
    finished = _finished(hashes.values(), made_by(pairs[0][0]))
    left, stands = [], []
    for configuration, replicate in pairs:
        name = hashes[id(configuration)]
        run = finished.get((name, str(derive_seed(seed, replicate))))
        if run is None:
            left.append((configuration, replicate))
        else:
            stands.append(Stand(name, replicate, run.pk, run.verdict))
    return left, sorted(stands, key=lambda one: (one.configuration_hash, one.replicate))


def made_by(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """What runs a configuration now, as manifests say it. The same for all configurations of an experiment."""
    digest = simulator_version(configuration["system"])
    if configuration["engine"] != SIMULATED:
        return {CODE: digest}
    services = services_of(configuration, settings.VAR)
    return {"simulator": digest, "service_times": json.loads(json.dumps(services.to_json())) if services else None}


def _finished(hashes: Iterable[str], code: Mapping[str, Any]) -> dict[tuple[str, str], Run]:
    """The newest finished run of each configuration and seed that this code made."""
    found: dict[tuple[str, str], Run] = {}
    done = Run.objects.unchanged().filter(state=RunState.DONE, files_removed=None).order_by("-created", "position")
    for chunk in in_chunks(sorted(set(hashes))):
        rows = done.filter(configuration_hash__in=chunk).only("configuration_hash", "seed", "verdict")
        for run in rows:
            place = run.configuration_hash, run.seed
            if place not in found and _is_by(run, code):
                found[place] = run
    return found


def _is_by(run: Run, code: Mapping[str, Any]) -> bool:
    try:
        manifest = RunFiles(settings.RUNS / run.pk).read_manifest()
    except TelemetryError:
        return False
    return all(name in manifest and manifest[name] == value for name, value in code.items())
