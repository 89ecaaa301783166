"""Starts a Spark cluster: ``python -m telemetry spark master`` and ``... spark worker spark://HOST:7077``.

The package has no ``sbin``. This module starts the same two classes with the Java of reports, in the foreground, for
process managers such as Docker or systemd, or for a terminal. Workers need this code, its libraries and
``var/`` at the same paths as the submitting machine (a shared file system), and the same minor version of Python.
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

from overlay.core.errors import InvalidSetting
from telemetry.errors import TelemetryError
from telemetry.spark import EXECUTOR_MEMORY
from telemetry.spark.java import find_java

PORT = 7077
CLASSES = {"master": "org.apache.spark.deploy.master.Master", "worker": "org.apache.spark.deploy.worker.Worker"}
LOOPBACK = "127.0.0.1"
_URL = re.compile(r"spark://[^/\s:]+:\d{1,5}(,[^/\s:]+:\d{1,5})*")
# Workers delete files of applications after an hour.
_WORKER_OPTIONS = "-Dspark.worker.cleanup.enabled=true -Dspark.worker.cleanup.appDataTtl=3600"


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of both roles."""
    roles = parser.add_subparsers(dest="role", required=True)
    master = roles.add_parser("master", help="distributes work; one per cluster")
    worker = roles.add_parser("worker", help="executes tasks; one per machine")
    worker.add_argument("master", metavar="spark://HOST:PORT", help="the master, or several for failover")
    worker.add_argument("--cores", type=int, default=os.cpu_count() or 1, help="parallel tasks (%(default)s)")
    worker.add_argument("--memory", default="1g", help="for all tasks, such as 512m or 4g (%(default)s)")
    master.add_argument("--host", default=LOOPBACK, help="the name that others use to connect (%(default)s)")
    worker.add_argument(
        "--host", help="the same (default: this machine's address, or loopback if the master is on loopback)"
    )
    for role, port in ((master, PORT), (worker, 0)):
        role.add_argument("--port", type=int, default=port, help="0 chooses a free port (%(default)s)")
        role.add_argument("--webui-port", type=int, default=0, help="port of its status page; 0 chooses a free port")


def command(given: argparse.Namespace) -> list[str]:
    """The command line to run. Raises ``InvalidSetting``."""
    words = [str(_home() / "bin" / "spark-class"), CLASSES[given.role]]
    words += ["--port", str(given.port), "--webui-port", str(given.webui_port)]
    if given.role == "master":
        return [*words, "--host", given.host]
    if not _URL.fullmatch(given.master):
        raise InvalidSetting("master", f"must look like spark://HOST:{PORT}, not {given.master!r:.60}")
    if given.cores < 1:
        raise InvalidSetting("cores", f"must be at least 1, not {given.cores}")
    if not re.fullmatch(r"[1-9]\d*[mg]", given.memory):
        raise InvalidSetting("memory", f"must be a number with m or g, such as 512m, not {given.memory!r:.20}")
    if int(given.memory[:-1]) * {"m": 1, "g": 1024}[given.memory[-1]] < int(EXECUTOR_MEMORY[:-1]):
        raise InvalidSetting("memory", f"must be at least {EXECUTOR_MEMORY}, the memory of one executor")
    scratch = str(Path(tempfile.gettempdir()) / f"waxwing-spark-worker-{os.getpid()}")
    if host := given.host or (LOOPBACK if given.master.startswith(f"spark://{LOOPBACK}:") else None):
        words += ["--host", host]
    return [*words, "--cores", str(given.cores), "--memory", given.memory, "--work-dir", scratch, given.master]


def environment(var: Path) -> dict[str, str]:
    """The environment to run it in; existing values take precedence. Raises ``TelemetryError`` without a Java."""
    ours = {"SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": "-XX:+UseSerialGC"}
    ours |= {"SPARK_WORKER_OPTS": _WORKER_OPTIONS}
    home = {"SPARK_HOME": str(_home()), "JAVA_HOME": str(find_java(var))}
    return {**ours, **os.environ, **home}


def run(given: argparse.Namespace) -> NoReturn:
    """Become the master or the worker. Raises ``InvalidSetting`` and ``TelemetryError``."""
    words = command(given)
    os.execve(words[0], words, environment(given.var))  # noqa: S606


def _home() -> Path:
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        raise TelemetryError("Spark is not installed; `make up` installs it.")
    return Path(found.origin).parent
