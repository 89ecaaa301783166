"""Codecs of bodies and blobs: none, gzip, raw deflate with the preset dictionary. Sizes depend on zlib's version."""

from __future__ import annotations

import zlib

from overlay.core.errors import WireError
from overlay.systems.radiator.wire.dictionary import DICTIONARY

CODECS = ("none", "gzip", "dictionary")
"""By number on the wire."""
NONE, GZIP, WITH_DICTIONARY = range(3)
LEVEL = 6
GZIP_BITS, RAW_BITS = 31, -15
MEMORY = 8
"""zlib's default."""


class TooLarge(WireError):
    """Inflated data that exceed a limit."""


def deflate(data: bytes, codec: int) -> bytes:
    """Equal data give equal bytes: gzip's time stamp is 0."""
    if codec == NONE:
        return data
    if codec == GZIP:
        return zlib.compress(data, LEVEL, GZIP_BITS)
    # Z_FILTERED copies nothing of less than six bytes: in random digits a copy is longer than the digits themselves.
    compressor = zlib.compressobj(9, zlib.DEFLATED, RAW_BITS, MEMORY, zlib.Z_FILTERED, DICTIONARY)
    return compressor.compress(data) + compressor.flush()


def inflate(data: bytes, codec: int, most: int) -> bytes:
    """At most ``most`` bytes. Raises ``TooLarge``, and ``WireError`` for data that are damaged, cut off or followed by
    other bytes."""
    if codec == NONE:
        return _within(data, most)
    inflater = zlib.decompressobj(GZIP_BITS) if codec == GZIP else zlib.decompressobj(RAW_BITS, zdict=DICTIONARY)
    try:
        inflated = _within(inflater.decompress(data, most + 1), most)
    except zlib.error as error:
        raise WireError(f"cannot be inflated: {error}") from None
    if not inflater.eof or inflater.unused_data:
        raise WireError("compressed data are cut off or followed by other bytes")
    return inflated


def _within(data: bytes, most: int) -> bytes:
    if len(data) > most:
        raise TooLarge(f"more than {most} bytes")
    return data
