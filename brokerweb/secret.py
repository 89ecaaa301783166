"""Files under ``var/`` are their owner's alone, and secrets that Waxwing makes for itself on first start are there."""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

OWNER_ONLY = 0o077
"""The umask: what others could read is created for the owner alone, by whichever library opens it."""
TIGHTENED = ("*.sqlite3*", "*.json", "secret_key", "*.sock*", "log", "log/*", "redis", "redis/*", "redis/*/*")
"""What an installation made before that was so, and holds secrets."""


def keep_private(var: Path) -> None:
    """From now on this process, and those that it starts, create files that nobody but their owner reads.

    Closes ``var`` to others, too, unless it is somebody else's directory.
    """
    os.umask(OWNER_ONLY)
    var.mkdir(parents=True, exist_ok=True)
    with suppress(PermissionError):
        _close(var)


def tighten(var: Path) -> None:
    """Takes from others what they may do with secrets that lie under ``var`` already."""
    for pattern in TIGHTENED:
        for path in var.glob(pattern):
            with suppress(PermissionError, FileNotFoundError):
                _close(path)


def _close(path: Path) -> None:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & OWNER_ONLY:
        path.chmod(mode & ~OWNER_ONLY)


def write_private(path: Path, text: str) -> None:
    """Writes a file that nobody but its owner could read at any moment."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)


def kept_secret(path: Path) -> str:
    """The secret in ``path``, made on first use. Processes that start together agree on one: the first link wins."""
    if not path.exists():
        own = path.with_name(f"{path.name}.{os.getpid()}")
        write_private(own, secrets.token_urlsafe(48))
        with suppress(FileExistsError):
            os.link(own, path)
        own.unlink()
    return path.read_text().strip()
