"""``python -m overlay replay``: recorded brokers done again, and whether they say the same."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from overlay.journal.recording import BadRecording, What, recordings_in
from overlay.sim.replay import Replayed, replay_all

IDENTICAL, DIFFERENT, WRONG_USAGE, INCOMPLETE = 0, 1, 2, 3


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="overlay replay",
        description="Feed what recorded brokers received to fresh ones, and compare what they send byte for byte.",
        epilog="Exit codes: 0 identical, 1 different, 2 nothing there that can be replayed, 3 no difference, but some "
        "recording ends before its broker did.",
    )
    parser.add_argument(
        "directory", type=Path, metavar="DIRECTORY", help="with recordings in it, or in its directory journal"
    )
    return parser


def main(argv: list[str]) -> int:
    """Print ``identical: N brokers, M inputs, K datagrams`` or the first difference; the exit code.

    Where a recording ends before its broker did, what is missing was not compared: it says ``incomplete`` instead.
    """
    directory: Path = make_parser().parse_args(argv).directory
    try:
        found = replay_all(directory if recordings_in(directory) else directory / "journal")
    except (BadRecording, OSError) as error:
        sys.stderr.write(f"overlay replay: {error}\n")
        return WRONG_USAGE
    if not found:
        sys.stderr.write(f"overlay replay: there are no recordings in {directory}; a run is recorded with record_mb\n")
        return WRONG_USAGE
    if (difference := found[-1].difference) is not None:
        sys.stdout.write(f"different: {difference}\n")
        return DIFFERENT
    notes = list(filter(None, map(_note, found)))
    for note in notes:
        sys.stderr.write(f"{note}\n")
    inputs, datagrams = (sum(getattr(one, name) for one in found) for name in ("inputs", "datagrams"))
    brokers = len({one.begin.address for one in found})
    verdict = "incomplete, no difference in what was recorded" if notes else "identical"
    sys.stdout.write(f"{verdict}: {brokers} brokers, {inputs} inputs, {datagrams} datagrams\n")
    return INCOMPLETE if notes else IDENTICAL


def _note(one: Replayed) -> str:
    """What is missing from the recording of a broker."""
    if one.end == What.FULL:
        return f"{one.begin.name}: the recording reached its limit after {one.inputs} inputs"
    if one.end is None:
        return (
            f"{one.begin.name}: the recording has no end; it stops after {one.inputs} inputs, since the broker was "
            "killed or the file was cut"
        )
    return ""
