"""File permissions of ``var/`` (owner only), and secrets created on first start."""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from overlay.runtime.private_files import write_private

OWNER_ONLY = 0o077
"""The umask: every library creates files for the owner only."""
TIGHTENED = ("*.sqlite3*", "*.json", "secret_key", "*.sock*", "log", "log/*", "redis", "redis/*", "redis/*/*")
"""Files with secrets created by earlier versions."""


def keep_private(var: Path) -> None:
    """Make this process and its children create files readable by their owner only.

    Also restricts ``var``, unless it belongs to another user.
    """
    os.umask(OWNER_ONLY)
    var.mkdir(parents=True, exist_ok=True)
    with suppress(PermissionError):
        _close(var)


def tighten(var: Path) -> None:
    """Restrict the permissions of existing secrets under ``var``."""
    for pattern in TIGHTENED:
        for path in var.glob(pattern):
            with suppress(PermissionError, FileNotFoundError):
                _close(path)


def _close(path: Path) -> None:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & OWNER_ONLY:
        path.chmod(mode & ~OWNER_ONLY)


def kept_secret(path: Path) -> str:
    """The secret in ``path``, created on first use. Concurrent processes agree on one: the first link wins."""
    if not path.exists():
        own = path.with_name(f"{path.name}.{os.getpid()}")
        write_private(own, secrets.token_urlsafe(48))
        with suppress(FileExistsError):
            os.link(own, path)
        own.unlink()
    return path.read_text().strip()
