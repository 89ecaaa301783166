"""BLAKE2b for what every broker imports, without ``hashlib``: that loads OpenSSL, 3.7 MB of each process.

As the standard library's own ``random`` gets its hash, for the same reason: from CPython's module, or from ``hashlib``
where an interpreter has no such module. Both are the same function (RFC 7693).
"""

from __future__ import annotations

from pathlib import Path

try:
    from _blake2 import blake2b
except ImportError:  # not CPython, or one that has moved it
    from hashlib import blake2b

__all__ = ("blake2b", "digest_of_code")


def digest_of_code(root: Path) -> str:
    """Names all of the Python below ``root`` by its bytes, committed or not. Raises ``OSError``."""
    digest = blake2b(digest_size=8)
    for path in sorted(root.rglob("*.py")):
        digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes())
    return digest.hexdigest()
