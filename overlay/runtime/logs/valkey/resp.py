"""RESP 2, the protocol of Valkey and Redis: requests as bytes, answers from bytes. Pure.

https://valkey.io/topics/protocol/. The client library in the requirements reads sockets itself, and is larger in memory
than a server of ours.
"""

from __future__ import annotations

from typing import Any

from overlay.core.errors import WaxwingError

MOST_BYTES = 64 << 20
"""Of one answer."""
MOST_DEEP = 8
"""Levels of lists in an answer."""


class EngineError(WaxwingError):
    """The engine refused a request; the message is the engine's."""


def is_about_rights(error: EngineError) -> bool:
    """Whether it refused because of who asked: the user may not do this, or is not known."""
    return str(error).startswith(("NOPERM", "ERR ACL failure", "WRONGPASS", "NOAUTH"))


class BadAnswer(WaxwingError):
    """Bytes that are no answer."""


def request(*arguments: bytes | str | int) -> bytes:
    """A request with these arguments."""
    datas = [one if type(one) is bytes else str(one).encode() for one in arguments]
    return b"*%d\r\n%b" % (len(datas), b"".join([b"$%d\r\n%b\r\n" % (len(data), data) for data in datas]))


class Answers:
    """Collects bytes, and takes whole answers from them."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> list[Any]:
        """The answers that are complete now: ``bytes``, ``int``, ``None``, a list of these, or an ``EngineError``, not
        raised. Raises ``BadAnswer``."""
        self._bytes += data
        found, at = [], 0
        while (one := self._answer(at, 0)) is not None:
            value, at = one
            found.append(value)
        del self._bytes[:at]
        if len(self._bytes) > MOST_BYTES:
            raise BadAnswer(f"an answer of the log's engine is longer than {MOST_BYTES:,} bytes.")
        return found

    def _answer(self, at: int, depth: int) -> tuple[Any, int] | None:
        """The answer at this offset and the offset after it; ``None`` if it is incomplete."""
        end = self._bytes.find(b"\r\n", at)
        if end < 0:
            return None
        kind, text, after = self._bytes[at : at + 1], bytes(self._bytes[at + 1 : end]), end + 2
        if kind == b"+":
            return text, after
        if kind == b"-":
            return EngineError(text.decode(errors="replace")), after
        number = _number(text)
        if kind == b":":
            return number, after
        if kind == b"$":
            return self._bulk(number, after)
        if kind != b"*" or depth == MOST_DEEP:
            raise BadAnswer("the log's engine sent something that is no answer.")
        return self._list(number, after, depth)

    def _bulk(self, length: int, at: int) -> tuple[bytes | None, int] | None:
        if length < 0:
            return None, at
        if length > MOST_BYTES:
            raise BadAnswer(f"an answer of the log's engine is longer than {MOST_BYTES:,} bytes.")
        if len(self._bytes) < at + length + 2:
            return None
        return bytes(self._bytes[at : at + length]), at + length + 2

    def _list(self, length: int, at: int, depth: int) -> tuple[list[Any] | None, int] | None:
        if length < 0:
            return None, at
        found = []
        for _ in range(length):
            one = self._answer(at, depth + 1)
            if one is None:
                return None
            value, at = one
            found.append(value)
        return found, at


def _number(text: bytes) -> int:
    try:
        return int(text)
    except ValueError:
        raise BadAnswer("the log's engine sent something that is no answer.") from None
