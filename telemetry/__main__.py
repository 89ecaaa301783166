"""What telemetry does without the web: ``report`` by Spark, ``sweep`` of simulated runs, ``search-table``.

Exit code 0 done, 1 failed, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from overlay.errors import InvalidSetting, WaxwingError
from telemetry.progress import ERROR, PROGRESS, tell
from telemetry.runs import Lake
from telemetry.search_table.command import add_flags, make
from telemetry.sweep import command as sweep
from telemetry.sweep.batch import Batch


def parser() -> argparse.ArgumentParser:
    """The command's flags."""
    top = argparse.ArgumentParser(prog="python -m telemetry", description="From facts to figures.", allow_abbrev=False)
    commands = top.add_subparsers(dest="command", required=True)
    report = commands.add_parser("report", help="compare runs with each other and with the published values")
    report.add_argument(
        "--kind", choices=["comparison"], default="comparison", help="which report (default: comparison)"
    )
    report.add_argument("--runs", type=Path, required=True, help="a JSON list of runs: [{run, configuration, …}, …]")
    report.add_argument("--lake", type=Path, required=True, help="directory of collected runs (var/lake)")
    report.add_argument("--out", type=Path, required=True, help="directory for result.json and report.html")
    report.add_argument("--title", default="Comparison of configurations", help="headline of the report")
    report.add_argument("--var", type=Path, default=_var(), help="directory for data")
    swept = commands.add_parser("sweep", help="simulate all configurations of a definition, spread by Spark")
    sweep.add_flags(swept)
    swept.add_argument("--var", type=Path, default=_var(), help="directory for data")
    batch = commands.add_parser("simulate-batch", help="carry out a batch that was written before (for the web)")
    batch.add_argument("directory", type=Path, help="where batch.json lies")
    batch.add_argument("--var", type=Path, default=_var(), help="directory for data")
    batch.add_argument("--spark", action="store_true", help="by Spark instead of plain processes")
    add_flags(commands.add_parser("search-table", help="measure every search strategy on every topology"))
    return top


def _var() -> Path:
    return Path(os.environ.get("WAXWING_VAR", "var"))


def main(arguments: Sequence[str] | None = None) -> int:
    given = parser().parse_args(arguments)
    commands = {"search-table": _search_table, "report": _report, "sweep": _sweep, "simulate-batch": _simulate_batch}
    return commands[given.command](given)


def _sweep(given: argparse.Namespace) -> int:
    try:
        words, went_well = sweep.make(given, partial(tell, PROGRESS))
    except InvalidSetting as error:
        tell(ERROR, f"{given.spec}: {error.sentence if error.field == 'spec' else error}")
        return 2
    except WaxwingError as error:
        return _fail(error, 1)
    print(words)
    return 0 if went_well else 1


def _simulate_batch(given: argparse.Namespace) -> int:
    try:
        sweep.carry_out(Batch.read(given.directory), given.var, with_spark=given.spark)
    except WaxwingError as error:
        return _fail(error, 1)
    return 0


def _search_table(given: argparse.Namespace) -> int:
    try:
        page = make(given, partial(tell, PROGRESS), datetime.now(UTC))
    except WaxwingError as error:
        return _fail(error, 1)
    print(page)
    return 0


def _report(given: argparse.Namespace) -> int:
    # Spark takes a second to import, which --help and a wrong flag need not wait for.
    from telemetry.spark.report import read_choice, write_comparison

    lake, say = Lake(given.lake), partial(tell, PROGRESS)
    try:
        runs = read_choice(given.runs, lake)
    except WaxwingError as error:
        return _fail(error, 2)
    try:
        write_comparison(runs, lake, given.out, title=given.title, now=datetime.now(UTC), var=given.var, say=say)
    except WaxwingError as error:
        return _fail(error, 1)
    print(given.out / "report.html")
    return 0


def _fail(error: WaxwingError, code: int) -> int:
    tell(ERROR, str(error))
    return code


if __name__ == "__main__":
    sys.exit(main())
