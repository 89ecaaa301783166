"""Creates a report: reads the manifests of runs, computes with Spark, writes ``result.json`` and ``report.html``."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from overlay.core.errors import shown
from telemetry.errors import TelemetryError
from telemetry.lake.configurations import ChosenRun, choose, without_repeats
from telemetry.lake.parquet import check_complete
from telemetry.lake.runs import Lake, read_manifest
from telemetry.lake.storage import plain, whole_file, write_json
from telemetry.reports.comparison import compare
from telemetry.reports.html import render
from telemetry.spark.pipeline import READ, measure
from telemetry.spark.session import spark_session


def read_choice(path: Path, lake: Lake) -> list[ChosenRun]:
    """The runs listed in the JSON file ``path``, each with its manifest. Raises ``TelemetryError``."""
    if not lake.directory.is_dir():
        raise TelemetryError(f"There is no lake at {lake.directory}: no run has been collected there.")
    try:
        rows = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise TelemetryError(f"The list of runs {path} cannot be read: {error}.") from None
    if not isinstance(rows, list) or not rows:
        raise TelemetryError(f"The list of runs {path} must be a JSON list with at least one run.")
    runs = [choose(row, read_manifest(_known(row, lake))) for row in rows]
    names = [run.run for run in runs]
    if len(set(names)) < len(names):
        raise TelemetryError(f"The list of runs {path} contains a run twice.")
    return runs


def _known(row: Any, lake: Lake) -> Path:
    run = row.get("run") if isinstance(row, dict) else None
    if not isinstance(run, str):
        raise TelemetryError(f'Each entry of the list of runs must be an object like {{"run": ID}}, not {shown(row)}.')
    if not lake.holds(run):
        raise TelemetryError(f"Run {run[:60]!r} is not in the lake {lake.directory}: it was never collected.")
    return lake.manifest_path(run)


def write_comparison(
    runs: Sequence[ChosenRun],
    lake: Lake,
    out: Path,
    *,
    title: str,
    now: datetime,
    var: Path,
    say: Callable[[str], None] = lambda words: None,
) -> dict[str, Any]:
    """Write ``result.json`` and ``report.html`` into ``out`` and return the result. Raises ``TelemetryError``.

    A run with a damaged file fails the report with ``StorageError``, before Spark starts: without this run the
    comparison would be of other replicates than those chosen. ``say`` is called with progress messages.
    """
    runs, repeated = without_repeats(runs)
    check_complete(lake.part(name, run.run) for run in runs for name in READ)  # Spark names no run
    to_read_bytes = sum(lake.part("samples", run.run).stat().st_size for run in runs)
    say("Starting Spark")
    with spark_session(var, to_read_bytes) as spark:
        say(f"Measuring {len(runs)} runs")
        measured = measure(spark, lake, runs)
        computed_by = f"Spark {spark.version}, exact percentiles"
    say("Writing the report")
    provenance = {"created": now.isoformat(), "computed_by": computed_by}
    result: dict[str, Any] = plain(compare(runs, measured, title, provenance, repeated))
    page = render(result)
    write_json(out / "result.json", result)
    with whole_file(out / "report.html") as file:
        file.write(page.encode())
    return result
