"""Adapts this benchmark to older revisions, so that ``compare`` measures every tree with the current benchmark.

Modules moved into folders in November 2026. If the older tree lacks a module's new name, a copy of the benchmark
imports it by its old name.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

NAME = "benchmarks"
BEFORE: dict[str, str | tuple[str, ...]] = {
    "brokerweb.experiments.evaluation": "brokerweb.experiments.judging",
    "brokerweb.experiments.run_durations": ("brokerweb.experiments.pace", "brokerweb.experiments.estimates"),
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
    "overlay.programs.context_broker.client": "overlay.runtime.client",
    "overlay.systems.context_broker.broker": "overlay.broker",
    "overlay.systems.context_broker.wire.codec": ("overlay.systems.context_broker.broker.wire", "overlay.broker.wire"),
    "overlay.systems.context_broker.wire.messages": (
        "overlay.systems.context_broker.broker.messages",
        "overlay.broker.messages",
    ),
    "overlay.systems.context_broker.workload": "overlay.workload",
    "overlay.systems.radiator.aggregation.options": "overlay.systems.radiator.aggregation.algorithm",
    "overlay.systems.radiator.wire.codec": "overlay.systems.radiator.wire.table",
    "telemetry.systems.context_broker.lab.overlay": "overlay.sim.harness",
    "telemetry.lake.runs": "telemetry.runs",
    "telemetry.reports.progress": "telemetry.progress",
    "telemetry.statistics.intervals": "telemetry.intervals",
}
"""Old names by new ones, of several the newest first: of all modules that the benchmark imports, and of no other."""
BEFORE_SETUPS = {
    "from overlay.systems.contract import Setup\n": "",
    "from overlay.topologies import Graph\n": "",
    "Setup(None, workload, Graph(1, ()), seed=1)": "workload,\n            seed=1",
}
"""Other differences of trees without ``Setup``: old text by new."""
BEFORE_SYSTEMS = {
    **BEFORE_SETUPS,
    "from overlay.systems.context_broker.system import SYSTEM\n": "",
    "run_fleet(\n            SYSTEM,": "run_fleet(",
    "import Workload, entity_name, make_payload, plan_clients": (
        "import Workload, entity_name, make_payload, plan_clients, ramp_s"
    ),
    "workload.ramp_s()": "ramp_s(workload)",
}
"""Other differences of trees with one system: old text by new."""
OWN = ("rows.py", "many_runs.py", "matrix.py")
"""Modules of the benchmark that an older tree keeps as they were, since they fill a database of its own."""


def package_for(tree: Path, scratch: Path) -> Path:
    """The directory of a benchmark that finds its imports in ``tree``: ``scratch``, which has today's, or a copy."""
    old, replaced = _old_names(tree), _replaced(tree)
    directory = scratch / f"for-{tree.name}"
    if not old and not replaced:
        return scratch
    if directory.exists():
        return directory
    shutil.copytree(scratch / NAME, directory / NAME, ignore=shutil.ignore_patterns("__pycache__"))
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, sorted(old, key=len, reverse=True))) or '(?!)'})\b")
    for path in directory.rglob("*.py"):
        text = path.read_text()
        for today, then in replaced.items():
            text = text.replace(today, then)
        path.write_text(pattern.sub(lambda found: old[found[0]], text))
    for name in OWN:
        if (own := tree / NAME / name).is_file():
            shutil.copyfile(own, directory / NAME / name)
    return directory


def _replaced(tree: Path) -> dict[str, str]:
    if not (tree / "overlay" / "core").is_dir():
        return BEFORE_SYSTEMS
    contract = tree / "overlay" / "systems" / "contract.py"
    return BEFORE_SETUPS if contract.is_file() and "class Setup" not in contract.read_text() else {}


def _old_names(tree: Path) -> dict[str, str]:
    """Of ``BEFORE``, what the tree has by an old name alone."""
    found = {}
    for new, old in BEFORE.items():
        names = (old,) if isinstance(old, str) else old
        there = next((name for name in names if _has(tree, name)), None)
        if there is not None and not _has(tree, new):
            found[new] = there
    return found


def _has(tree: Path, module: str) -> bool:
    path = tree / module.replace(".", "/")
    return path.is_dir() or path.with_suffix(".py").is_file()
