"""What a client keeps in a file so that its next process resumes: who it is, where it was, and its subscriptions.

The file is JSON: ``{"id", "broker", "starts", "subscriptions": [{"number", "where", "scope", "ttl_ms"}]}``. Contexts
are not in it: a broker that remembers the client has a newer one.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from overlay.core.errors import WaxwingError
from overlay.core.settings import InvalidText
from overlay.runtime.private_files import write_private
from overlay.systems.silbops.clients.terms import Former
from overlay.systems.silbops.content.filters import read_filter
from overlay.systems.silbops.content.values import InvalidContent
from overlay.systems.silbops.scope.text import parse

ID_BYTES = 16
NUMBERS_BITS = 32
"""Of the numbers of one process. The next one begins above them, also if this one dies: a broker takes publications
with numbers that are not above the last for repeats."""
MOST_STARTS = (1 << NUMBERS_BITS) - 1
Constraints = Sequence[Sequence[Any]]


class InvalidMemory(WaxwingError):
    """A file that is no such memory, or cannot be read or written."""


class Subscribed(NamedTuple):
    where: Constraints
    scope: str
    ttl_ms: int | None


class Memory:
    """``id``: of 16 bytes. ``subscriptions``: by number."""

    def __init__(self, path: Path, id: bytes) -> None:
        self.path, self.id = path, id
        self.broker = ""
        """The last that served it; empty: none did."""
        self.starts = 0
        self.subscriptions: dict[int, Subscribed] = {}

    @classmethod
    def at(cls, path: str | Path, id: bytes | None = None) -> Self:
        """Of this file; without one, that of a new client. Raises ``InvalidMemory``, also for another ``id`` than
        the file's."""
        path = Path(path)
        try:
            document = json.loads(path.read_text())
        except FileNotFoundError:
            return cls(path, secrets.token_bytes(ID_BYTES) if id is None else id)
        except OSError as error:
            raise InvalidMemory(f"{path} cannot be read: {error.strerror}") from None
        except (ValueError, RecursionError):
            raise InvalidMemory(f"{path} is no file of a client: it is no JSON") from None
        try:
            found = cls._of(path, document)
        except (KeyError, TypeError, ValueError, RecursionError, InvalidContent, InvalidText) as error:
            raise InvalidMemory(f"{path} is no file of a client: {error}") from None
        if id is not None and id != found.id:
            raise InvalidMemory(f"{path} is of the client {found.id.hex()}, not of {id.hex()}")
        return found

    @classmethod
    def _of(cls, path: Path, document: Any) -> Self:
        found = cls(path, bytes.fromhex(document["id"]))
        found.broker, found.starts = str(document["broker"]), int(document["starts"])
        if len(found.id) != ID_BYTES or not 0 <= found.starts <= MOST_STARTS:
            raise ValueError("id or starts")
        for one in document["subscriptions"]:
            subscribed = Subscribed(one["where"], one["scope"], one["ttl_ms"])
            read_filter(subscribed.where)
            if subscribed.scope:
                parse(subscribed.scope)
            found.subscriptions[int(one["number"])] = subscribed
        return found

    def begin(self) -> Former:
        """Of a process that begins now. Raises ``InvalidMemory``."""
        last = self.starts << NUMBERS_BITS
        self.starts += 1
        self.save()
        return Former(self.broker, last)

    def save(self) -> None:
        """As a unit: a process that dies leaves the former file. Raises ``InvalidMemory``."""
        subscriptions = [{"number": number, **one._asdict()} for number, one in self.subscriptions.items()]
        document = {
            "id": self.id.hex(),
            "broker": self.broker,
            "starts": self.starts,
            "subscriptions": subscriptions,
        }
        new = self.path.with_name(f"{self.path.name}.new")
        try:
            write_private(new, json.dumps(document, indent=1) + "\n")
            new.replace(self.path)
        except OSError as error:
            raise InvalidMemory(f"{self.path} cannot be written: {error.strerror}") from None
