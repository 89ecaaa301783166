"""Sizes and deletion of files under ``var/``. Deletion can be interrupted and repeated."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings

from brokerweb.kit.ids import new_id
from brokerweb.storage.eviction import Item
from overlay.systems.registry import SYSTEMS
from telemetry.errors import TelemetryError
from telemetry.lake.history import zero_unix_us
from telemetry.lake.runs import Lake, RunFiles
from telemetry.sweep.simulation import MADE_BY, Places, simulator_version

KEPT_TABLES = ("events", "manifests")
"""Tables of the lake that are kept when a run's measurements are deleted."""
STAYS = "manifest.json"
ASIDE = ".aside-"
"""Prefix of cached simulations that are being deleted; lookups ignore it."""


def weigh(directory: Path) -> int:
    """Bytes of all files below ``directory``; a file with several hard links counts proportionally."""
    total = 0
    for path in _files(directory):
        with suppress(OSError):
            status = path.lstat()
            total += status.st_size // max(1, status.st_nlink)
    return total


def _files(directory: Path) -> Iterator[Path]:
    for root, _, names in os.walk(directory):
        yield from (Path(root) / name for name in names)


def weigh_run(run: str) -> tuple[int, int]:
    """Bytes of a run under ``runs/`` and in the lake."""
    lake = Lake(Path(settings.LAKE))
    return weigh(Path(settings.RUNS) / run), sum(weigh(lake.part(table, run).parent) for table in lake.tables_of(run))


def remove_run(run: str) -> None:
    """Delete a run's journals, traces, messages and samples. Its manifest and events are kept."""
    files, lake = RunFiles(Path(settings.RUNS) / run), Lake(Path(settings.LAKE))
    _keep_zero(files)
    if files.directory.is_dir():
        for path in files.directory.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            elif path.name != STAYS:
                path.unlink(missing_ok=True)
    for table in set(lake.tables_of(run)) - set(KEPT_TABLES):
        shutil.rmtree(lake.part(table, run).parent, ignore_errors=True)


def remove_whole_run(run: str) -> None:
    """Delete all files of a run without a row."""
    lake = Lake(Path(settings.LAKE))
    shutil.rmtree(Path(settings.RUNS) / run, ignore_errors=True)
    for table in lake.tables_of(run):
        shutil.rmtree(lake.part(table, run).parent, ignore_errors=True)


def _keep_zero(files: RunFiles) -> None:
    """Events are relative to an instant stored in journals only: copy it to the manifest."""
    with suppress(TelemetryError):
        if (zero := zero_unix_us(files)) and files.manifest_path.is_file():
            files.write_manifest({**files.read_manifest(), "zero_unix_us": zero})


def kept_simulations() -> list[Item]:
    """Cached simulations, one item per key."""
    kept = _places().kept
    if not kept.is_dir():
        return []
    found, current = [], {simulator_version(name) for name in SYSTEMS}
    for path in kept.iterdir():
        if path.name.startswith(".") or not path.is_dir():
            continue
        with suppress(OSError):
            at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            found.append(Item("simulated", path.name, weigh(path), at, is_stale=_made_by(path) not in current))
    return found


def _made_by(path: Path) -> str:
    try:
        return (path / MADE_BY).read_text()
    except OSError:
        return ""


def set_aside(key: str) -> None:
    """Remove a simulation from the cache atomically: a half-deleted one could be used as a complete result.

    Runs that used it keep hard links to its journals.
    """
    kept = _places().kept
    with suppress(FileNotFoundError):
        (kept / key).rename(kept / f"{ASIDE}{new_id()}")


def remove_set_aside() -> None:
    """Delete simulations that were set aside."""
    for path in _places().kept.glob(f"{ASIDE}*"):
        shutil.rmtree(path, ignore_errors=True)


def _places() -> Places:
    return Places(Path(settings.RUNS), Path(settings.LAKE), Path(settings.VAR))


def remove_report(report: str) -> None:
    """Delete a report's files; its page uses its row."""
    shutil.rmtree(Path(settings.REPORTS) / report, ignore_errors=True)


def weigh_database() -> int:
    """Size of an SQLite database with its write-ahead log."""
    name = settings.DATABASES["default"]["NAME"]
    if settings.DATABASES["default"]["ENGINE"] != "django.db.backends.sqlite3":
        return 0
    paths = [Path(f"{name}{ending}") for ending in ("", "-wal", "-shm")]
    return sum(path.stat().st_size for path in paths if path.is_file())


def weigh_logs() -> int:
    return weigh(Path(settings.VAR) / "log")


def weigh_reports() -> int:
    return weigh(Path(settings.REPORTS))
