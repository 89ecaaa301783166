"""A datagram of the channel taken apart: head, body, records, and the messages that are complete in it. Pure.

Segments follow each other without a gap. The first record of a datagram may be the end of a message that began in an
earlier one; what does not begin as a message is taken for that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from brokerweb.wirelab.binary import dissecting
from brokerweb.wirelab.channel.messages import Messages
from brokerweb.wirelab.channel.table import FORMAT, MESSAGE, RECORDS
from brokerweb.wirelab.lab import Dissection, Segment
from overlay.channel.records import GOES_ON, split
from overlay.channel.wire import DATA, HEAD_BYTES, LOOSE
from overlay.core.binary import Field

_PART = "of a message in several records"
_END = "no message begins here: it may be the end of one from an earlier datagram"


def dissect(messages: Messages, data: bytes, now_ms: int) -> Dissection:
    """Never raises."""
    whole = dissecting.dissect(FORMAT, data, now_ms, _words, lambda _: "")
    segments: list[Segment] = []
    inside: list[str] = []
    problems = list(whole.problems)
    for segment in whole.segments:
        if segment.name in (RECORDS, MESSAGE) and not segment.problem:
            for one, text in _contents(messages, data, segment, now_ms):
                segments += one
                inside += [text] if text else []
        else:
            segments.append(segment)
    known = set(problems)
    problems += [said for said in map(_said, segments) if said and said not in known]
    if whole.layout is not None and whole.layout.code == DATA and len(data) == HEAD_BYTES:
        problems.append(f"records are missing after byte {len(data)}")
    return replace(whole, segments=tuple(segments), problems=tuple(problems), inside="\n\n".join(inside))


def _said(segment: Segment) -> str:
    return f"{segment.name} at byte {segment.offset}: {segment.problem}" if segment.problem else ""


def _words(field: Field, value: object, now_ms: int) -> str:
    if field.name == "to" and value == 0:
        return "none is known"
    if field.name == "sack" and isinstance(value, int) and value:
        return f"records ack + {', ack + '.join(str(bit + 2) for bit in range(64) if value >> bit & 1)}"
    return ""


def _contents(messages: Messages, data: bytes, segment: Segment, now_ms: int) -> Iterator[tuple[list[Segment], str]]:
    """The segments of what a datagram carries, and what its messages have inside."""
    if segment.name == MESSAGE:
        yield _message(messages, data, segment.offset, segment.end, now_ms)
        return
    at, is_part, number = segment.offset, False, 0
    while at < segment.end:
        number += 1
        head = data[at : min(at + 2, segment.end)]
        stop = at + 2 + (int.from_bytes(head, "big") & 0x7FFF)
        goes_on = head[0] >= GOES_ON
        problem = "is cut off" if len(head) < 2 or stop > segment.end else "is empty" if stop == at + 2 else ""
        words = "its message goes on in the next record" if goes_on else "the last of its message"
        size = str(stop - at - 2) if len(head) == 2 else head.hex()
        name = f"record {number}"
        yield [Segment(f"{name} length", "length", at, len(head), size, words, problem, "Bytes of the record.")], ""
        at, stop = at + len(head), min(max(stop, at + len(head)), segment.end)
        if at < stop:
            yield _record(messages, data, at, stop, name, now_ms, is_part or goes_on or bool(problem), number == 1)
        at, is_part = stop, goes_on


def _record(
    messages: Messages, data: bytes, at: int, stop: int, name: str, now_ms: int, is_part: bool, is_first: bool
) -> tuple[list[Segment], str]:
    record = data[at:stop]
    if not is_part and (not is_first or messages.code_of(record) is not None):
        return _message(messages, data, at, stop, now_ms)
    words = _PART if is_part else _END
    return [Segment(name, "part", at, stop - at, record.hex(), words, depth=1)], ""


def _message(messages: Messages, data: bytes, at: int, stop: int, now_ms: int) -> tuple[list[Segment], str]:
    found = messages.dissect(data[at:stop], now_ms)
    segments = [replace(one, offset=one.offset + at, depth=one.depth + 1) for one in found.segments]
    if found.problems and not any(one.problem for one in segments) and segments:
        segments[0] = replace(segments[0], problem=found.problems[0])
    return segments, found.inside


def messages_in(data: bytes) -> list[bytes]:
    """What is complete in one datagram, whatever came before it."""
    layout = FORMAT.layout_of(data)
    if layout is None:
        return []
    if layout.code == LOOSE:
        size = data[HEAD_BYTES] if len(data) > HEAD_BYTES else 0
        message = data[HEAD_BYTES + 1 + size :]
        return [message] if message else []
    found, is_part = [], False
    for record in split(data, HEAD_BYTES, len(data)) if layout.code == DATA else ():
        goes_on = record[0] >= GOES_ON
        if not is_part and not goes_on:
            found.append(record[2:])
        is_part = goes_on
    return found
