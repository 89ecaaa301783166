"""Processor time of work in this process: variants in turn, in a random order in each round."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from random import Random

from benchmarks.figures import RATIO, Figure, figure

Work = Callable[[], int]
"""Does something so many times."""
make = partial(figure, "radiator")


def in_turn(works: Mapping[str, Work], rounds: int) -> dict[str, list[float]]:
    """By name, the microseconds of each time in each round. The first round is not counted."""
    costs: dict[str, list[float]] = {name: [] for name in works}
    chance = Random(len(works))
    gc.collect()
    gc.disable()
    try:
        for round_number in range(rounds + 1):
            for name in chance.sample(list(works), len(works)):
                spent_us = once(works[name])
                if round_number:
                    costs[name].append(spent_us)
    finally:
        gc.enable()
    return costs


def once(work: Work) -> float:
    """Microseconds of each time."""
    began = time.process_time()
    times = work()
    return (time.process_time() - began) * 1e6 / times


def compared(
    what: str, ours: Work, least: Work, rounds: int, *, unit: str = "µs", at_most: float | None = None
) -> Iterator[Figure]:
    """``what``, and the same by the least Python."""
    costs = in_turn({"ours": ours, "least": least}, rounds)
    yield make(what, unit, costs["ours"], "lower", at_most=at_most)
    yield make(f"{what}: Python, bare", unit, costs["least"], "lower")
    ratios = [one / other for one, other in zip(costs["ours"], costs["least"], strict=True)]
    yield make(f"{what} / Python, bare", RATIO, ratios, "lower")


def repeated(act: Callable[[], object], times: int) -> Work:
    def work() -> int:
        for _ in range(times):
            act()
        return times

    return work
