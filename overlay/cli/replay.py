"""``python -m overlay replay``: repeats recorded brokers and compares the datagrams that they send."""

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
        description="Feed the recorded input to new brokers and compare the datagrams that they send, byte for byte.",
        epilog="Exit codes: 0 identical, 1 different, 2 no recording that can be replayed, 3 no difference, but a "
        "recording is incomplete.",
    )
    parser.add_argument(
        "directory", type=Path, metavar="DIRECTORY", help="contains recordings, directly or in its directory journal"
    )
    return parser


def main(argv: list[str]) -> int:
    """Print ``identical: N brokers, M inputs, K datagrams`` or the first difference. Returns the exit code.

    If a recording ends before its broker did, the rest was not compared, and it prints ``incomplete`` instead.
    """
    directory: Path = make_parser().parse_args(argv).directory
    try:
        found = replay_all(directory if recordings_in(directory) else directory / "journal")
    except (BadRecording, OSError) as error:
        sys.stderr.write(f"overlay replay: {error}\n")
        return WRONG_USAGE
    if not found:
        sys.stderr.write(f"overlay replay: no recordings in {directory}; set record_mb to record a run\n")
        return WRONG_USAGE
    if (difference := found[-1].difference) is not None:
        sys.stdout.write(f"different: {difference}\n")
        return DIFFERENT
    notes = list(filter(None, map(_note, found)))
    for note in notes:
        sys.stderr.write(f"{note}\n")
    inputs, datagrams = (sum(getattr(one, name) for one in found) for name in ("inputs", "datagrams"))
    brokers = len({one.begin.address for one in found})
    verdict = "incomplete, no difference in the recorded part" if notes else "identical"
    sys.stdout.write(f"{verdict}: {brokers} brokers, {inputs} inputs, {datagrams} datagrams\n")
    return INCOMPLETE if notes else IDENTICAL


def _note(one: Replayed) -> str:
    """Why the recording of a broker is incomplete; empty if it is complete."""
    if one.end == What.FULL:
        return f"{one.begin.name}: the recording reached its limit after {one.inputs} inputs"
    if one.end is None:
        return (
            f"{one.begin.name}: the recording has no end mark and stops after {one.inputs} inputs: the broker was "
            "killed or the file was truncated"
        )
    return ""
