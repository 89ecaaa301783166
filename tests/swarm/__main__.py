"""``make soak``: thousands of seeds, what is promised, the bank of bugs; or one seed, to see what it found.

::

    python -m tests.swarm --seeds 10000       seeds 0 to 9999 over all cores, promises, each planted bug from seed 0
    python -m tests.swarm 17                  seed 17 alone, with its faults and where it failed
    python -m tests.swarm --bugs              the bank alone
"""

from __future__ import annotations

import argparse
import os
import sys
import time

from tests.swarm.bugs import BUGS
from tests.swarm.plan import draw
from tests.swarm.soak import Failure, commit, find, over_cores, try_seed
from tests.swarm.targets import ROWS, Row

MOST_SHOWN = 20
"""Maximum number of failures to report."""
MOST_FOR_A_BUG = 2000
"""Seeds after which a planted bug counts as not found."""
EVERY_S = 10.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.swarm", description="Seeds of the swarm, and planted bugs.")
    parser.add_argument("seed", type=int, nargs="?", help="run this one alone")
    parser.add_argument("--seeds", type=int, default=10_000, help="how many, from 0 on (10000)")
    parser.add_argument("--first", type=int, default=0, help="the first of them (0)")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="at a time (one for each core)")
    parser.add_argument("--bugs", action="store_true", help="look for the planted bugs alone")
    options = parser.parse_args()
    if min(options.seeds, options.processes) < 1 or options.first < 0:
        parser.error("--seeds and --processes are at least 1, --first at least 0")
    if options.seed is not None:
        return tell(options.seed)
    try:
        failed = 0 if options.bugs else soak(options.first, options.seeds, options.processes)
        if not options.bugs:
            targets(options.processes)
        missed = bugs(options.processes)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    return 1 if failed or missed else 0


def tell(seed: int) -> int:
    plan, told = draw(seed), try_seed(seed)
    print(
        f"seed {seed} at {commit()}: {plan.graph.brokers} brokers, faults: {', '.join(sorted(plan.faults)) or 'none'}"
    )
    took = f"{plan.service_scale} times as long as tests.swarm.served has it" if plan.service_scale else "no time"
    print(f"what brokers do takes {took}; linear tables are {'scanned' if plan.scans else 'modelled'}")
    print(f"{plan.shape}\n{plan.config}")
    if isinstance(told, Failure):
        print(told.trace, end="")
        return 1
    print(f"held: {told.delivered} datagrams in {told.simulated_s:g} simulated seconds, digest {told.digest}")
    return 0


def soak(first: int, seeds: int, processes: int) -> int:
    """How many seeds failed."""
    begin = said = time.monotonic()
    done = failed = delivered = 0
    simulated = 0.0
    try:
        for told in over_cores(try_seed, ((seed,) for seed in range(first, first + seeds)), processes):
            done += 1
            if isinstance(told, Failure):
                failed += 1
                if failed <= MOST_SHOWN:
                    print(f"FAILED seed {told.seed} at {commit()}: {told.said}")
                    print(f"       faults: {', '.join(told.faults)}")
                    print(f"       again: python -m tests.swarm {told.seed}", flush=True)
            else:
                delivered += told.delivered
                simulated += told.simulated_s
            now = time.monotonic()
            if now - said >= EVERY_S:
                said = now
                left = (now - begin) / done * (seeds - done)
                print(f"{done:,} of {seeds:,} seeds, {failed} failed, {left:,.0f} s left", file=sys.stderr, flush=True)
    finally:
        print("| commit | seeds | failed | simulated | datagrams | took |\n|---|---|---|---|---|---|")
        took = time.monotonic() - begin
        print(
            f"| {commit()} | {done:,} | {failed} | {simulated / 3600:.1f} h | {delivered:,} | {took:,.0f} s |",
            flush=True,
        )
    return failed


def targets(processes: int) -> None:
    """What is measured of each promise; one that is not kept is said, and is no failure of a seed."""
    print("\n| what is promised, in virtual time | measured | kept |\n|---|---|---|")
    for name, row in over_cores(measure, ((name,) for name in ROWS), processes):
        print(f"| {name}: {ROWS[name].__doc__} | {row.figure} | {'yes' if row.is_held else 'NO'} |", flush=True)


def measure(name: str) -> tuple[str, Row]:
    return name, ROWS[name](1)


def bugs(processes: int) -> int:
    """How many of the bank were not found."""
    print("\n| planted bug | seed that finds it first | what it says |\n|---|---|---|")
    missed = 0
    for name, found in over_cores(look_for, ((name,) for name in BUGS), processes):
        missed += found is None
        words = f"{found.seed} | {found.said[:100]}" if found else "NOT FOUND | "
        print(f"| {name} | {words.replace(chr(10), ' ')} |", flush=True)
    print(f"\n{len(BUGS) - missed} of {len(BUGS)} planted bugs found")
    return missed


def look_for(name: str) -> tuple[str, Failure | None]:
    return name, find(name, MOST_FOR_A_BUG)


if __name__ == "__main__":
    sys.exit(main())
