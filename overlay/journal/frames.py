"""The file format of journals and recordings: a sequence of bodies, each preceded by its length and checksum.

::

    u32 length | u32 CRC-32 of the body | body          (integers little-endian)

A process may die in the middle of a frame, so readers accept all complete frames. Frames are never empty: a range of
zeros, as left by a crash of the machine, would be a series of empty frames with correct checksums, and is treated as
damage. Readers check this inline, because a function call per frame would slow them down by a fifth.
"""

from __future__ import annotations

import os
from struct import Struct

HEAD = Struct("<II")

MAX_FRAME_BYTES = 1 << 20
"""Except for single buffers or records, frames are much smaller. A greater length is treated as damage."""


def write_out(descriptor: int, buffer: bytearray, path: str) -> None:
    """Write all of ``buffer`` and remove it from there. An ``OSError`` has the name of the file."""
    view = memoryview(bytes(buffer))
    while view:
        try:
            written = os.write(descriptor, view)
        except OSError as error:
            error.filename = path  # not set by the system for writes
            raise
        del buffer[:written]
        view = view[written:]
