"""Which deployments have their records in an engine."""

from __future__ import annotations

import json

from overlay.runtime.logs.connection import Engine
from overlay.runtime.logs.instance import ANSWER_S, asking


def partitions_read(url: str, group: str, topic: str) -> dict[str, int]:
    """The deployments in which this group reads this topic: by id, how many partitions the topic has. Raises
    ``OSError`` or ``WaxwingError`` if the engine is away."""
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
