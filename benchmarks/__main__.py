"""Measure sections of the benchmark and print the table: ``python -m benchmarks [SECTION ...]``, or ``make bench``.

``benchmarks.compare`` shows whether a revision is slower than another.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol, cast

from benchmarks import record, tables
from benchmarks.figures import Figure, Unavailable

SECTIONS = (
    "broker",
    "memory",
    "peers",
    "messages",
    "floods",
    "overlay",
    "radiator",
    "federation",
    "federation_clients",
    "silbops",
    "contextnet",
    "chains",
    "generator",
    "simulator",
    "channel",
    "discovery",
    "live",
    "report",
    "pages",
    "front",
    "mqtt",
    "browser",
)
ROUNDS = 7
QUICK_ROUNDS = 2


class Section(Protocol):
    """A module of benchmarks; see the package's docstring."""

    TITLE: str

    def measure(self, rounds: int, say: Callable[[str], None], /) -> Iterator[Figure]:
        """Yield each figure, of ``rounds`` rounds, as soon as it is measured."""
        ...


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the sections in ``arguments``. Returns 0, 1 if a goal is missed, or 130 on an interrupt."""
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sections = {name: section(name) for name in options.section or SECTIONS if is_there(name)}
    titles = {name: each.TITLE for name, each in sections.items()}
    rounds = options.rounds or (QUICK_ROUNDS if options.quick else ROUNDS)
    try:
        measured = measure(sections, rounds)
    except KeyboardInterrupt:
        print("Interrupted; no results were saved.", file=sys.stderr)
        return 130
    print(tables.terminal(measured, titles))
    if options.json:
        record.write(measured, options.json)
    if options.write:
        earlier = record.read(record.BASELINE) if record.BASELINE.exists() else record.Record([])
        record.write(measured.over(earlier), record.BASELINE)
        tables.update_page(measured, titles)
    return int(any(each.met is False for each in measured.figures))


def is_there(name: str) -> bool:
    """Whether the module of the section ``name`` exists."""
    return importlib.util.find_spec(f"benchmarks.{name}") is not None


def section(name: str) -> Section:
    """The module of the section ``name``."""
    return cast(Section, importlib.import_module(f"benchmarks.{name}"))


def measure(sections: dict[str, Section], rounds: int) -> record.Record:
    """All figures of ``sections``. Progress and durations go to stderr."""
    figures: list[Figure] = []
    lacking: dict[str, str] = {}
    taken: dict[str, str] = {}
    for name, each in sections.items():
        began, taken[name] = time.monotonic(), record.now()
        try:
            for figure in each.measure(rounds, partial(_say, name)):
                figures.append(figure)
        except Unavailable as reason:
            lacking[name] = str(reason)
        except Exception as mistake:  # noqa: BLE001  a bug in one section must not lose the others' results
            traceback.print_exc()
            lacking[name] = f"failed: {mistake!r}"
        print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr)
    return record.Record(figures, lacking, record.surroundings(), taken)


def _say(section: str, line: str) -> None:
    print(f"{section}: {line}", file=sys.stderr)


def _name(text: str) -> str:
    if text not in SECTIONS:
        raise argparse.ArgumentTypeError(f"unknown section {text!r}; use one of {', '.join(SECTIONS)}")
    return text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure sections of the benchmark and print the table."
    )
    parser.add_argument(
        "section", nargs="*", metavar="SECTION", type=_name, help=f"one or more of {', '.join(SECTIONS)} (default: all)"
    )
    parser.add_argument("--rounds", type=int, help=f"bursts on each variant (default: {ROUNDS})")
    parser.add_argument(
        "--quick", action="store_true", help=f"{QUICK_ROUNDS} rounds, about five minutes for all sections"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also save the figures as JSON")
    parser.add_argument("--write", action="store_true", help="update docs/results/benchmarks.md and the baseline")
    return parser


if __name__ == "__main__":
    sys.exit(main())
