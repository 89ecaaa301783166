"""Hand-overs, and how evenly gateways are loaded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from math import inf
from statistics import median

from overlay.core.processes import role_of
from overlay.core.samples import mean
from overlay.faults.faults import KILL, RESTART
from overlay.systems.contextnet.measuring.facts import FAULT_BEGAN, FAULT_ENDS, Facts, last
from overlay.systems.contextnet.measuring.ledger import Figures
from overlay.systems.contextnet.names import GATEWAY

SETTLED_US = 300_000_000
"""After the start and after a fault: hand-overs are then no longer their consequence."""
LEAST_US = 60_000_000
"""Of what is left, for a rate."""
EVEN = 1.15


def figures(facts: Facts) -> Figures:
    moves = [one.ended_us for one in facts.moves if one.outcome == "done" and facts.is_measured(one.ended_us)]
    ratios = dict(load_ratios(facts))
    half_us = (facts.begin_us + facts.measured_us) / 2
    return {
        "handovers": len(moves),
        "handovers_per_min": _per_min(facts, moves),
        "moves_apart_s": _moves_apart_s(facts),
        "max_load_over_mean": mean([ratio for at, ratio in ratios.items() if at >= half_us]),
        "seconds_to_even": next(((at - facts.begin_us) / 1e6 for at, ratio in ratios.items() if ratio <= EVEN), None),
        "reopened_s": _reopened_s(facts),
    }


def load_ratios(facts: Facts) -> Iterator[tuple[int, float]]:
    """Each round: the highest load of a gateway over the mean of those that are active."""
    gateways, capacities = facts.gateways(), facts.plan.capacities
    step, at = facts.plan.round_s * 1_000_000, facts.begin_us
    if not gateways or facts.measured_us == float("inf"):
        return
    while (at := at + step) <= facts.measured_us:
        loads = []
        for number, ticks in enumerate(gateways):
            tick = last(ticks, at)
            if tick is not None and tick.at_us > at - step:
                loads.append(tick.counters.get("connections", 0) / (capacities[number] if capacities else 1))
        if loads and sum(loads):
            yield at, max(loads) * len(loads) / sum(loads)


def _per_min(facts: Facts, moves: list[int]) -> float | None:
    """Later than ``SETTLED_US`` after the start of measuring and after the end of every fault."""
    clear = SETTLED_US + max([facts.begin_us, *(one.at_us for one in facts.events if one.name in FAULT_ENDS)])
    length = facts.measured_us - clear
    if not LEAST_US <= length < float("inf"):
        return None
    return sum(at >= clear for at in moves) / (length / 60e6)


def _moves_apart_s(facts: Facts) -> float | None:
    """The shortest time between two orders to one node that it followed."""
    begun = defaultdict(list)
    for one in facts.moves:
        if one.outcome == "done":
            begun[one.client].append(one.began_us)
    apart = [later - earlier for times in begun.values() for earlier, later in pairwise(sorted(times))]
    return min(apart) / 1e6 if apart else None


def _reopened_s(facts: Facts) -> float | None:
    """Median time after the death of a gateway until its nodes are open somewhere again."""
    opened = defaultdict(list)
    for one in sorted(facts.connections, key=lambda one: one.opened_us):
        if one.opened_us:
            opened[one.client].append(one)
    times = []
    for event in facts.events:
        if event.name == FAULT_BEGAN and event.detail.get("what") in (KILL, RESTART):
            dead = {name for name in event.detail.get("servers", ()) if role_of(name) == GATEWAY}
            for several in opened.values():
                had = [one for one in several if one.opened_us <= event.at_us < one.ended_us]
                if had and f"{GATEWAY}-{had[-1].server}" in dead:
                    again = next((one.opened_us for one in several if one.opened_us > event.at_us), None)
                    times.append(inf if again is None else (again - event.at_us) / 1e6)
    found = median(times) if times else inf
    return found if found < inf else None
