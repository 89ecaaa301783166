"""Reads and writes the figures of a benchmark as JSON, with the machine and the versions."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure

ROOT = Path(__file__).resolve().parent.parent
BASELINE = ROOT / "benchmarks" / "baseline.json"


@dataclass(frozen=True)
class Record:
    """Figures, and where and when they were measured."""

    figures: Sequence[Figure]
    lacking: dict[str, str] = field(default_factory=dict)
    """By section: why it, or the rest of it, was not measured."""
    surroundings: dict[str, str] = field(default_factory=dict)
    taken: dict[str, str] = field(default_factory=dict)
    """By section: the time, the commit, the processor and the machine's load."""

    def over(self, earlier: Record) -> Record:
        """This record, completed with the sections of ``earlier`` that were not measured now."""
        kept = [each for each in earlier.figures if each.section not in self.taken]
        lacking = {name: why for name, why in earlier.lacking.items() if name not in self.taken}
        return Record(
            [*kept, *self.figures], lacking | self.lacking, self.surroundings, {**earlier.taken, **self.taken}
        )


def write(record: Record, path: Path) -> None:
    """Write ``record`` as JSON."""
    content = {
        "surroundings": record.surroundings,
        "taken": record.taken,
        "lacking": record.lacking,
        "figures": [asdict(each) for each in record.figures],
    }
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read(path: Path) -> Record:
    """The record at ``path``. Raises ``OSError`` or ``ValueError`` if it cannot be read."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    try:
        figures = [Figure(**each) for each in content["figures"]]
        return Record(figures, content["lacking"], content["surroundings"], content["taken"])
    except (KeyError, TypeError) as reason:
        raise ValueError(f"{path} is not a record of a benchmark: {reason}") from reason


def surroundings() -> dict[str, str]:
    """The machine but for its processor, and the versions, each as text."""
    return {
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "system": f"{platform.system()} {platform.release()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "compiler": _answer("gcc", "--version").partition("\n")[0],
    }


def now() -> str:
    """The time, the commit (``+``: the tree is modified), the processor and the load of the last minute."""
    commit = _answer("git", "describe", "--always", "--dirty=+")
    when, load = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC", f"load average {os.getloadavg()[0]:.1f} before"
    return f"{when} at {commit}, {_processor()}, {load}"


def _answer(*command: str) -> str:
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "none"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
