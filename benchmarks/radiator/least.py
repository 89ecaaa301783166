"""The least Python that does the same as the server's hot paths, without checks, limits, counters or an account."""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Sequence
from hashlib import blake2s
from math import asin, cos, radians, sin, sqrt
from typing import Any

from benchmarks.radiator.bare import ACCEPTED, ACCEPTED_HEAD, CONTEXT_HEAD, MAGIC, OK


class Accepting:
    """Inflates and parses a message, and keeps it and its answer."""

    def __init__(self) -> None:
        self.contexts: dict[int, Any] = {}
        self.answers: dict[tuple[int, int], bytes] = {}
        self.pending: list[Any] = []

    def accept(self, data: bytes) -> bytes:
        req, instance, _, _ = CONTEXT_HEAD.unpack_from(data)
        context = json.loads(zlib.decompress(data[CONTEXT_HEAD.size :], 31))
        self.contexts[instance] = context
        self.pending.append(context)
        answer = self.answers[instance, req] = ACCEPTED_HEAD.pack(MAGIC, ACCEPTED, req, OK, 0)
        return answer


def retain(queue: list[Any], message: Any, volume: int) -> Sequence[Any] | None:
    """Algorithm 1 for recipients that are all equal: one queue and one threshold."""
    queue.append(message)
    if len(queue) < volume:
        return None
    full = queue[:]
    queue.clear()
    return full


def constant(s: Any, r: Any) -> tuple[str, int]:
    return "volume", 20


def distance(s: Any, r: Any) -> tuple[str, int]:
    """{volume: distance_km(s.location, r.location)}"""
    a, b = s["location"], r["location"]
    x, y = radians(a["latitude"]), radians(b["latitude"])
    half = sin((y - x) / 2) ** 2 + cos(x) * cos(y) * sin(radians(b["longitude"] - a["longitude"]) / 2) ** 2
    return "volume", max(1, int(2 * 6_371 * asin(sqrt(half))))


def join(contexts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    attributes: dict[str, list[Any]] = {}
    for context in contexts:
        for name, value in context["a"].items():
            attributes.setdefault(name, []).append(value)
    return {
        "a": attributes,
        "n": len(contexts),
        "p": list(dict.fromkeys(name for context in contexts for name in context["p"])),
        "t": [min(context["t"][0] for context in contexts), max(context["t"][1] for context in contexts)],
    }


def dump(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()


def compress(data: bytes, codec: str) -> bytes:
    if codec == "none":
        return data
    if codec == "gzip":
        return zlib.compress(data, 6, 31)
    from overlay.systems.radiator.wire.dictionary import DICTIONARY

    deflater = zlib.compressobj(9, zlib.DEFLATED, -15, 8, zlib.Z_FILTERED, DICTIONARY)
    return deflater.compress(data) + deflater.flush()


def chain(members: Sequence[tuple[str, int, str]], server: tuple[str, int], body: bytes, key: bytes) -> bytes:
    """A chain in random order, compressed, with its MAC."""
    order = random.sample(members, len(members))
    blob = zlib.compress(b"[%b,%b,%b]" % (dump(order), dump(server), body), 6, 31)
    return blake2s(blob, key=key, digest_size=8).digest() + blob
