"""The commands of ``python -m telemetry``: reports, sweeps, studies, captures and measurements, without the web.

Exit codes: 0 done, 1 failed, 2 wrong usage; for a sweep also 4: all completed, some broke a threshold.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from overlay.core.errors import InvalidSetting, WaxwingError
from overlay.plugins import register_systems
from overlay.runtime.calibrated import data_directory
from telemetry.cli import calibrate as calibrate
from telemetry.cli import study as study
from telemetry.cli import sweep as sweep
from telemetry.lake.runs import Lake, RunFiles
from telemetry.reports.progress import ERROR, PROGRESS, tell
from telemetry.spark import standalone
from telemetry.sweep.batch import Batch
from telemetry.systems.contract import Command
from telemetry.systems.registry import all_telemetry, telemetry_of

_say = partial(tell, PROGRESS)


def parser() -> argparse.ArgumentParser:
    """The command's flags."""
    top = argparse.ArgumentParser(
        prog="python -m telemetry", description="Analyse runs: reports, sweeps, captures.", allow_abbrev=False
    )
    commands = top.add_subparsers(dest="command", required=True)
    data = argparse.ArgumentParser(add_help=False)
    data.add_argument("--var", type=Path, default=data_directory(), help="directory for data (default: %(default)s)")
    report = commands.add_parser(
        "report", parents=[data], help="compare runs with each other and with the published values"
    )
    report.add_argument(
        "--kind", choices=["comparison"], default="comparison", help="kind of report (default: comparison)"
    )
    report.add_argument("--runs", type=Path, required=True, help="a JSON list of runs: [{run, configuration, …}, …]")
    report.add_argument("--lake", type=Path, required=True, help="directory of collected runs (var/lake)")
    report.add_argument("--out", type=Path, required=True, help="directory for result.json and report.html")
    report.add_argument("--title", default="Comparison of configurations", help="title of the report")
    sweep.add_flags(
        commands.add_parser("sweep", parents=[data], help="simulate all configurations of a definition, on Spark")
    )
    study.add_flags(
        commands.add_parser(
            "study",
            parents=[data],
            help="simulate a study and judge the claims of its paper; without an id, list all studies",
        )
    )
    calibrate.add_flags(
        commands.add_parser(
            "calibrate",
            parents=[data],
            help="measure the service times of messages on this machine, for simulated runs",
        )
    )
    batch = commands.add_parser("simulate-batch", parents=[data], help="execute a prepared batch (used by the web)")
    batch.add_argument("directory", type=Path, help="directory with batch.json")
    batch.add_argument("--spark", action="store_true", help="use Spark instead of plain processes")
    pcap = commands.add_parser("pcap", help="write the messages of a recorded run to standard output, for Wireshark")
    pcap.add_argument("directory", type=Path, metavar="RUN_DIR", help="directory of the run (var/runs/<run>)")
    cluster = commands.add_parser("spark", parents=[data], help="start a master or a worker of a Spark cluster")
    standalone.add_flags(cluster)
    for command in _of_systems():
        command.add_flags(commands.add_parser(command.name, help=command.help))
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    commands = {
        "report": _report,
        "sweep": _sweep,
        "study": _study,
        "calibrate": _calibrate,
        "simulate-batch": _simulate_batch,
        "pcap": _pcap,
        "spark": _spark,
    }
    try:
        register_systems(os.environ)
        given = parser().parse_args(arguments)
        own = {command.name: command for command in _of_systems()}.get(given.command)
        return commands[given.command](given) if own is None else _run(own, given)
    except WaxwingError as error:
        return _fail(error, 1)


def _of_systems() -> list[Command]:
    return [command for telemetry in all_telemetry() for command in telemetry.commands()]


def _run(command: Command, given: argparse.Namespace) -> int:
    for line in command.run(given, _say, datetime.now(UTC)):
        print(line)
    return 0


def _report(given: argparse.Namespace) -> int:
    # Imported here: Spark takes a second to import, which would delay --help and errors in flags.
    from telemetry.spark.report import read_choice, write_comparison

    lake, now = Lake(given.lake), datetime.now(UTC)
    try:
        runs = read_choice(given.runs, lake)
    except WaxwingError as error:
        return _fail(error, 2)
    write_comparison(runs, lake, given.out, title=given.title, now=now, var=given.var, say=_say)
    print(given.out / "report.html")
    return 0


def _sweep(given: argparse.Namespace) -> int:
    try:
        words, code = sweep.make(given, _say)
    except InvalidSetting as error:
        tell(ERROR, f"{given.spec}: {error.sentence if error.field == 'spec' else error}")
        return 2
    print(words)
    return code


def _study(given: argparse.Namespace) -> int:
    try:
        words, code = study.make(given, _say)
    except InvalidSetting as error:
        return _fail(error, 2)
    if words:
        print(words)
    return code


def _calibrate(given: argparse.Namespace) -> int:
    print(calibrate.make(given, _say, datetime.now(UTC)))
    return 0


def _simulate_batch(given: argparse.Namespace) -> int:
    sweep.carry_out(Batch.read(given.directory), given.var, with_spark=given.spark)
    return 0


def _pcap(given: argparse.Namespace) -> int:
    files = RunFiles(given.directory.resolve())
    for piece in telemetry_of(files.read_manifest()).capture(files):
        sys.stdout.buffer.write(piece)
    return 0


def _spark(given: argparse.Namespace) -> int:
    standalone.run(given)


def _fail(error: WaxwingError, code: int) -> int:
    tell(ERROR, str(error))
    return code
