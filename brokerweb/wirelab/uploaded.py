"""Uploaded files: the bytes of one datagram, or a capture with many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from brokerweb.wirelab import pasted
from brokerweb.wirelab.lab import Lab
from brokerweb.wirelab.recorded import Row, row_of
from overlay.core.errors import InvalidSetting
from telemetry.errors import TelemetryError
from telemetry.lake import pcapng_reading

FIELD = "file"
MOST_CAPTURE_BYTES = 4_000_000
MOST_READ, MOST_LISTED = 20_000, 500
"""Datagrams of a capture that are read, and that are listed."""


@dataclass(frozen=True, slots=True)
class Listed:
    """The datagrams of one system in a capture."""

    rows: Sequence[Row]
    others: int
    """UDP datagrams of something else."""
    left_out: int
    """Packets that are no UDP datagram."""
    is_cut: bool


def is_capture(upload: Any) -> bool:
    if upload is None:
        return False
    begin = upload.read(4)
    upload.seek(0)
    return begin == pcapng_reading.MAGIC or begin in pcapng_reading.OLD_MAGICS


def listed(lab: Lab, upload: Any) -> Listed:
    """Raises ``InvalidSetting``."""
    if (upload.size or 0) > MOST_CAPTURE_BYTES:
        raise InvalidSetting(FIELD, f"has {upload.size:,} bytes; a capture may have at most {MOST_CAPTURE_BYTES:,}")
    try:
        found = pcapng_reading.read(upload.read(), MOST_READ)
    except TelemetryError as error:
        raise InvalidSetting(FIELD, str(error)) from None
    own = [(at, one) for at, one in enumerate(found.datagrams) if lab.code_of(one.data) is not None]
    begin = own[0][1].at_ns if own else 0
    parts_of = lab.follow()
    rows = [
        row_of(lab, at, (one.at_ns - begin) // 1000, (one.source, one.to), one.data, parts_of(one.data))
        for at, one in own[:MOST_LISTED]
    ]
    others = len(found.datagrams) - len(own)
    return Listed(rows, others, found.left_out, found.is_cut or len(own) > MOST_LISTED)


def datagram(upload: Any) -> bytes:
    """The bytes of a file with one datagram. Raises ``InvalidSetting``."""
    if (upload.size or 0) > pasted.MOST_BYTES:
        raise InvalidSetting(FIELD, f"has {upload.size:,} bytes; a datagram holds at most 65,507")
    data: bytes = upload.read()
    if not data:
        raise InvalidSetting(FIELD, "is empty")
    return data
