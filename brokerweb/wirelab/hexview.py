"""A datagram as rows of sixteen bytes, each byte under the colour of its field. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from brokerweb.wirelab.lab import SEPARATOR, Dissection

ROW = 16
HALF = 8
ROWS_SHOWN = 96
"""Rows shown at the beginning and at the end of a long datagram."""
LAST_ROWS = 8
TINTS = 5
"""Colours, taken in turn."""


@dataclass(frozen=True, slots=True)
class Run:
    """Adjacent bytes of one field."""

    number: int
    """Of the field; -1 of a separator."""
    tint: str
    hex: str
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    offset: int
    halves: tuple[tuple[Run, ...], ...]
    left_out: int = 0
    """Bytes before this row that are not shown."""


def rows(dissection: Dissection) -> list[Row]:
    """The rows; of a long datagram the first and the last."""
    data = dissection.data
    starts = list(range(0, len(data), ROW))
    if len(starts) > ROWS_SHOWN + LAST_ROWS:
        starts = [*starts[:ROWS_SHOWN], *starts[-LAST_ROWS:]]
    spans = _spans(dissection)
    previous = 0
    made = []
    for start in starts:
        made.append(Row(start, tuple(_half(data, spans, start + at) for at in (0, HALF)), start - previous))
        previous = start + ROW
    return made


def _spans(dissection: Dissection) -> list[tuple[int, int, int, str]]:
    """Begin, end, number and tint of each segment that has bytes."""
    made, number = [], -1
    for segment in dissection.segments:
        is_separator = segment.kind == SEPARATOR
        number += not is_separator
        if segment.length:
            tint = "none" if is_separator else "wrong" if segment.problem else f"{number % TINTS}"
            made.append((segment.offset, segment.end, -1 if is_separator else number, tint))
    return made


def _half(data: bytes, spans: list[tuple[int, int, int, str]], start: int) -> tuple[Run, ...]:
    return tuple(_runs(data, spans, start, min(start + HALF, len(data))))


def _runs(data: bytes, spans: list[tuple[int, int, int, str]], start: int, end: int) -> Iterator[Run]:
    for begin, stop, number, tint in spans:
        if begin >= end:
            return
        piece = data[max(begin, start) : min(stop, end)] if stop > start else b""
        if piece:
            text = "".join(chr(byte) if 32 <= byte < 127 else "·" for byte in piece)
            yield Run(number, tint, piece.hex(" "), text)
