"""What an engine has and gets without a member: deployments, and the newest records of topics. Blocking.

``scripts`` says under which keys. Functions raise ``OSError`` or ``WaxwingError`` if the engine is away.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable

from overlay.log.topics import partition_of
from overlay.runtime.logs import scripts
from overlay.runtime.logs.connection import Engine
from overlay.runtime.logs.instance import ANSWER_S, asking


def partitions_read(url: str, group: str, topic: str) -> dict[str, int]:
    """The deployments in which this group reads this topic: by id, how many partitions the topic has."""
    ending = f" g {group} {topic}"
    found: dict[str, int] = {}
    cursor = b"0"
    with asking(Engine.of(url), ANSWER_S) as ask:
        while True:
            cursor, keys = ask("SCAN", cursor, "MATCH", f"*{ending}", "COUNT", 1_000)
            for key in keys:
                leases = ask("HGET", key, "s")
                if leases:
                    found[key.decode().removesuffix(ending)] = len(json.loads(leases))
            if cursor == b"0":
                return dict(sorted(found.items()))


def newest(url: str, deployment: str, topic: str, partitions: int) -> dict[bytes, bytes]:
    """The newest value of each key of a compacted topic."""
    found: dict[bytes, bytes] = {}
    with asking(Engine.of(url), ANSWER_S) as ask:
        for number in range(partitions):
            flat = ask("HGETALL", f"{deployment} h {topic} {number}")
            found |= {key: text.split(b" ", 2)[2] for key, text in zip(flat[::2], flat[1::2], strict=True)}
    return found


def newest_of(url: str, deployment: str, topic: str, partitions: int, key: bytes) -> bytes | None:
    """The newest value of a key; ``None``: it has none."""
    with asking(Engine.of(url), ANSWER_S) as ask:
        found: bytes | None = ask("HGET", f"{deployment} h {topic} {partition_of(key, partitions)}", key)
    return None if found is None else found.split(b" ", 2)[2]


def append(url: str, deployment: str, topic: str, partitions: int, key: bytes, value: bytes) -> None:
    """A record of a compacted topic."""
    place = f"{topic} {partition_of(key, partitions)}"
    keys, wall_us = (f"{deployment} s {place}", f"{deployment} h {place}"), time.time_ns() // 1_000
    with asking(Engine.of(url), ANSWER_S) as ask:
        ask("EVAL", scripts.APPEND, 2, *keys, scripts.MOST_NEWEST, key, value, wall_us)


def forget(url: str, deployment: str, group: str, topics: Iterable[str]) -> None:
    """A group that will not read these topics again."""
    keys = [f"{deployment} {kind} {group} {topic}" for topic in topics for kind in "gm"]
    if keys:
        with asking(Engine.of(url), ANSWER_S) as ask:
            ask("UNLINK", *keys)
