"""Answers a server's operators: only programs on its own host, as clients have told their subscriptions and data to the
server and not to each other. Large answers go to addresses that a token has proven. Rows come in pages that fit a
datagram. Pure.

Counterpart: the programs of a system ask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Protocol

import msgpack

from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.core.hashes import blake2b
from overlay.core.strangers import MOST_TIMES, is_on_host, token_of
from overlay.peers.questions import FIGURES, Inspect, Inspected, Outcome, answer

MOST_ROWS, MOST_BYTES = 500, 64_000
"""Of one answer. Any single row fits: a notification has at most 60,000 bytes."""

Content = Callable[[Inspect], Mapping[str, Any]]


class Sending(Protocol):
    """What it takes of a server's datagrams: ``Peers`` or ``Operators``."""

    counters: dict[str, int]

    def send_bare(self, address: Address, data: bytes) -> bool: ...


class Answers:
    def __init__(
        self, peers: Sending, id: bytes, own: Address, chances: Chances, contents: Mapping[Any, Content]
    ) -> None:
        """``id``: of the server. ``contents``: by subject, a number; others have no rows."""
        self._peers, self._own, self._contents = peers, own, contents
        self._secret = blake2b(chances.secret or id, digest_size=16).digest()

    def answer(self, message: Inspect, source: Address) -> None:
        found = self._answer(message, source)
        self._peers.counters[f"inspect_{found.outcome.name.lower()}"] += 1
        self._peers.send_bare(source, answer(found))

    def _answer(self, message: Inspect, source: Address) -> Inspected:
        if not is_on_host(source, self._own):
            return Inspected(message.req, Outcome.ELSEWHERE)
        token = token_of(self._secret, source, 0)
        is_proven = message.token == token
        if is_proven or message.subject == FIGURES:
            found = Inspected(message.req, Outcome.OK, content=self._content(message))
            if is_proven or len(answer(found)) <= MOST_TIMES * message.size:
                return found
        return Inspected(message.req, Outcome.TOKEN, token)

    def _content(self, message: Inspect) -> bytes:
        make = self._contents.get(message.subject, _nothing)
        packed: bytes = msgpack.packb(make(message))
        return packed


def _nothing(message: Inspect) -> Mapping[str, Any]:
    return page(message, (), 0)


def page(message: Inspect, rows: Iterable[Any], total: int) -> dict[str, Any]:
    """``{total, rows}`` from the message's offset on, as many as fit."""
    chosen = islice(rows, message.offset, message.offset + min(message.limit, MOST_ROWS))
    return {"total": total, "rows": list(_fitting(chosen))}


def _fitting(rows: Iterable[Any]) -> Iterator[Any]:
    left = MOST_BYTES
    for row in rows:
        left -= len(msgpack.packb(row))
        if left < 0:
            return
        yield row
