"""The end of a broker's recording: its last messages, decoded, and the data in them, with its validity.

Counterparts: ``overlay.journal.recording`` writes it during the run;
``telemetry.systems.context_broker.messages`` joins all messages afterwards. Only the end of the file is decoded;
the heads of frames lead to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgpack

from overlay.core.addresses import Address, format_address
from overlay.journal.frames import HEAD, MAX_FRAME_BYTES
from overlay.journal.recording import SUFFIX, BadRecording, Begin, Record, Recording, What
from overlay.systems.context_broker.wire.codec import code_of
from overlay.systems.context_broker.wire.messages import ContextResponse, ContextUpdateAdvertisement
from overlay.systems.context_broker.wire.table import CODES, AnyMessage
from telemetry.lake.runs import RunFiles
from telemetry.systems.context_broker.messages import TEXT_BYTES, UNREADABLE, kind_of, unwrapped

MESSAGES = 20
"""Number of messages returned."""
LOOKED_AT = 2_000
"""Number of newest records searched for data."""
ENTRIES = 30
"""Maximum entries returned, the newest."""
MOST_BYTES = 1 << 20
"""Maximum bytes decoded at the end of a file."""
MOST_WHOLE = 2_000
"""Datagrams up to this many bytes are returned completely, for dissection."""


def recent(files: RunFiles, index: int, names: Mapping[str, int]) -> dict[str, Any] | None:
    """``{as_of_unix_us, messages, entries}`` of broker ``index``, the newest first; ``None`` without a recording.

    ``names`` has the indices of brokers by address. A message's ``other`` is the broker at its other end, ``None`` for
    a client. An entry's ``left_ms`` is its remaining validity; negative if it had expired.
    """
    path = _newest_life(files, index)
    if path is None:
        return None
    try:
        begin = Recording(path).begin
    except (BadRecording, OSError):
        return None
    records = last_records(path)[-LOOKED_AT:]
    offset = _wall_offset(begin, records)
    read = [(record, unwrapped(record[-1])) for record in records if record[0] in (What.RECEIVED, What.SENT)]
    as_of_ns = max((record[1] for record, _ in read), default=begin.zero_ns)
    shown = [_message(record, message, begin, names) for record, message in read[-MESSAGES:]]
    return {
        "as_of_unix_us": (as_of_ns + offset) // 1000,
        "messages": shown[::-1],
        "entries": _entries(read, (as_of_ns + offset) // 1_000_000),
    }


def _newest_life(files: RunFiles, index: int) -> Path | None:
    found = files.journal_directory.glob(f"broker-{index}.*{SUFFIX}")
    lives = {int(life): path for path in found if (life := path.stem.rpartition(".")[2]).isdigit()}
    return lives[max(lives)] if lives else None


def last_records(path: Path) -> list[Record]:
    """The records in the last complete frames of a recording, up to ``MOST_BYTES``, in order."""
    frames: list[tuple[int, int]] = []
    with path.open("rb") as file:
        size, at = file.seek(0, 2), 0
        while at + HEAD.size <= size:
            file.seek(at)
            length, _ = HEAD.unpack(file.read(HEAD.size))
            if not 0 < length <= MAX_FRAME_BYTES or at + HEAD.size + length > size:
                break
            frames.append((at + HEAD.size, length))
            at += HEAD.size + length
        bodies, room = [], MOST_BYTES
        while frames and room > 0:
            begin, length = frames.pop()
            file.seek(begin)
            bodies.append(file.read(length))
            room -= length
    return [record for body in reversed(bodies) for record in _unpacked(body)]


def _unpacked(body: bytes) -> list[Record]:
    unpacker = msgpack.Unpacker(use_list=False, max_buffer_size=MAX_FRAME_BYTES)
    unpacker.feed(body)
    try:
        return [record for record in unpacker if isinstance(record, tuple) and record]
    except (ValueError, msgpack.UnpackException):
        return []


def _wall_offset(begin: Begin, records: list[Record]) -> int:
    """The latest offset from the broker's ``now`` to Unix nanoseconds."""
    return next((record[1] for record in reversed(records) if record[0] == What.CLOCK), begin.wall_offset_ns)


def _message(record: Record, message: AnyMessage | None, begin: Begin, names: Mapping[str, int]) -> dict[str, Any]:
    what, at, host, port, data = record
    address: Address = (host, port)
    code = code_of(data) if message is None else CODES[type(message)]
    kind, family = kind_of(UNREADABLE if code is None else code)
    return {
        "t_s": (at - begin.zero_ns) / 1e9,
        "direction": "received" if what == What.RECEIVED else "sent",
        "other": names.get(format_address(address)),
        "address": format_address(address),
        "kind": kind,
        "family": family,
        "bytes": len(data),
        "readable": message is not None,
        "text": data[:TEXT_BYTES].decode(errors="replace"),
        "hex": data.hex() if len(data) <= MOST_WHOLE else "",
    }


def _entries(read: list[tuple[Record, AnyMessage | None]], now_ms: int) -> list[dict[str, Any]]:
    """The data in updates and answers: the newest for each provider and key."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for record, message in reversed(read):
        if record[0] != What.RECEIVED or not isinstance(message, ContextUpdateAdvertisement | ContextResponse):
            continue
        came_as = "update" if isinstance(message, ContextUpdateAdvertisement) else "answer"
        key = (message.key, message.provider_id, came_as)
        if key in found:
            continue
        left_ms = message.valid_end - now_ms
        entity = "|".join(message.key)
        found[key] = {"entity": entity, "provider": message.provider_id, "came_as": came_as, "left_ms": left_ms}
        if len(found) >= ENTRIES:
            break
    return list(found.values())
