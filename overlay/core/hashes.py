"""BLAKE2 for modules that every broker imports, without ``hashlib``, which loads OpenSSL: 3.7 MB per process.

It comes from CPython's own module, or from ``hashlib`` in an interpreter without that module. The standard library's
``random`` imports its hash in the same way, for the same reason. Both are the same functions (RFC 7693).
``compare_digest`` takes the same time for equal and unequal bytes; ``hmac`` has it from the same place.
"""

from __future__ import annotations

from pathlib import Path

try:
    from _blake2 import blake2b, blake2s
    from _operator import _compare_digest as compare_digest
except ImportError:  # not CPython, or a version that has moved it
    from hashlib import blake2b, blake2s
    from hmac import compare_digest  # type: ignore[no-redef]

__all__ = ("blake2b", "blake2s", "compare_digest", "digest_of_code")


def digest_of_code(*roots: Path) -> str:
    """A digest of Python files, committed or not: ``roots`` that are files, and all below those that are folders.

    Raises ``OSError``.
    """
    digest = blake2b(digest_size=8)
    for root in roots:
        folder = root.parent if root.is_file() else root
        for path in [root] if root.is_file() else sorted(root.rglob("*.py")):
            digest.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    return digest.hexdigest()
