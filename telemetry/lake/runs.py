"""The files of a run.

::

    var/runs/<run>/manifest.json                        the conditions of the run
                   journal/<process>.journal            the facts of each process
                   journal/<process>.<life>.recording   input and output of each broker, if the run is recorded
                   traces.parquet                       traced queries, joined over all brokers, after collecting
                   messages.parquet                     every message, if the run is recorded
    var/lake/{samples,ticks,events,deliveries,...}/run=<run>/part-0.parquet
             SYSTEM.TABLE/run=<run>/part-0.parquet      a table that only one system has
             manifests/run=<run>/manifest.json          a copy, written last: a run with this file is complete
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from telemetry.errors import TelemetryError
from telemetry.lake.storage import plain, write_json

_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")


def checked_run_id(run: str) -> str:
    """``run`` if it is valid as the name of a directory and of a partition. Raises ``TelemetryError``."""
    if not _RUN_ID.fullmatch(run):
        raise TelemetryError(f"{run[:60]!r} is not a run's id: only letters, digits, dots, dashes and underscores.")
    return run


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The files of one run, in a directory with the run's name."""

    directory: Path

    @property
    def run(self) -> str:
        return checked_run_id(self.directory.name)

    @property
    def journal_directory(self) -> Path:
        return self.directory / "journal"

    @property
    def manifest_path(self) -> Path:
        return self.directory / "manifest.json"

    @property
    def traces_path(self) -> Path:
        return self.directory / "traces.parquet"

    @property
    def messages_path(self) -> Path:
        return self.directory / "messages.parquet"

    @property
    def holdings_path(self) -> Path:
        return self.directory / "holdings.parquet"

    def journal(self, process: str) -> Path:
        return self.journal_directory / f"{process}.journal"

    def journals(self) -> list[Path]:
        """All existing journals, by name."""
        return sorted(self.journal_directory.glob("*.journal"))

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        write_json(self.manifest_path, plain(manifest))

    def read_manifest(self) -> dict[str, Any]:
        """The manifest, or an empty one if the run has none. Raises ``TelemetryError``."""
        return read_manifest(self.manifest_path)


@dataclass(frozen=True, slots=True)
class Lake:
    """The Parquet files of all collected runs."""

    directory: Path

    def table(self, name: str) -> Path:
        return self.directory / name

    def part(self, name: str, run: str) -> Path:
        return self.table(name) / f"run={checked_run_id(run)}" / "part-0.parquet"

    def tables_of(self, run: str) -> list[str]:
        """The names of all tables with a part of ``run``, ``manifests`` included."""
        return sorted(part.parent.name for part in self.directory.glob(f"*/run={checked_run_id(run)}"))

    def manifest_path(self, run: str) -> Path:
        return self.directory / "manifests" / f"run={checked_run_id(run)}" / "manifest.json"

    def holds(self, run: str) -> bool:
        """Whether ``run`` was collected completely."""
        return self.manifest_path(run).is_file()


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest in a file, or ``{}`` if there is none. Raises ``TelemetryError`` if it cannot be read."""
    try:
        manifest = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise TelemetryError(f"The manifest {path} cannot be read: {error}.") from None
    if not isinstance(manifest, dict):
        raise TelemetryError(f"The manifest {path} is not a JSON object.")
    return manifest
