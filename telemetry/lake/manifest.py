"""The conditions of a run: everything needed to repeat or to assess it."""

from __future__ import annotations

import os
import platform
import subprocess
import zlib
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil

import overlay
from overlay.compiled.finder import is_used
from overlay.experiment.definition import graph_of, schedule_of
from overlay.runtime.datagrams import choose
from overlay.systems.registry import SYSTEMS

LIBRARIES = ("hdrhistogram", "msgpack", "networkx", "numpy", "psutil", "pyarrow", "pyspark")
"""The libraries whose version can affect a figure."""


def make_manifest(
    run: str,
    *,
    seed: int,
    system: str,
    topology: Mapping[str, Any],
    settings: Mapping[str, Any],
    workload: Mapping[str, Any],
    now: datetime,
    engine: str = "live",
    **more: Any,
) -> dict[str, Any]:
    """The manifest of ``run``. Call it at the start of the run, because it contains the current load and governor.

    ``topology`` has ``name``, ``kind``, ``brokers`` and ``links`` ({a, b, delay_ms, jitter_ms, loss}); ``more`` are
    further values by name, such as ``replicate`` and ``configuration_hash``. ``derived`` are the system's own, such as
    a computed capacity.
    """
    return {
        "run": run,
        "seed": seed,
        "system": system,
        "engine": engine,
        "topology": dict(topology),
        "settings": dict(settings),
        "workload": dict(workload),
        "schedule": asdict(
            schedule_of({"system": system, "topology": topology, "settings": settings, "workload": workload})
        ),
        "started": now.astimezone(UTC).isoformat(),
        "code": code_version(),
        "python": platform.python_version(),
        "libraries": library_versions(),
        "machine": machine(),
        "derived": dict(SYSTEMS[system].derived(SYSTEMS[system].setup(settings, workload, graph_of(topology), seed))),
        **more,
    }


@cache
def code_version() -> dict[str, Any]:
    """``{version, commit, modified}``; commit and modified are ``None`` outside a git checkout."""
    commit = _git("rev-parse", "HEAD")
    changes = _git("status", "--porcelain", "--untracked-files=no")
    return {"version": overlay.__version__, "commit": commit, "modified": None if changes is None else changes != ""}


def _git(*arguments: str) -> str | None:
    root = Path(overlay.__file__).resolve().parent.parent
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=5, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


@cache
def library_versions() -> dict[str, str | None]:
    """Versions by name, ``None`` if not installed."""
    return {**{name: _library_version(name) for name in LIBRARIES}, "zlib": zlib.ZLIB_RUNTIME_VERSION}


def _library_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def usable_cores() -> int:
    """The number of cores available to this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def machine() -> dict[str, Any]:
    """The machine and its current load. Load average over 1, 5 and 15 min; memory in bytes.

    ``datagrams`` is the brokers' implementation of receiving and sending (``overlay.runtime.datagrams``),
    ``hot_paths`` in which form this process runs what can be compiled (``overlay.compiled``).
    """
    return {
        "processor": _processor_model(),
        "cores": os.cpu_count() or 1,
        "usable_cores": usable_cores(),
        "memory_bytes": psutil.virtual_memory().total,
        "kernel": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "governor": _first_line(Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
        "load_average": list(os.getloadavg()),
        "datagrams": choose(),
        "hot_paths": "compiled" if is_used() else "plain Python",
    }


def _processor_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.machine())


def _first_line(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None
