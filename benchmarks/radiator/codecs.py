"""Bytes of a message in an aggregate, by codec: the body that is pushed, divided by its messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.figures import Figure
from benchmarks.radiator.samples import SEED, contexts
from benchmarks.radiator.timing import make
from overlay.systems.radiator.context import join
from overlay.systems.radiator.wire.compression import CODECS, deflate

VOLUMES = (1, 20, 50)
MESSAGES = 500
SEEDS = 5
PROTOTYPE = {"none": (406, 283, 279), "gzip": (210, 60, 54), "dictionary": (84, 53, 51)}
"""Measured before there was a workload, with shorter names and other places. The last row is the goal."""


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    """Each value is the mean over the messages of one seed, none of which has been used to choose the dictionary."""
    say("bytes of a message, by codec")
    for number, codec in enumerate(CODECS):
        for place, volume in enumerate(VOLUMES):
            sizes = [_bytes(volume, number, SEED + seed) for seed in range(SEEDS)]
            at_most = PROTOTYPE[codec][place] if codec == "dictionary" else None
            yield make(f"a message of {volume} in a body, {codec}", "bytes", sizes, "lower", at_most=at_most)


def _bytes(volume: int, codec: int, seed: int) -> float:
    messages = contexts(MESSAGES, seed)
    bodies = [join(messages[at : at + volume]).encode() for at in range(0, MESSAGES, volume)]
    return sum(len(deflate(body, codec)) for body in bodies) / MESSAGES
