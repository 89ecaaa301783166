"""The file system of ``var/``: usage, and recognition of full-disk errors."""

from __future__ import annotations

import shutil
import sqlite3
from dataclasses import dataclass

from django.conf import settings
from django.db import OperationalError

from overlay.core.errors import describe_full_disk, describe_os_error, is_disk_full
from telemetry.formatting import size

SHOWN_FROM = 0.70
"""Usage from which the home page shows the disk."""
WARNED_FROM = 0.85
"""Usage from which pages warn and notifications are sent."""
NO_ROOM_BYTES = 1_000_000
"""With less free space, an SQLite I/O error is treated as a full disk."""
_POSTGRES_FULL = "53100"


class NoRoom(OperationalError):
    """Refused: the remaining space is reserved for small, urgent writes."""

    def __init__(self, free: int, least: int) -> None:
        super().__init__(
            f"Disk full: {settings.VAR} has {size(free)} free, and {size(least)} are reserved for active runs. "
            "Free some space and try again."
        )


@dataclass(frozen=True, slots=True)
class Disk:
    """Usage of the file system of ``var/``, in bytes."""

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
    """The current usage."""
    usage = shutil.disk_usage(settings.VAR)
    return Disk(usage.total, usage.free)


def no_room() -> str:
    """An error message if nothing can be written now, for a process that exited without one; otherwise empty."""
    return "" if disk().free >= NO_ROOM_BYTES else describe_full_disk(str(settings.VAR))


def full_disk_message(error: BaseException | None) -> str:
    """An error message if ``error`` or its cause is a full disk; otherwise empty."""
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
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the error already names the file
        no_room = code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN) and disk().free < NO_ROOM_BYTES
        return code == sqlite3.SQLITE_FULL or no_room
    return getattr(error, "sqlstate", None) == _POSTGRES_FULL
