"""Section (g): the Spark report over lakes of growing size. Is its time linear in the samples, and its memory not?

``python -m benchmarks report`` measures 10^6 and 10^7 samples (quickly: 10^5 and 10^6); ``python -m benchmarks.report
--samples 100000000`` measures what it is told. Each report is a process as the web starts it, Python and Java. Its
memory is the sum of the resident memory of the process and all its descendants, looked at five times a second (shared
pages count in each of them); its processor time that of all of them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from benchmarks.figures import RATIO, Figure, Unavailable, figure
from telemetry.errors import TelemetryError
from telemetry.lake.runs import Lake
from telemetry.reports.progress import PROGRESS
from telemetry.spark.java import find_java
from tests.telemetry.synthetic import write_lake

TITLE = "The Spark report, in runs of 10^5 samples"
SIZES = (10**6, 10**7)
QUICK_SIZES = (10**5, 10**6)
ROUNDS_EACH = 4
"""Rounds of the harness for one report of each size, which takes a quarter of a minute and more."""
LIMIT_MIB = 2048
LOOK_S = 0.2


@dataclass(frozen=True)
class Cost:
    """What one report took."""

    start_s: float
    """Until Spark was there."""
    measure_s: float
    """From then on."""
    start_cpu_s: float
    cpu_s: float
    """Of the processor, without that of the start."""
    peak_mib: float


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    """Yield the figures of the section."""
    sizes = SIZES if rounds >= ROUNDS_EACH else QUICK_SIZES
    yield from measure_sizes(sizes, max(1, rounds // ROUNDS_EACH), say)


def measure_sizes(sizes: Sequence[int], rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    """Yield the figures of reports over so many samples, the sizes in turn. Raises ``Unavailable`` without Java."""
    costs: dict[int, list[Cost]] = defaultdict(list)
    with TemporaryDirectory(prefix="waxwing-report-") as directory:
        base = Path(directory)
        try:
            find_java(base / "var")
        except TelemetryError as error:
            raise Unavailable(str(error)) from None
        for size in sizes:
            say(f"writing {size:,} samples")
            runs = write_lake(Lake(base / f"{size}"), size)
            (base / f"{size}.json").write_text(json.dumps([{"run": run} for run in runs]))
        for _ in range(rounds):
            for size in sizes:
                say(f"a report on {size:,} samples")
                costs[size].append(_report(base, size))
    yield figure("report", "start of Spark", "s", [cost.start_s for each in costs.values() for cost in each], "lower")
    for size, each in costs.items():
        words = f"{size:,} samples"
        yield figure("report", words, "s", [cost.measure_s for cost in each], "lower")
        yield figure("report", words, "s of processor", [cost.cpu_s for cost in each], "lower")
        peaks = [cost.peak_mib for cost in each]
        yield figure("report", words, "MiB at most, all processes", peaks, "lower", at_most=LIMIT_MIB)
    for few, many in pairwise(sizes):
        pairs = zip(costs[few], costs[many], strict=True)
        ratios = [(much.cpu_s / many) / (little.cpu_s / few) for little, much in pairs]
        yield figure("report", f"processor per sample, {many:,} / {few:,}", RATIO, ratios, "lower", at_most=1.1)


def _report(base: Path, size: int) -> Cost:
    arguments = {"runs": base / f"{size}.json", "lake": base / f"{size}", "out": base / "out", "var": base / "var"}
    command = [sys.executable, "-m", "telemetry", "report"]
    for name, value in arguments.items():
        command += [f"--{name}", str(value)]
    began = time.monotonic()
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        assert process.stderr is not None
        watch = _Watch(process.pid)
        started, start_cpu_s, said = began, 0.0, [""]
        try:
            for line in process.stderr:
                said.append(line)
                if line.startswith(f"{PROGRESS}Measuring"):
                    started, start_cpu_s = time.monotonic(), watch.cpu_s
        except BaseException:
            _kill(process.pid)
            raise
        finally:
            watch.end()
    if process.returncode:
        raise Unavailable(f"the report failed: {said[-1].strip() or 'it said nothing'}")
    return Cost(
        started - began, time.monotonic() - started, start_cpu_s, watch.cpu_s - start_cpu_s, watch.peak_bytes / 2**20
    )


def _kill(pid: int) -> None:
    """End the report and its Java at once."""
    with suppress(psutil.Error):
        top = psutil.Process(pid)
        for each in (*top.children(recursive=True), top):
            each.kill()


class _Watch:
    """Looks at a process and its descendants until it ends or is told to."""

    def __init__(self, pid: int) -> None:
        self.peak_bytes = 0
        self._cpu_s: dict[int, float] = {}
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look, args=(pid,), daemon=True)
        self._thread.start()

    @property
    def cpu_s(self) -> float:
        return sum(self._cpu_s.copy().values())

    def end(self) -> None:
        self._is_over.set()
        self._thread.join()

    def _look(self, pid: int) -> None:
        with suppress(psutil.Error):
            top = psutil.Process(pid)
            while not self._is_over.wait(LOOK_S):
                resident = 0
                for each in (top, *top.children(recursive=True)):
                    with suppress(psutil.Error):
                        resident += each.memory_info().rss
                        times = each.cpu_times()
                        self._cpu_s[each.pid] = times.user + times.system
                self.peak_bytes = max(self.peak_bytes, resident)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the sizes that ``arguments`` name and print their figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.report", description="Measure the Spark report alone.")
    parser.add_argument(
        "--samples",
        type=int,
        nargs="+",
        default=SIZES,
        help="number of samples in each lake (default: 1000000 10000000)",
    )
    parser.add_argument("--rounds", type=int, default=1, help="reports of each size (default: 1)")
    given = parser.parse_args(arguments)
    for one in measure_sizes(given.samples, given.rounds, lambda line: print(line, file=sys.stderr)):
        print(f"{one.name:60} {one.value:10.3g} {one.unit}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
