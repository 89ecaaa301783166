"""What commands read and print, line by line."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import Any, BinaryIO, NamedTuple

from overlay.core.errors import WaxwingError, shown

READ_BYTES = 65_536
MOST_TEXT = 131_072
"""Bytes of a line of JSON: a notification has at most 60,000 of MessagePack."""


class InvalidDocument(WaxwingError):
    """A line that is no such JSON."""


def say(line: str) -> None:
    """At once, for whoever reads along. Raises ``BrokenPipeError``."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def tell(line: str) -> None:
    """What is no result goes to standard error."""
    sys.stderr.write(line + "\n")


def object_of(line: str) -> dict[str, Any]:
    """A JSON object. Raises ``InvalidDocument``."""
    if len(line) > MOST_TEXT:
        raise InvalidDocument(f"a line has at most {MOST_TEXT:,} characters")
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidDocument(f"{shown(line)} is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise InvalidDocument(f"{shown(line)} is no JSON object")
    return found


def lines(file: BinaryIO) -> Iterator[str]:
    """Those that are not empty. Raises ``InvalidDocument``."""
    while line := file.readline(MOST_TEXT + 2):
        if line.strip():
            yield _decoded(line)


class Line(NamedTuple):
    """Of standard input."""

    number: int
    """The first line is 1."""
    data: bytes

    def text(self) -> str:
        """Raises ``InvalidDocument``."""
        return _decoded(self.data)


async def coming_lines(fd: int) -> AsyncIterator[str]:
    """As ``lines``, while the event loop goes on: keep-alives are sent, and Ctrl-C ends it."""
    async for line in coming(fd):
        yield line.text()


async def coming(fd: int) -> AsyncIterator[Line]:
    """As ``coming_lines``, for those who go on after a line that is refused."""
    kept, number = b"", 0
    while True:
        await _readable(fd)
        read = os.read(fd, READ_BYTES)
        *whole, kept = (kept + read).split(b"\n")
        for line in whole if read else [kept]:
            number += 1
            if line.strip():
                yield Line(number, line)
        if not read:
            return
        kept = kept[: MOST_TEXT + 1]  # enough to be refused


def _decoded(line: bytes) -> str:
    if len(line) > MOST_TEXT:
        raise InvalidDocument(f"a line has at most {MOST_TEXT:,} bytes")
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise InvalidDocument(f"a line is not UTF-8: {error}") from None


async def _readable(fd: int) -> None:
    loop, has_come = asyncio.get_running_loop(), asyncio.Event()
    with suppress(PermissionError):  # a file, which never lets a reader wait
        loop.add_reader(fd, has_come.set)
        try:
            await has_come.wait()
        finally:
            loop.remove_reader(fd)
