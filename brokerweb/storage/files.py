"""What lies under ``var/`` and what it weighs; removed file by file, the same again when it was broken off."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings

from brokerweb.kit.ids import new_id
from brokerweb.storage.choice import Item
from telemetry.errors import TelemetryError
from telemetry.lake.history import zero_unix_us
from telemetry.lake.records import SOME
from telemetry.lake.runs import Lake, RunFiles
from telemetry.sweep.simulation import MADE_BY, Places, simulator_version

REMOVED_TABLES = ("samples", "ticks", *SOME)
"""Of the lake; events and manifests, which tell what the run was, stay."""
TABLES = (*REMOVED_TABLES, "events", "manifests")
STAYS = "manifest.json"
ASIDE = ".aside-"
"""How the names begin of kept simulations that are being removed. Nobody looks for them there."""


def weigh(directory: Path) -> int:
    """Bytes of all files below ``directory``; of one with several names a share for each, since all of them keep it."""
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
    return weigh(Path(settings.RUNS) / run), sum(weigh(lake.part(table, run).parent) for table in TABLES)


def remove_run(run: str) -> None:
    """Removes a run's journals, traces, messages and samples. Its manifest and its events stay."""
    files, lake = RunFiles(Path(settings.RUNS) / run), Lake(Path(settings.LAKE))
    _keep_zero(files)
    if files.directory.is_dir():
        for path in files.directory.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            elif path.name != STAYS:
                path.unlink(missing_ok=True)
    for table in REMOVED_TABLES:
        shutil.rmtree(lake.part(table, run).parent, ignore_errors=True)


def remove_whole_run(run: str) -> None:
    """Removes all files of a run that has no row any more."""
    lake = Lake(Path(settings.LAKE))
    shutil.rmtree(Path(settings.RUNS) / run, ignore_errors=True)
    for table in TABLES:
        shutil.rmtree(lake.part(table, run).parent, ignore_errors=True)


def _keep_zero(files: RunFiles) -> None:
    """Its events count from an instant that only journals tell: from now on its manifest does."""
    with suppress(TelemetryError):
        if (zero := zero_unix_us(files)) and files.manifest_path.is_file():
            files.write_manifest({**files.read_manifest(), "zero_unix_us": zero})


def kept_simulations() -> list[Item]:
    """What is kept to simulate the same again, one item a key."""
    kept = _places().kept
    if not kept.is_dir():
        return []
    found = []
    for path in kept.iterdir():
        if path.name.startswith(".") or not path.is_dir():
            continue
        with suppress(OSError):
            at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            found.append(Item("simulated", path.name, weigh(path), at, is_stale=_made_by(path) != simulator_version()))
    return found


def _made_by(path: Path) -> str:
    try:
        return (path / MADE_BY).read_text()
    except OSError:
        return ""


def set_aside(key: str) -> None:
    """Takes one out of what is kept, in one step: of one that is half removed a run would be made as if it were whole.

    The runs that were made of it keep their own names of its journals.
    """
    kept = _places().kept
    with suppress(FileNotFoundError):
        (kept / key).rename(kept / f"{ASIDE}{new_id()}")


def remove_set_aside() -> None:
    """Removes what was set aside."""
    for path in _places().kept.glob(f"{ASIDE}*"):
        shutil.rmtree(path, ignore_errors=True)


def _places() -> Places:
    return Places(Path(settings.RUNS), Path(settings.LAKE), Path(settings.VAR))


def remove_report(report: str) -> None:
    """Removes a report's files; what its page shows is in its row."""
    shutil.rmtree(Path(settings.REPORTS) / report, ignore_errors=True)


def weigh_database() -> int:
    """The database with what is written ahead of it, where it is a file."""
    name = settings.DATABASES["default"]["NAME"]
    if settings.DATABASES["default"]["ENGINE"] != "django.db.backends.sqlite3":
        return 0
    paths = [Path(f"{name}{ending}") for ending in ("", "-wal", "-shm")]
    return sum(path.stat().st_size for path in paths if path.is_file())


def weigh_logs() -> int:
    return weigh(Path(settings.VAR) / "log")


def weigh_reports() -> int:
    return weigh(Path(settings.REPORTS))
