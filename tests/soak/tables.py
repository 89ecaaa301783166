"""Soaks a system and prints what was found."""

from __future__ import annotations

from tests.soak.cores import commit, over_cores
from tests.soak.progress import Progress
from tests.soak.subject import Failure, Subject, Told
from tests.soak.subjects import subject_of

MOST_SHOWN = 20
"""Maximum number of failures to report."""
MOST_FOR_A_BUG = 2000
"""Seeds after which a planted bug counts as not found by a search from seed 0."""


HEAD = """\
| system | commit | seeds | done | failed | simulated | datagrams | took |
|---|---|---|---|---|---|---|---|"""


def soak(subject: Subject, seeds: range, processes: int) -> int:
    """How many seeds failed. Interrupted, it still prints those that are done."""
    progress = Progress(len(seeds))
    delivered, simulated = 0, 0.0
    try:
        for told in over_cores(try_seed, ((subject.system, seed) for seed in seeds), processes):
            is_failed = isinstance(told, Failure)
            progress.count(is_failed=is_failed)
            if not is_failed:
                delivered, simulated = delivered + told.delivered, simulated + told.simulated_s
            elif progress.failed <= MOST_SHOWN:
                show(subject, told)
    finally:
        cells = (
            subject.system,
            commit(),
            f"{seeds[0]:,} to {seeds[-1]:,}",
            f"{progress.done:,}",
            str(progress.failed),
            f"{simulated / 3600:.1f} h",
            f"{delivered:,}",
            f"{progress.seconds:,.0f} s",
        )
        print(HEAD, "| " + " | ".join(cells) + " |", sep="\n", flush=True)
    return progress.failed


def show(subject: Subject, failure: Failure) -> None:
    print(f"FAILED {subject.system}, seed {failure.seed} at {commit()}: {failure.said}")
    print(f"       faults: {', '.join(failure.faults) or 'none'}")
    print(f"       again: {subject.command(failure.seed)}", flush=True)


def tell(subject: Subject, seed: int) -> int:
    """One seed, with what it drew. Returns the exit code."""
    faults = ", ".join(sorted(subject.faults(seed))) or "none"
    print(f"{subject.system}, seed {seed} at {commit()}; faults: {faults}")
    print(*subject.drawn(seed), sep="\n", flush=True)
    told = subject.try_seed(seed)
    if isinstance(told, Failure):
        print(told.trace, end="")
        return 1
    print(f"held: {told.delivered} datagrams in {told.simulated_s:g} simulated seconds, digest {told.digest}")
    return 0


def bugs(subject: Subject, processes: int, *, is_search: bool = False) -> int:
    """How many of the bank were not found, by their stored seeds or by a search from seed 0."""
    print(f"\n| bug planted in {subject.system} | found by seed | what it says |\n|---|---|---|")
    missed = 0
    for name, found in over_cores(look_for, ((subject.system, name, is_search) for name in subject.bugs), processes):
        missed += found is None
        words = f"{found.seed} | {found.said[:100]}" if found else "NOT FOUND | "
        print(f"| {name} | {words.replace(chr(10), ' ')} |", flush=True)
    print(f"\n{len(subject.bugs) - missed} of {len(subject.bugs)} bugs planted in {subject.system} found", flush=True)
    return missed


# ---- in the processes


def try_seed(system: str, seed: int) -> Told | Failure:
    return subject_of(system).try_seed(seed)


def look_for(system: str, name: str, is_search: bool) -> tuple[str, Failure | None]:
    subject = subject_of(system)
    bug = subject.bugs[name]
    return name, subject.first_failure(range(MOST_FOR_A_BUG), bug) if is_search else subject.finds(bug)
