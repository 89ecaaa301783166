"""``python -m telemetry study ID``: a study run, its values next to the published ones, and its verdicts."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from overlay.core.chance import derive_seed
from overlay.experiment.definition import checked
from overlay.experiment.inline import separated
from overlay.experiment.sweeps import configuration_hash
from telemetry.cli.sweep import Say, orders_for, simulate_all
from telemetry.lake.runs import Lake, read_manifest
from telemetry.lake.storage import write_json
from telemetry.measures import figures_in
from telemetry.studies import judging, telling
from telemetry.studies.study import QUICK, SCALES, Measure, Row, Study
from telemetry.sweep.batch import CANCELLED, DONE, Batch
from telemetry.sweep.simulation import Order
from telemetry.systems.registry import measures_of, row_of, studies, study_called

WENT_WELL, FAILED, STOPPED = 0, 1, 130
"""Exit codes: judged, whatever the verdicts; some runs failed; stopped by Ctrl-C."""


def add_flags(command: ArgumentParser) -> None:
    """What can be told to ``python -m telemetry study``."""
    command.add_argument(
        "id",
        metavar="ID",
        nargs="?",
        help="such as 4.3 or E2.1, or a name of its contract's presets; without one, all are listed",
    )
    command.add_argument(
        "--scale", choices=SCALES, default=QUICK, help="minutes, or the paper's whole (default: quick)"
    )
    command.add_argument("--out", type=Path, help="directory of runs and lake (default: studies/ID/SCALE below --var)")
    form = command.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="for machines")
    form.add_argument("--markdown", action="store_true", help="as a section of a page of results")


def make(given: Namespace, say: Say) -> tuple[str, int]:
    """The study's answer, or the list of studies, and the exit code. What was simulated before is not simulated again.

    Raises ``InvalidSetting`` for an id that there is not and ``TelemetryError`` where it cannot go on.
    """
    if given.id is None:
        return _list(given.json), WENT_WELL
    study = study_called(given.id)
    if study.measure is None:
        found = _simulated(study, given, say)
    else:
        found = _measured(study, study.measure, given.scale, say)
    if found.code == STOPPED:
        return "", STOPPED
    result = judging.judge(study, given.scale, found.rows, found.configurations)
    digest = telling.digest_of(found.digests)
    if given.json:
        return json.dumps(telling.document(result, digest)), found.code
    return (telling.markdown if given.markdown else telling.text)(result, digest), found.code


class _Found(NamedTuple):
    """What the runs came to."""

    code: int
    rows: Sequence[Row] = ()
    configurations: int = 0
    digests: Sequence[str] = ()


def _simulated(study: Study, given: Namespace, say: Say) -> _Found:
    orders = orders_of(study, given.scale)
    out: Path = given.out or given.var / "studies" / study.id / given.scale
    batch = simulate_all(orders, out, given.var, say, with_spark=False)
    done = _done(batch, orders)
    write_json(out / "runs.json", [{"run": one.run, "study": study.id, "scale": given.scale} for one in done])
    code = _code(batch, orders, say)
    if code == STOPPED:
        say(f"Stopped with {len(done):,} of {len(orders):,} runs done; the same command goes on from there")
        return _Found(code)
    digests = [str(batch.told(order.run).result["digest"]) for order in done]
    return _Found(code, [*_rows(batch, done)], len({one.run.split("-")[0] for one in orders}), digests)


def _measured(study: Study, measure: Measure, scale: str, say: Say) -> _Found:
    """Nothing of it is kept: times of two invocations are of two states of the machine. The digest is of counts."""
    definition, configurations = checked(*separated(study.at(scale)))
    replicates, rows = int(definition["replicates"]), list[Row]()
    try:
        for replicate in range(replicates):
            seed = derive_seed(definition["seed"], replicate)
            for configuration, measures in measure(configurations, seed):
                row = row_of(configuration, configuration_hash(configuration), seed, {})
                rows.append(replace(row, measures=measures))
            say(f"{replicate + 1} of {replicates} replicates measured")
    except KeyboardInterrupt:
        say("Stopped; nothing is kept")
        return _Found(STOPPED)
    known = measures_of(study.system)
    counts = [
        f"{row.configuration} {row.seed} {name} {value:g}"
        for row in rows
        for name, value in row.measures.items()
        if name in known and known[name].is_count
    ]
    return _Found(WENT_WELL, rows, len({row.configuration for row in rows}), sorted(counts))


def _code(batch: Batch, orders: Sequence[Order], say: Say) -> int:
    """How the runs ended; why one failed is said."""
    left = [(order, told) for order in orders if (told := batch.told(order.run)).state != DONE]
    for order, told in left:
        if told.reason:
            say(f"{order.run}, seed {order.seed}: {told.reason}")
    if any(told.state == CANCELLED for _, told in left):
        return STOPPED
    return FAILED if left else WENT_WELL


def _list(as_json: bool) -> str:
    found = studies().values()
    if not as_json:
        return telling.listed(found)
    shown = ({"study": one.id, "names": one.names, "system": one.system, "question": one.question} for one in found)
    return json.dumps([*shown])


def orders_of(study: Study, scale: str) -> list[Order]:
    """A run for each configuration and replicate. Raises ``InvalidSetting`` for a definition that is wrong."""
    return orders_for(*checked(*separated(study.at(scale))))


def _done(batch: Batch, orders: Sequence[Order]) -> list[Order]:
    return [order for order in orders if batch.told(order.run).state == DONE]


def _rows(batch: Batch, done: Sequence[Order]) -> Iterator[Row]:
    """Runs that are done, as studies read them."""
    lake = Lake(batch.places.lake)
    for order in done:
        configuration = order.configuration
        summary = read_manifest(lake.manifest_path(order.run)).get("summary") or {}
        figures = figures_in(summary, measures_of(configuration["system"]).values())
        yield row_of(configuration, configuration_hash(configuration), order.seed, figures)
