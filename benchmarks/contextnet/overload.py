"""Live runs at rates up to and past the limit of this machine: what is answered, and what the gateway spends on it.

Nodes, application, gateway and log share the cores, so that past the limit nodes fall behind, too. Goodput must not
collapse: repeats and stale work could eat the capacity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from benchmarks.contextnet.live import live
from benchmarks.figures import Figure, figure

NODES = 1_000
OFFERED_PER_S = (1_000, 2_000, 4_000, 16_000)
QUICK_OFFERED_PER_S = (1_000, 16_000)
DURATION_S = 6.0
FULL_ROUNDS = 4
PER_CORE_GOAL, KEPT_GOAL = 11_000.0, 80.0
make = partial(figure, "contextnet")


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    rates = OFFERED_PER_S if rounds >= FULL_ROUNDS else QUICK_OFFERED_PER_S
    goodputs: dict[int, list[float]] = {rate: [] for rate in rates}
    per_core: dict[int, list[float]] = {rate: [] for rate in rates}
    times: dict[int, list[float]] = {rate: [] for rate in rates}
    for _ in range(max(1, rounds // 3)):
        for rate in rates:
            say(f"{rate:,} messages/s offered")
            run = live({"nodes": NODES, "rate_per_min": 60 * rate / NODES, "duration_s": DURATION_S})
            goodputs[rate].append(run["goodput_per_s"])
            per_core[rate].append(run["goodput_per_s"] * DURATION_S / max(run.gateway_s, 1e-9))
            times[rate].append(run["rtt_p50_us"] / 1e3)
    for rate in rates:
        what = f"{rate:,} messages/s offered live"
        yield make(f"{what}: answered while sending", "messages/s", goodputs[rate], "higher")
        yield make(f"{what}: response time, p50", "ms", times[rate], "lower")
        yield make(f"{what}: answered for each second of the gateway", "messages/s", per_core[rate], "higher")
    best = [max(one) for one in zip(*per_core.values(), strict=True)]
    yield make(
        "messages/s of a gateway's core, the best of these", "messages/s", best, "higher", at_least=PER_CORE_GOAL
    )
    kept = [100 * one[-1] / max(one) for one in zip(*goodputs.values(), strict=True)]
    yield make(f"goodput kept at {rates[-1]:,} messages/s offered", "%", kept, "higher", at_least=KEPT_GOAL)
