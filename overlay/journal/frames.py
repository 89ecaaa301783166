"""How journals and recordings lie in a file: bodies one after the other, each behind its length and its checksum.

::

    u32 length | u32 CRC-32 of the body | body          (integers little-endian)

A process may die in the middle of a frame, so a reader takes what is whole. No frame is empty: a hole of zeros, as a
crash of the machine leaves one, would be a row of them with the right checksum, and is damage. Readers look at that
themselves: a call for each frame costs a journal's reader a fifth.
"""

from __future__ import annotations

import os
from struct import Struct

HEAD = Struct("<II")

MAX_FRAME_BYTES = 1 << 20
"""What is written stays far below this, but for a buffer or a record: a length above it is damage."""


def write_out(descriptor: int, buffer: bytearray, path: str) -> None:
    """Hand all of ``buffer`` to the kernel and take it from there. Of an ``OSError`` it says which file it was."""
    view = memoryview(bytes(buffer))
    while view:
        try:
            written = os.write(descriptor, view)
        except OSError as error:
            error.filename = path  # of a write the system does not say
            raise
        del buffer[:written]
        view = view[written:]
