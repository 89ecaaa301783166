"""Memory and time with the number of subscriptions, in both arms and by index. Counterpart: ``loaded``."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial

from benchmarks.figures import Figure, figure
from benchmarks.record import ROOT

SIZES, QUICK_SIZES = (10_000, 80_000, 1_000_000), (10_000,)
CONTENDERS = (("silbops", "access"), ("silbops", "leaf"), ("siena", "access"), ("siena", "counting"))
FULL_ROUNDS = 4
MEMORY_GOAL_MIB = 1024
"""Of the default arm and index, at the largest size."""
make = partial(figure, "silbops")


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    is_full = rounds >= FULL_ROUNDS
    for size in SIZES if is_full else QUICK_SIZES:
        for arm, index in CONTENDERS:
            what = f"{size:,} subscriptions, {arm}, {index}"
            say(what)
            found: dict[str, list[float]] = defaultdict(list)
            for _ in range(max(1, rounds // 3) if size < max(SIZES) else 1):
                for name, value in _told(size, arm, index).items():
                    found[name].append(value)
            is_bound = size == max(SIZES) and (arm, index) == CONTENDERS[0]
            goal = MEMORY_GOAL_MIB if is_bound else None
            yield make(f"{what}: memory of the process", "MiB", found["resident_mib"], "lower", at_most=goal)
            yield make(f"{what}: a message of a context change", "µs", found["message"], "lower")
            yield make(f"{what}: a notification", "µs", found["notification"], "lower")


def _told(size: int, arm: str, index: str) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.silbops.loaded", str(size), arm, index]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found
