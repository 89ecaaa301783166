"""The file system that everything is kept on: how full it is, and whether an error says that it is full."""

from __future__ import annotations

import shutil
import sqlite3
from dataclasses import dataclass

from django.conf import settings
from django.db import OperationalError

from overlay.core.errors import describe_full_disk, describe_os_error, is_disk_full
from telemetry.formatting import size

SHOWN_FROM = 0.70
"""Used share of the disk from which the home page shows it."""
WARNED_FROM = 0.85
"""And from which pages warn, and whoever wants it is told."""
NO_ROOM_BYTES = 1_000_000
"""With less than this free, what SQLite calls an error of input or output is a full disk."""
_POSTGRES_FULL = "53100"


class NoRoom(OperationalError):
    """So little of the disk is free that it is kept for what is small and cannot wait."""

    def __init__(self, free: int, least: int) -> None:
        super().__init__(
            f"Disk full: {settings.VAR} has {size(free)} free, and the last {size(least)} are kept for what runs. "
            "Free some space and try again."
        )


@dataclass(frozen=True, slots=True)
class Disk:
    """The file system that ``var/`` lies on, in bytes."""

    total: int
    free: int

    @property
    def used_share(self) -> float:
        """0 to 1."""
        return 1 - self.free / self.total if self.total else 1.0

    @property
    def is_shown(self) -> bool:
        return self.used_share >= SHOWN_FROM

    @property
    def is_nearly_full(self) -> bool:
        return self.used_share >= WARNED_FROM


def disk() -> Disk:
    """As of now."""
    usage = shutil.disk_usage(settings.VAR)
    return Disk(usage.total, usage.free)


def no_room() -> str:
    """A sentence if not even a word could be written now, for a process that ended without one; else empty."""
    return "" if disk().free >= NO_ROOM_BYTES else describe_full_disk(str(settings.VAR))


def told_full(error: BaseException | None) -> str:
    """A sentence if ``error``, or what it came from, is a full disk; else empty."""
    while error is not None:
        if isinstance(error, OSError) and is_disk_full(error):
            return describe_os_error(error)
        if isinstance(error, NoRoom):
            return str(error)
        if _is_database_full(error):
            return "Disk full: the database could not be written. Free some space and try again."
        error = error.__cause__ or error.__context__
    return ""


def _is_database_full(error: BaseException) -> bool:
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the rest says which file it was, and at what
        no_room = code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN) and disk().free < NO_ROOM_BYTES
        return code == sqlite3.SQLITE_FULL or no_room
    return getattr(error, "sqlstate", None) == _POSTGRES_FULL
