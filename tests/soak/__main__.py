"""The command of ``make soak``. Exit codes: 1 if a seed failed or a planted bug was not found, 130 after Ctrl-C."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence

from tests import plain  # noqa: F401 - stories replace parts of cores
from tests.soak import tables
from tests.soak.subject import Subject
from tests.soak.subjects import MODULES, subject_of


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description="Random stories, and planted bugs.")
    parser.add_argument("seed", type=int, nargs="?", help="run this one alone; it needs --system")
    parser.add_argument("--system", choices=MODULES, help="this one alone (all)")
    parser.add_argument("--seeds", type=int, default=10_000, help="how many of each system (10000)")
    parser.add_argument("--first", type=int, default=0, help="the first of them (0)")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="at a time (one for each core)")
    parser.add_argument("--bugs", action="store_true", help="look for the planted bugs alone")
    parser.add_argument("--search", action="store_true", help="look for the planted bugs alone, from seed 0 on")
    options = parser.parse_args(arguments)
    if min(options.seeds, options.processes) < 1 or options.first < 0:
        parser.error("--seeds and --processes are at least 1, --first at least 0")
    if options.seed is not None and not options.system:
        parser.error("a single seed needs --system, since each system has a story of its own for it")
    subjects = [subject_of(system) for system in ([options.system] if options.system else MODULES)]
    if options.seed is not None:
        return tables.tell(subjects[0], options.seed)
    try:
        return 1 if sum([wrong(subject, options) for subject in subjects]) else 0
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130


def wrong(subject: Subject, options: argparse.Namespace) -> int:
    """Failed seeds and bugs that were not found."""
    failed = 0
    if not (options.bugs or options.search):
        failed = tables.soak(subject, range(options.first, options.first + options.seeds), options.processes)
        if subject.and_then is not None:
            for line in subject.and_then(options.processes):
                print(line, flush=True)
    return failed + tables.bugs(subject, options.processes, is_search=options.search)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # else its processes would outlive it
    sys.exit(main())
