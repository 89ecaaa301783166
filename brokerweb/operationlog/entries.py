"""What is kept of an operation while it waits, and its rows in the log. Pure."""

from __future__ import annotations

import json
import re
from asyncio import CancelledError
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from brokerweb.kit.errors import NotAnswered, NotPossible
from brokerweb.systems.contract import Absent
from overlay.core.errors import InvalidSetting

REST, PAGE = "REST", "page"
"""Interfaces. Others name themselves."""
GET, PUT, DELETE, BATCH, LIST, STREAM = "get", "put", "delete", "batch", "list", "stream"
DONE, UNCHANGED, NOT_FOUND, PRECONDITION, REFUSED, FORBIDDEN, NO_ANSWER, FAILED, LOST = OUTCOMES = (
    "done",
    "unchanged",
    "not_found",
    "precondition",
    "refused",
    "forbidden",
    "no_answer",
    "failed",
    "lost",
)
"""``lost``: that many operations are missing here, because too many came at once."""
_BY_STATUS = {
    304: UNCHANGED,
    401: FORBIDDEN,
    403: FORBIDDEN,
    404: NOT_FOUND,
    412: PRECONDITION,
    499: NOT_FOUND,
    504: NO_ANSWER,
}
TAIL_BYTES = 600
"""Of the answer to a query; what the server says about itself is at its end."""
MOST_LETTERS = 200
"""Of a sentence."""
MOST_NAME, MOST_ID, MOST_WAY = 255, 20, 10
"""Characters of the columns."""
_SAID = re.compile(rb'"(broker_index|hops|strategy)":"?(\w+)|(/walks/)([0-9a-f]{16})/')
_WALK = b"/walks/"


class Entry(NamedTuple):
    """One request, as it is kept until it is written: references, nothing computed."""

    at_ns: int
    """When it came, Unix time."""
    took_ns: int
    network: str
    who: str
    """``token:ID`` or ``user:ID``; empty: unknown."""
    via: str
    op: str
    key: Sequence[str]
    """The names of what it is about."""
    source: str
    status: int
    """As in HTTP."""
    answer: bytes
    """The body, or its end; empty after an error."""
    error: BaseException | None = None
    waits: bool = False
    """Whether it waited for data on purpose."""
    items: Sequence[tuple[str, Sequence[str], str]] = ()
    """Of a batch: operation, names and source of each."""


class Line(NamedTuple):
    """One row of the log."""

    network: str
    at_ns: int
    took_us: int
    who: str
    via: str
    op: str
    key: str
    """Names, with ``|`` between."""
    source: str
    status: int
    outcome: str
    server: int | None = None
    hops: int | None = None
    way: str = ""
    trace: str = ""
    sentence: str = ""
    waits: bool = False
    missing: int = 1
    """Operations that this row stands for."""
    in_batch: bool = False


def outcome_of(status: int) -> str:
    """Of a status of HTTP."""
    known = _BY_STATUS.get(status)
    return known or (DONE if status < 300 else REFUSED if status < 500 else FAILED)


def status_of(error: BaseException) -> int:
    """That REST answers an error with. 499: the client left while it waited for data."""
    if isinstance(error, CancelledError):
        return 499
    if isinstance(error, InvalidSetting):
        return 400
    if isinstance(error, NotPossible):
        return 409
    if isinstance(error, Absent):
        return 404
    if isinstance(error, NotAnswered):
        return 504
    said = getattr(error, "status_code", 500)
    return said if isinstance(said, int) else 500


def lines_of(entry: Entry) -> Iterator[Line]:
    """The rows of an entry: one, or one for each operation of a batch."""
    results = _results(entry.answer) if entry.items else None
    if results is None or len(results) != len(entry.items):
        yield _line(entry, entry.op, entry.key, entry.source, entry.status, entry.answer[-TAIL_BYTES:])
        return
    for (op, key, source), result in zip(entry.items, results, strict=True):
        told = json.dumps({name: result.get(name) for name in _OWN}, separators=(",", ":")).encode()
        line = _line(entry, op, key, source, _whole(result.get("status")) or 500, told)
        yield line


_OWN = ("broker_index", "hops", "strategy", "walk", "sentence")


def _results(answer: bytes) -> list[Mapping[str, Any]] | None:
    try:
        results = json.loads(answer)["results"]
    except (ValueError, KeyError, TypeError):
        return None
    return results if isinstance(results, list) and all(isinstance(one, dict) for one in results) else None


def _whole(value: Any) -> int | None:
    return value if type(value) is int else None


def _line(entry: Entry, op: str, key: Sequence[str], source: str, status: int, tail: bytes) -> Line:
    sentence = "" if entry.error is None else str(entry.error)
    if not sentence and entry.items and status >= 400:
        sentence = str(json.loads(tail).get("sentence") or "")
    # A sentence quotes the request, so that only the walk is read from it.
    said = _said(tail) if tail else {_WALK: _said(sentence.encode()).get(_WALK, b"")}
    return Line(
        network=entry.network[:MOST_ID],
        at_ns=entry.at_ns,
        took_us=max(0, entry.took_ns // 1000),
        who=entry.who,
        via=entry.via,
        op=op,
        key=clean("|".join([name[:MOST_NAME] for name in key])),
        source=clean(source)[:MOST_NAME],
        status=status,
        outcome=outcome_of(status),
        server=_number(said.get(b"broker_index")),
        hops=_number(said.get(b"hops")),
        way=said.get(b"strategy", b"").decode()[:MOST_WAY],
        trace=said.get(_WALK, b"").decode(),
        sentence=clean(sentence)[:MOST_LETTERS],
        waits=entry.waits,
        in_batch=bool(entry.items),
    )


def _said(tail: bytes) -> dict[bytes, bytes]:
    """The last value of each field: what comes earlier may be data."""
    return {name or walk: value or trace for name, value, walk, trace in _SAID.findall(tail)}


def _number(digits: bytes | None) -> int | None:
    return int(digits) if digits and digits.isdigit() and len(digits) < 10 else None


def clean(text: str) -> str:
    """What both databases store: no NUL, no halves of characters."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
