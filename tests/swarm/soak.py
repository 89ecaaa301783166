"""Thousands of seeds over all cores, and the bank of bugs looked for: what ``python -m tests.swarm`` does."""

from __future__ import annotations

import signal
import subprocess
import traceback
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tests.swarm.bugs import BUGS, Bug
from tests.swarm.plan import draw
from tests.swarm.story import Told, run

ROOT = Path(__file__).resolve().parents[2]
AT_ONCE = 4
"""Queued seeds for each core: no core idles, and few seeds are lost on interruption."""


@dataclass(frozen=True)
class Failure:
    seed: int
    said: str
    """The error, in a line."""
    trace: str
    faults: tuple[str, ...]


def try_seed(seed: int, bug: Bug | None = None) -> Told | Failure:
    try:
        with bug.planted() if bug else nullcontext():
            return run(seed)
    except Exception as error:  # noqa: BLE001 - whatever a broker or a watcher raises is what is looked for
        last = traceback.extract_tb(error.__traceback__)[-1]
        words = f"{type(error).__name__}: {error}" if str(error) else f"{type(error).__name__}: {last.line}"
        where = f"{Path(last.filename).name}:{last.lineno}"
        faults = tuple(sorted(draw(seed).faults))
        return Failure(seed, f"{words} ({where})", "".join(traceback.format_exception(error)), faults)


def first_failure(seeds: Iterable[int], bug: Bug | None = None) -> Failure | None:
    return next((found for seed in seeds if isinstance(found := try_seed(seed, bug), Failure)), None)


def find(name: str, most: int) -> Failure | None:
    """The first seed below ``most`` that finds a planted bug."""
    return first_failure(range(most), BUGS[name])


def commit() -> str:
    """The one that is checked out, marked where files were changed since."""
    command = ["git", "describe", "--always", "--dirty"]
    try:
        described = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:  # there is no git
        described = ""
    return described or "no commit"


def over_cores(function, arguments: Iterable, processes: int) -> Iterator:
    """Results as they come. Whoever stops listening stops what is under way: Ctrl-C ends it within a seed."""
    with ProcessPoolExecutor(processes, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN)) as pool:
        waiting: set[Future] = set()
        rest = iter(arguments)
        try:
            while True:
                waiting |= {pool.submit(function, *one) for one in islice(rest, AT_ONCE * processes - len(waiting))}
                if not waiting:
                    return
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
