"""A Valkey or Redis as an engine: opens logs, and says and changes what it has. ``scripts`` says under which keys."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable

from overlay.log.node import LogUser
from overlay.log.spec import LogSpec
from overlay.log.topics import partition_of
from overlay.runtime.logs.port import LogPort
from overlay.runtime.logs.valkey import scripts
from overlay.runtime.logs.valkey.asking import asking
from overlay.runtime.logs.valkey.connection import Server
from overlay.runtime.logs.valkey.log import ValkeyLog

ANSWER_S = 5.0


class Valkey:
    """An ``Engine``."""

    def __init__(self, url: str) -> None:
        """Raises ``WaxwingError``."""
        self._server = Server.of(url)
        self.where = f"{self._server.host}:{self._server.port}"

    def open(self, spec: LogSpec, deployment: str, name: str, node: LogUser) -> LogPort:
        return ValkeyLog(spec, self._server, deployment, name, node)

    def erase(self, deployment: str) -> None:
        cursor = b"0"
        with asking(self._server, ANSWER_S) as ask:
            while True:
                cursor, keys = ask("SCAN", cursor, "MATCH", f"{_escaped(deployment)} *", "COUNT", 1_000)
                if keys:
                    ask("UNLINK", *keys)
                if cursor == b"0":
                    return

    def partitions_read(self, group: str, topic: str) -> dict[str, int]:
        ending = f" g {group} {topic}"
        found: dict[str, int] = {}
        cursor = b"0"
        with asking(self._server, ANSWER_S) as ask:
            while True:
                cursor, keys = ask("SCAN", cursor, "MATCH", f"*{ending}", "COUNT", 1_000)
                for key in keys:
                    leases = ask("HGET", key, "s")
                    if leases:
                        found[key.decode().removesuffix(ending)] = len(json.loads(leases))
                if cursor == b"0":
                    return dict(sorted(found.items()))

    def newest(self, deployment: str, topic: str, partitions: int) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        with asking(self._server, ANSWER_S) as ask:
            for number in range(partitions):
                flat = ask("HGETALL", f"{deployment} h {topic} {number}")
                found |= {key: text.split(b" ", 2)[2] for key, text in zip(flat[::2], flat[1::2], strict=True)}
        return found

    def newest_of(self, deployment: str, topic: str, partitions: int, key: bytes) -> bytes | None:
        with asking(self._server, ANSWER_S) as ask:
            found: bytes | None = ask("HGET", f"{deployment} h {topic} {partition_of(key, partitions)}", key)
        return None if found is None else found.split(b" ", 2)[2]

    def append(self, deployment: str, topic: str, partitions: int, key: bytes, value: bytes) -> None:
        place = f"{topic} {partition_of(key, partitions)}"
        keys, wall_us = (f"{deployment} s {place}", f"{deployment} h {place}"), time.time_ns() // 1_000
        with asking(self._server, ANSWER_S) as ask:
            ask("EVAL", scripts.APPEND, 2, *keys, scripts.MOST_NEWEST, key, value, wall_us)

    def forget(self, deployment: str, group: str, topics: Iterable[str]) -> None:
        keys = [f"{deployment} {kind} {group} {topic}" for topic in topics for kind in "gm"]
        if keys:
            with asking(self._server, ANSWER_S) as ask:
                ask("UNLINK", *keys)


def _escaped(text: str) -> str:
    return "".join(f"\\{letter}" if letter in "*?[]\\" else letter for letter in text)
