"""What an engine has and gets without a member: deployments, the newest records of topics, and what a run left.
Blocking.

``scripts`` says under which keys. Functions raise ``OSError`` or ``WaxwingError`` if the engine is away.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from typing import Any, Final

from overlay.log.topics import Record, partition_of
from overlay.runtime.logs import scripts
from overlay.runtime.logs.connection import Engine
from overlay.runtime.logs.instance import ANSWER_S, asking, escaped
from overlay.runtime.logs.valkey import read_record

AT_ONCE: Final = 1_000
"""Records in one answer."""
MOST_UNCOMMITTED: Final = 200_000
"""Records; a supervisor that reads them does nothing else."""


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


def uncommitted(url: str, deployment: str) -> Iterator[Record]:
    """The records that a group has not committed, of each group that has begun to read; ``MOST_UNCOMMITTED`` at most.
    Counterpart: ``overlay.log.core.LogCore.uncommitted``."""
    beginning, left, cursor = f"{deployment} g ", MOST_UNCOMMITTED, b"0"
    with asking(Engine.of(url), ANSWER_S) as ask:
        while True:
            cursor, keys = ask("SCAN", cursor, "MATCH", f"{escaped(beginning)}*", "COUNT", AT_ONCE)
            for key in keys:
                topic = key.decode().rpartition(" ")[2]
                flat = ask("HGETALL", key)
                known = dict(zip(flat[::2], flat[1::2], strict=True))
                for number in [name[1:] for name in known if name[:1] == b"g"]:  # was assigned
                    begin = known.get(b"c" + number, b"0-0")
                    for record in _from(ask, deployment, topic, int(number), begin, left):
                        left -= 1
                        yield record
            if cursor == b"0":
                return


def _from(ask: Any, deployment: str, topic: str, number: int, position: bytes, most: int) -> Iterator[Record]:
    """The records of a partition from this position on, as scripts write it."""
    begin = b"%d-%d" % tuple(map(int, position.split(b"-")))
    while most > 0:
        found = ask("XRANGE", f"{deployment} s {topic} {number}", begin, "+", "COUNT", min(most, AT_ONCE))
        for entry in found:
            yield read_record(topic, number, *entry)
        if len(found) < AT_ONCE:
            return
        most, begin = most - len(found), b"(" + found[-1][0]
