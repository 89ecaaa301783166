"""This benchmark for revisions from before the packages had rooms (2026-11-24): the same, by the names of then.

``compare`` measures an older tree with today's benchmark. What that imports of the tree is found by ``BEFORE`` in a
revision that has no ``overlay/core`` yet; a copy of the benchmark with the old names is what measures it.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

BEFORE = {
    "brokerweb.experiments.pace": "brokerweb.experiments.estimates",
    "overlay.core.addresses": "overlay.addresses",
    "overlay.core.chance": "overlay.chance",
    "overlay.core.engines": "overlay.engines",
    "overlay.core.node": "overlay.node",
    "overlay.deployment.phases": "overlay.phases",
    "overlay.journal.facts": "overlay.facts",
    "overlay.journal.journal": "overlay.journal",
    "overlay.load.response_times": "overlay.clients.response_times",
    "overlay.load.windows": "overlay.workload",
    "overlay.runtime.load_generator": "overlay.runtime.loadgen",
    "overlay.systems.context_broker.broker": "overlay.broker",
    "overlay.systems.context_broker.workload": "overlay.workload",
    "telemetry.systems.context_broker.lab.overlay": "overlay.sim.harness",
    "telemetry.lake.runs": "telemetry.runs",
    "telemetry.reports.progress": "telemetry.progress",
    "telemetry.statistics.intervals": "telemetry.intervals",
}
"""Old names by new ones: of all modules that the benchmark imports, and of no other."""
THEN = {
    "from overlay.systems.context_broker.system import SYSTEM\n": "",
    "run_fleet(\n            SYSTEM,": "run_fleet(",
}
"""What else was otherwise when there was one system: old text by new."""
_NAMES = re.compile(rf"\b({'|'.join(re.escape(name) for name in sorted(BEFORE, key=len, reverse=True))})\b")


def has_rooms(tree: Path) -> bool:
    """Whether the benchmark as it is finds there what it imports."""
    return (tree / "overlay" / "core").is_dir()


def copy_for_older(benchmarks: Path, to: Path) -> None:
    """The package at ``benchmarks``, copied to ``to`` with the names of before."""
    shutil.copytree(benchmarks, to, ignore=shutil.ignore_patterns("__pycache__"))
    for path in to.rglob("*.py"):
        text = path.read_text()
        for today, then in THEN.items():
            text = text.replace(today, then)
        path.write_text(_NAMES.sub(lambda found: BEFORE[found[0]], text))
