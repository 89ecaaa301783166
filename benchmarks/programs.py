"""The benchmark's C programs (``benchmarks/c`` and those of a system), compiled at first use."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from benchmarks.figures import Unavailable
from benchmarks.record import ROOT

SOURCES = Path(__file__).resolve().parent / "c"
BUILT = ROOT / "var" / "bench"
FLAGS = ("-O2", "-std=gnu11", "-Wall", "-Wextra", "-Werror")
LIBRARIES = ("-lm",)


def program(name: str, sources: Path = SOURCES) -> Path:
    """The compiled ``<name>.c`` in ``sources``. Raises ``Unavailable`` without a compiler, or if compiling fails."""
    source, built = sources / f"{name}.c", BUILT / name
    newest = max(path.stat().st_mtime for path in (source, *SOURCES.glob("*.h"), *sources.glob("*.h")))
    if built.exists() and built.stat().st_mtime > newest:
        return built
    if shutil.which("gcc") is None:
        raise Unavailable("needs gcc: apt-get install gcc libc6-dev")
    BUILT.mkdir(parents=True, exist_ok=True)
    fresh = built.with_suffix(f".{os.getpid()}")  # another benchmark may be using or compiling the current file
    command = ("gcc", *FLAGS, f"-I{SOURCES}", "-o", str(fresh), str(source), *LIBRARIES)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"gcc cannot compile {source.name}: {done.stderr.strip()}")
    return fresh.replace(built)
