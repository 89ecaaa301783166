"""Secrets that the house makes for itself on first start and keeps in files only its owner can read."""

import os
import secrets
from contextlib import suppress
from pathlib import Path


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
