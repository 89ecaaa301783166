"""What a field of each kind says, in words, and what is wrong with it. Pure.

The codec's own readers judge wherever it has one, so that a sentence here is the broker's.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from brokerweb.systems.context_broker.wirelab.kinds import Kind
from brokerweb.systems.context_broker.wirelab.layouts import LAYOUTS
from overlay.core.addresses import parse_address, parse_host, parse_port
from overlay.core.errors import WireError
from overlay.systems.context_broker.broker.extensions import TARGET_DIGITS
from overlay.systems.context_broker.broker.fields import MAX_PAYLOAD, check_name, read_integer
from overlay.systems.context_broker.broker.messages import OPERATIONS, UNKNOWN, Status

ACKS = {str(int(status)): status for status in Status if status < 200}
NACKS = {str(int(status)): status for status in Status if status >= 200}
OPERATION_NAMES = (*OPERATIONS.values(), UNKNOWN)
IN_WORDS = {
    Status.REQ_RECEIVED: "received",
    Status.REQ_PROCESSED: "done",
    Status.I_ERROR: "the broker could not do it",
    Status.DATA_NOT_FOUND: "no broker on the way has valid data",
    Status.BAD_REQUEST: "not a message that the broker accepts",
}
PREFIXES = {
    Kind.ACK_STATUS: "Status:",
    Kind.NACK_STATUS: "Status:",
    Kind.OPERATION: "Operation ",
    Kind.REQUESTER: "Requested by ",
}
"""What stands before the value, within the field."""
_LAST_MS = 253_402_300_799_999
"""The end of the year 9999, the last that a date can name."""


def words_of(kind: Kind, text: str, fixed: str, now_ms: int) -> str:
    """What the field says; ``fixed`` is the only value of a ``WORD``. Raises ``WireError`` for a wrong one."""
    if kind == Kind.WORD:
        if text != fixed:
            raise WireError(f"must be {fixed}, not {text[:40]!r}")
        return ""
    if kind == Kind.TIME:
        return _time(read_integer(text), now_ms)
    reader = _READERS.get(kind)
    return reader(text) if reader else ""


def date_of(unix_ms: int) -> str:
    """Unix milliseconds as a date and time."""
    if unix_ms > _LAST_MS:
        return "after the year 9999"
    moment = datetime.fromtimestamp(unix_ms // 1000, UTC)
    return f"{moment.day} {moment:%b %Y %H:%M:%S}.{unix_ms % 1000:03d} UTC"


def distance(unix_ms: int, now_ms: int) -> str:
    """How far from now: "3 min ago", "in 120 s"."""
    seconds = abs(now_ms - unix_ms) / 1000
    if seconds < 1:
        return "now"
    for limit, unit, word in ((120, 1, "s"), (7_200, 60, "min"), (172_800, 3_600, "h"), (10**9, 86_400, "days")):
        if seconds < limit:
            words = f"{round(seconds / unit)} {word}"
            return f"{words} ago" if unix_ms < now_ms else f"in {words}"
    return "more than 30 years ago" if unix_ms < now_ms else "in more than 30 years"


def _time(unix_ms: int, now_ms: int) -> str:
    return f"{date_of(unix_ms)}, {distance(unix_ms, now_ms)}"


def _code(text: str) -> str:
    layout = LAYOUTS.get(read_integer(text))
    if layout is None:
        raise WireError("no message has this code")
    return layout.name


def _integer(text: str) -> str:
    return f"{read_integer(text)}"


def _ttl(text: str) -> str:
    ttl = read_integer(text)
    if not 1 <= ttl <= 255:
        raise WireError(f"a TTL is from 1 to 255, not {ttl}")
    return f"{ttl} hop{'' if ttl == 1 else 's'} at most"


def _size(text: str) -> str:
    size = read_integer(text)
    if not 1 <= size <= MAX_PAYLOAD:
        raise WireError(f"a payload has 1 to {MAX_PAYLOAD} bytes, not {size}")
    return f"{size} byte{'' if size == 1 else 's'}"


def _flag(text: str) -> str:
    if text not in ("A", "U"):
        raise WireError(f"{text[:10]!r} is not the flag A or U")
    return "advertisement" if text == "A" else "update"


def _name(text: str) -> str:
    check_name(text)
    return ""


def _status(statuses: dict[str, Status]) -> Callable[[str], str]:
    def read(text: str) -> str:
        word = _behind(text, Kind.ACK_STATUS)
        if word not in statuses:
            raise WireError(f"must be Status: and one of {', '.join(statuses)}, not {text[:40]!r}")
        return f"{statuses[word].name}: {IN_WORDS[statuses[word]]}"

    return read


def _operation(text: str) -> str:
    if _behind(text, Kind.OPERATION) not in OPERATION_NAMES:
        raise WireError(f"{text[:60]!r} is not the name of an operation")
    return ""


def _requester(text: str) -> str:
    return _address(_behind(text, Kind.REQUESTER))


def _behind(text: str, kind: Kind) -> str:
    prefix = PREFIXES[kind]
    if not text.startswith(prefix):
        raise WireError(f"must begin with {prefix.strip()!r}, not {text[:40]!r}")
    return text[len(prefix) :]


def _address(text: str) -> str:
    host, port = parse_address(text)
    return f"host {host}, port {port}"


def _host(text: str) -> str:
    parse_host(text)
    return ""


def _port(text: str) -> str:
    parse_port(text)
    return ""


def _target(text: str) -> str:
    if len(text) != TARGET_DIGITS or text.strip("0123456789abcdef"):
        raise WireError(f"{text[:60]!r} is not an identifier of {TARGET_DIGITS} hexadecimal digits")
    return ""


def _counters(text: str) -> str:
    seen = set()
    for pair in text.split(";"):
        name, equals, value = pair.partition("=")
        if not name or not equals or name in seen:
            raise WireError(f"{pair[:60]!r} is not one name=value")
        read_integer(value)
        seen.add(name)
    return f"{len(seen)} counter{'' if len(seen) == 1 else 's'}"


def _star(text: str) -> str:
    if text != "*":
        raise WireError(f"must be *, not {text[:40]!r}")
    return ""


_READERS: dict[Kind, Callable[[str], str]] = {
    Kind.CODE: _code,
    Kind.INTEGER: _integer,
    Kind.TTL: _ttl,
    Kind.SIZE: _size,
    Kind.FLAG: _flag,
    Kind.NAME: _name,
    Kind.ACK_STATUS: _status(ACKS),
    Kind.NACK_STATUS: _status(NACKS),
    Kind.OPERATION: _operation,
    Kind.REQUESTER: _requester,
    Kind.ADDRESS: _address,
    Kind.HOST: _host,
    Kind.PORT: _port,
    Kind.STAR: _star,
    Kind.TARGET: _target,
    Kind.COUNTERS: _counters,
}
