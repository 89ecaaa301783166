"""The messages of a recorded run with all their bytes: some of them as rows, one of them whole, or all as pcapng.

Counterparts: ``telemetry.systems.context_broker.messages`` joined both ends of each and kept how it begins; the
recordings have the bytes. Messages are numbered as its rows are, and ``Choice`` picks among them in the same way for
all three.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from overlay.journal.recording import Recording, What, recordings_in
from overlay.systems.context_broker.wire.codec import code_of
from overlay.systems.context_broker.wire.table import LAYOUTS
from telemetry.errors import TelemetryError
from telemetry.lake.datagrams import Choice, Datagram, datagrams, recordings_of
from telemetry.lake.datagrams import capture as datagrams_capture
from telemetry.lake.parquet import read_table, reading
from telemetry.lake.runs import RunFiles
from telemetry.systems.context_broker.messages import MOST_MESSAGES, OUTSIDE

_NARROW = ("at_us", "code", "sender", "receiver")


def numbers(path: Path, choice: Choice) -> np.ndarray[Any, Any]:
    """The numbers of the chosen messages, in order. Raises ``StorageError``, as everything that reads the rows."""
    columns = [*_NARROW, "query"] if choice.query is not None else [*_NARROW]
    table = read_table(path, columns)
    at = table["at_us"].to_numpy()
    chosen = (at >= choice.from_us) & (at < choice.to_us)
    if choice.code is not None:
        chosen &= table["code"].to_numpy() == choice.code
    if choice.broker is not None:
        ends = (table[end].to_numpy() == choice.broker for end in ("sender", "receiver"))
        chosen &= np.logical_or(*ends)
    if choice.query is not None:
        chosen &= table["query"].to_numpy(zero_copy_only=False) == choice.query
    return np.flatnonzero(chosen)


def rows(path: Path, choice: Choice, offset: int, limit: int) -> tuple[int, list[dict[str, Any]]]:
    """How many are chosen, and ``limit`` of them from ``offset`` on, each with its ``number``."""
    found = numbers(path, choice)
    wanted = found[offset : offset + limit].tolist()
    return len(found), _at(path, wanted)


def _at(path: Path, wanted: list[int]) -> list[dict[str, Any]]:
    """The rows with these numbers, which are in order; only the row groups that hold them are read."""
    made: list[dict[str, Any]] = []
    with reading(path), pq.ParquetFile(path) as file:
        first = 0
        for group in range(file.num_row_groups):
            beyond = first + file.metadata.row_group(group).num_rows
            here = [number for number in wanted if first <= number < beyond]
            if here:
                taken = file.read_row_group(group).take([number - first for number in here]).to_pylist()
                made += [{**row, "number": number} for number, row in zip(here, taken, strict=True)]
            first = beyond
    return made


def row(path: Path, number: int) -> dict[str, Any] | None:
    """One message as a row; ``None`` where there are fewer."""
    return next(iter(_at(path, [number])), None)


def whole(files: RunFiles, row: Mapping[str, Any]) -> bytes | None:
    """All bytes of the message of ``row``; ``None`` where its recording is gone.

    It is looked for in the recordings of the broker that told of it, in which no other of that instant begins so.
    """
    begins: bytes = row["text"].encode()
    if len(begins) == row["bytes"]:
        return begins
    sent = row["sender"] != OUTSIDE
    teller, what = (row["sender"], What.SENT) if sent else (row["receiver"], What.RECEIVED)
    for path in recordings_in(files.journal_directory):
        if path.name.startswith(f"broker-{teller}."):
            recording = Recording(path)
            zero = recording.begin.zero_ns
            for record in recording:
                if record[0] == what and (record[1] - zero) // 1000 == row["at_us"] and _is_it(record[4], row):
                    data: bytes = record[4]
                    return data
    return None


def _is_it(data: bytes, row: Mapping[str, Any]) -> bool:
    """The text of a row is how its datagram begins, its last character perhaps cut."""
    text = row["text"].rstrip("\ufffd")
    return len(data) == row["bytes"] and data.decode(errors="replace").startswith(text)


def capture(files: RunFiles, choice: Choice, title: str) -> Iterator[bytes]:
    """The chosen messages as pcapng, in pieces. ``title`` says of what run, and whether it was simulated.

    Raises ``TelemetryError`` before the first piece where nothing was recorded.
    """
    recordings = recordings_of(files)
    path = files.messages_path
    wanted: bytes | None = None
    if path.is_file():
        wanted = _flags(numbers(path, choice))
    elif (choice.query, choice.code, choice.broker) != (None, None, None):
        raise TelemetryError(f"Run {files.run} was not collected yet; only a time can be chosen from it.")
    return datagrams_capture(recordings, _chosen(recordings, choice, wanted), title, _name)


def _flags(chosen: np.ndarray[Any, Any]) -> bytes:
    """A byte for each message up to the last chosen one, 1 for those that are: a set of them takes 60 times as much."""
    flags = np.zeros(int(chosen[-1]) + 1 if len(chosen) else 0, bool)
    flags[chosen] = True
    return flags.tobytes()


def _chosen(recordings: Sequence[Recording], choice: Choice, wanted: bytes | None) -> Iterator[Datagram]:
    beyond = MOST_MESSAGES if wanted is None else len(wanted)
    for one in datagrams(recordings):
        if one.number >= beyond or one.at_us >= choice.to_us:
            return
        if one.at_us >= choice.from_us and (wanted is None or wanted[one.number]):
            yield one


def _name(data: bytes) -> str:
    code = code_of(data)
    layout = None if code is None else LAYOUTS.get(code)
    return "Unreadable" if layout is None else f"{layout.code} {layout.name}"
