"""The protocol of NATS: lines, and payloads with headers. Pure.

Source: https://docs.nats.io/reference/reference-protocols/nats-protocol
"""

from __future__ import annotations

from typing import NamedTuple

from overlay.core.errors import WaxwingError

MOST_BYTES = 64 << 20
"""In one message. The limit of a server is 64 MB, by default 1 MB."""
MOST_LINE = 1 << 16


class BadBytes(WaxwingError):
    """Bytes that no server of NATS sends."""


class Message(NamedTuple):
    subject: str
    subscription: int
    reply: str
    status: int
    """Of an answer without a responder or records, for example 503 or 408; 0: it has none."""
    payload: bytes


class Line(NamedTuple):
    """Anything else: ``INFO``, ``PING``, ``PONG``, ``+OK`` or ``-ERR``."""

    kind: str
    text: str


def publish(subject: str, payload: bytes, reply: str = "", headers: bytes = b"") -> bytes:
    """``headers``: lines that each end with CR LF."""
    to = f"{subject} {reply}" if reply else subject
    if not headers:
        return b"PUB %b %d\r\n%b\r\n" % (to.encode(), len(payload), payload)
    head = b"NATS/1.0\r\n" + headers + b"\r\n"
    return b"HPUB %b %d %d\r\n%b%b\r\n" % (to.encode(), len(head), len(head) + len(payload), head, payload)


def subscribe(subject: str, subscription: int) -> bytes:
    return f"SUB {subject} {subscription}\r\n".encode()


class Messages:
    """Collects bytes, and takes complete messages and lines from them."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> list[Message | Line]:
        """What is complete now. Raises ``BadBytes``."""
        self._bytes += data
        found: list[Message | Line] = []
        at = 0
        while (one := self._next(at)) is not None:
            value, at = one
            found.append(value)
        del self._bytes[:at]
        return found

    def _next(self, at: int) -> tuple[Message | Line, int] | None:
        """What begins at this offset and the offset after it; ``None`` if it is incomplete."""
        end = self._bytes.find(b"\r\n", at)
        if end < 0:
            if len(self._bytes) - at > MOST_LINE:
                raise BadBytes(f"the log's engine sent a line of more than {MOST_LINE:,} bytes.")
            return None
        kind, _, text = self._bytes[at:end].decode(errors="replace").partition(" ")
        kind = kind.upper()
        if kind not in ("MSG", "HMSG"):
            if kind not in ("INFO", "PING", "PONG", "+OK", "-ERR"):
                raise BadBytes("the log's engine sent what is not NATS's protocol.")
            return Line(kind, text), end + 2
        return self._message(kind == "HMSG", text.split(), end + 2)

    def _message(self, has_headers: bool, words: list[str], at: int) -> tuple[Message, int] | None:
        sizes = 2 if has_headers else 1
        if len(words) not in (2 + sizes, 3 + sizes):
            raise BadBytes("the log's engine sent a message without a size.")
        try:
            subscription, *lengths = map(int, [words[1], *words[-sizes:]])
        except ValueError:
            raise BadBytes("the log's engine sent a message without a size.") from None
        head, total = lengths[0] if has_headers else 0, lengths[-1]
        if not 0 <= head <= total <= MOST_BYTES:
            raise BadBytes(f"the log's engine sent a message of {total:,} bytes.")
        if len(self._bytes) < at + total + 2:
            return None
        status = _status(bytes(self._bytes[at : at + head]))
        reply = words[2] if len(words) == 3 + sizes else ""
        payload = bytes(self._bytes[at + head : at + total])
        return Message(words[0], subscription, reply, status, payload), at + total + 2


def _status(head: bytes) -> int:
    """Of a first line such as ``NATS/1.0 503``."""
    word = head[8:].lstrip(b" ")[:3]
    return int(word) if word.isdigit() and head[8:9] == b" " else 0
