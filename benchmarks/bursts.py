"""Short bursts of load on all variants in turn, each between two bursts on the reference.

The speed of a shared machine drifts by 25 % within minutes, so variants must not be measured one after the other. A
burst takes a fifth of a second, and neighbouring bursts run at the same speed of the machine.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean
from typing import Literal

from benchmarks.figures import Unavailable
from benchmarks.programs import program
from benchmarks.servers import CLIENT_CORE, Server, busy_s, cores

BURST_MS = 200
FILL_TRIES = 3
Operation = Literal["quiet", "full", "put", "ping"]
Metric = Literal["rate", "processor_us", "p50_us", "p99_us", "foreign"]


@dataclass(frozen=True)
class Burst:
    """The results of one burst. ``processor_us`` is the server's processor time per request."""

    requests: int
    rate: float
    processor_us: float
    p50_us: float
    p99_us: float
    foreign: float
    """Cores used by other processes than the generator and the server. Above 0.1, absolute values are unreliable."""


Shoot = Callable[[Server], Burst]
"""Sends a burst of load to a server."""


class Wrong(Unavailable):
    """A server answered wrongly or not at all, so its speed is meaningless."""


def burst(
    server: Server,
    operation: Operation = "quiet",
    window: int = 64,
    *,
    measured: Sequence[Server] = (),
    is_sleeping: bool = False,
    core: int = CLIENT_CORE,
    ms: float | None = None,
    count: int = 0,
    keys: int = 1000,
    first: int = 0,
    in_order: bool = False,
    payload: int = 1000,
) -> Burst:
    """Send load from ``benchmarks/c/load.c`` for ``ms`` (``BURST_MS``), or ``count`` requests.

    The processor time is that of ``measured``, by default ``server``. The generator polls on its own core, so that the
    server is the bottleneck. With ``is_sleeping``, and with one outstanding request, it sleeps in the kernel until the
    answer arrives. Raises ``Wrong`` if an answer is wrong, or if more than one in a thousand is missing.
    """
    command = [str(program("load")), "--to", server.address, "--op", operation, "--window", str(window)]
    command += ["--keys", str(max(keys, window)), "--first", str(first), "--payload", str(payload)]
    command += ["--count", str(count)] if count else ["--ms", f"{ms or BURST_MS:g}"]
    command += ["--in-order"] if in_order else []
    if len(cores()) > 1:
        command += ["--core", str(core)] if is_sleeping or window == 1 else ["--core", str(core), "--spin"]
    measured = measured or (server,)
    before = [each.processor_ns() for each in measured]
    busy, began = busy_s(), time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    busy, took = busy_s() - busy, time.monotonic() - began
    spent = sum(each.processor_ns() - ns for each, ns in zip(measured, before, strict=True))
    if done.returncode:
        raise Wrong(f"{' '.join(command)}: {done.stderr.strip()}")
    told = json.loads(done.stdout)
    if told["bad"] or told["lost"] > told["requests"] / 1000:
        raise Wrong(f"{' '.join(command)}: {done.stdout.strip()}")
    requests = told["requests"]
    return Burst(
        requests=requests,
        rate=requests / told["seconds"],
        processor_us=spent / requests / 1000,
        p50_us=told["p50_us"],
        p99_us=told["p99_us"],
        foreign=max(busy - spent / 1e9 - told["cpu_us"] / 1e6, 0) / took,
    )


def fill(server: Server, entries: int, *, first: int = 0, payload: int = 1000) -> None:
    """Store ``entries`` entries of ``payload`` bytes. Raises ``Wrong`` if the server does not accept them."""
    reason: Wrong | None = None
    for _ in range(FILL_TRIES):  # a busy machine loses datagrams
        try:
            stored = burst(server, "put", 32, count=entries, keys=entries, first=first, payload=payload).requests
        except Wrong as wrong:
            reason = wrong
        else:
            if stored == entries:
                return
            reason = Wrong(f"{server.address} has stored {stored} of {entries} entries")
    assert reason
    raise reason


class Paired:
    """Rounds of ``A B A C A``: the bursts on each variant, with the reference bursts before and after."""

    def __init__(self) -> None:
        self._bursts: dict[str, list[tuple[Burst, Burst, Burst]]] = {}

    def add(self, variant: str, before: Burst, burst: Burst, after: Burst) -> None:
        self._bursts.setdefault(variant, []).append((before, burst, after))

    def values(self, variant: str, metric: Metric) -> list[float]:
        """The metric of ``variant`` in each round."""
        return [getattr(burst, metric) for _, burst, _ in self._bursts[variant]]

    def reference(self, metric: Metric) -> list[float]:
        """The metric in each burst on the reference."""
        pairs = [pair for rounds in self._bursts.values() for pair in rounds]
        return [getattr(before, metric) for before, _, _ in pairs]

    def ratios(self, variant: str, metric: Metric, over: str = "") -> list[float]:
        """For each round: the metric of ``variant`` divided by that of its reference bursts or of another variant."""
        mine = [
            getattr(burst, metric) / fmean((getattr(before, metric), getattr(after, metric)))
            for before, burst, after in self._bursts[variant]
        ]
        if not over:
            return mine
        return [one / other for one, other in zip(mine, self.ratios(over, metric), strict=True)]


def interleaved(reference: Server, variants: Mapping[str, Server], shoot: Shoot, rounds: int, chance: Random) -> Paired:
    """Run ``rounds`` rounds of all ``variants`` in random order, with a burst on ``reference`` between any two."""
    paired = Paired()
    for _ in range(rounds):
        before = shoot(reference)
        for name in chance.sample(sorted(variants), len(variants)):
            it = shoot(variants[name])
            after = shoot(reference)
            paired.add(name, before, it, after)
            before = after
    return paired
