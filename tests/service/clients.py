"""The ways into a network: each stores and queries the number of an entity, as an application would.

A client repeats a request until it has an answer or ``PATIENCE_S`` is over: what is measured is whether an application
gets through, not whether a single connection does.
"""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar
from urllib.parse import quote

from tests.conformance.plain import Peer, acknowledged, now_ms

PATIENCE_S = 20.0
"""Longer than a web process takes to be started again."""
TRY_S = 1.0
TYPE, SCOPE, FIELD = "service", "count", "n"

T = TypeVar("T")


@dataclass(frozen=True)
class Place:
    """Where the network is."""

    url: str
    network: str
    token: str
    brokers: Sequence[tuple[str, int]]
    """By index."""

    @property
    def context(self) -> str:
        return f"{self.url}/api/networks/{self.network}/context"

    def context_of(self, entity: str) -> str:
        return f"{self.context}/{TYPE}/{quote(entity, safe='')}/{SCOPE}/"


class Failed(Exception):
    """No answer in time, or a refusal."""


class Client(Protocol):
    """One way in, for one thread."""

    name: str

    def store(self, entity: str, number: int, valid_ms: int) -> int | None:
        """Returns the index of the broker that acknowledged; ``None`` if it does not say. Raises ``Failed``."""
        ...

    def query(self, entity: str) -> int | None:
        """``None``: there is none. Raises ``Failed``."""
        ...

    def close(self) -> None: ...


class Plain:
    """Datagrams, as the page of the wire protocol describes them; the next broker after a second of silence."""

    name = "udp"

    def __init__(self, place: Place) -> None:
        self._brokers = place.brokers
        self._turn = threading.get_ident() % len(place.brokers)
        self._peer = Peer()
        self._stamp = 0

    def store(self, entity: str, number: int, valid_ms: int) -> int | None:
        payload = f"{FIELD}={number}"

        def send() -> int:
            stamp = self._next_stamp()
            ends = stamp + valid_ms
            text = f"2|{stamp}|{len(payload)}|A|{entity}-{self.name}|{TYPE}|{entity}|{SCOPE}|{stamp}|{ends}|{payload}"
            return self._exchange(text, "5|", lambda answer: acknowledged(answer)[0] == 102)[0]

        return patiently(send)

    def query(self, entity: str) -> int | None:
        def ask() -> int | None:
            text = f"3|{self._next_stamp()}|{TYPE}|{entity}|{SCOPE}"
            _, answer = self._exchange(text, ("4|", "6|"), lambda answer: True)
            return number_of(answer.rpartition("|")[2]) if answer.startswith("4|") else None

        return patiently(ask)

    def _next_stamp(self) -> int:
        self._stamp = max(self._stamp + 1, now_ms())
        return self._stamp

    def _exchange(self, text: str, codes: str | tuple[str, ...], is_end: Callable[[str], bool]) -> tuple[int, str]:
        """The broker's index, and its answer. Raises ``Failed``, and turns to the next broker."""
        self._peer.close()
        self._peer = Peer()  # so that late answers to earlier requests do not arrive here
        self._peer.socket.settimeout(TRY_S)
        broker = self._turn % len(self._brokers)
        self._peer.send(text, self._brokers[broker])
        try:
            while True:
                answer = self._peer.hear()
                if answer.startswith(codes) and is_end(answer):
                    return broker, answer
        except OSError as error:
            self._turn += 1
            raise Failed(str(error)) from None

    def close(self) -> None:
        self._peer.close()


class Curl:
    """REST by a process of ``curl`` for each request."""

    name = "curl"

    def __init__(self, place: Place) -> None:
        self._place = place

    def store(self, entity: str, number: int, valid_ms: int) -> int | None:
        body = {"provider": f"{entity}-{self.name}", "payload": {FIELD: str(number)}, "valid_ms": valid_ms}
        found = self._curl(entity, "-X", "PUT", "-H", "Content-Type: application/json", "-d", json.dumps(body))
        if found is None:
            raise Failed("not found")
        return int(found["broker_index"])

    def query(self, entity: str) -> int | None:
        found = self._curl(entity)
        return None if found is None else int(found["payload"][FIELD])

    def _curl(self, entity: str, *more: str) -> dict | None:  # type: ignore[type-arg]
        """The answer; ``None`` for 404. Raises ``Failed``."""
        command = ["curl", "-sS", "--max-time", f"{PATIENCE_S:g}", "--retry", "20", "--retry-delay", "1"]
        command += ["--retry-max-time", f"{PATIENCE_S:g}", "--retry-connrefused", "-w", "\n%{http_code}"]
        command += ["-H", f"Authorization: Bearer {self._place.token}", *more, self._place.context_of(entity)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        text, _, status = done.stdout.rpartition("\n")
        if status == "404":
            return None
        if done.returncode or status != "200":
            raise Failed(f"{status} {text[:200]} {done.stderr[:200]}")
        found: dict = json.loads(text.rpartition("\n")[2])  # type: ignore[type-arg]  # after those of earlier tries
        return found

    def close(self) -> None:
        pass


def number_of(payload: str) -> int:
    """Of a payload made of pairs; other clients add more."""
    return int(dict(pair.split("=", 1) for pair in payload.split(";"))[FIELD])


def patiently(action: Callable[[], T]) -> T:
    """Its result, tried again until ``PATIENCE_S`` is over. Raises ``Failed``."""
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            return action()
        except Failed:
            if time.monotonic() > until:
                raise
