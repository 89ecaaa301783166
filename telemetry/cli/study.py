"""``python -m telemetry study ID``: a study simulated, its values next to the published ones, and its verdicts."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from overlay.core.errors import InvalidSetting
from overlay.experiment.definition import checked
from overlay.experiment.inline import separated
from overlay.experiment.sweeps import configuration_hash
from telemetry.cli.sweep import orders_for, simulate_all
from telemetry.lake.runs import Lake, read_manifest
from telemetry.lake.storage import write_json
from telemetry.measures import figures_in
from telemetry.studies import judging, telling
from telemetry.studies.study import QUICK, SCALES, Row, Study
from telemetry.sweep.batch import CANCELLED, DONE, Batch
from telemetry.sweep.simulation import Order
from telemetry.systems.registry import measures_of, row_of, studies

WENT_WELL, FAILED, STOPPED = 0, 1, 130
"""Exit codes: judged, whatever the verdicts; some runs failed; stopped by Ctrl-C."""


def add_flags(command: ArgumentParser) -> None:
    """What can be told to ``python -m telemetry study``."""
    command.add_argument("id", metavar="ID", nargs="?", help="such as 4.3 or E0.1; without one, all are listed")
    command.add_argument(
        "--scale", choices=SCALES, default=QUICK, help="minutes, or the paper's whole (default: quick)"
    )
    command.add_argument("--out", type=Path, help="directory of runs and lake (default: studies/ID/SCALE below --var)")
    command.add_argument("--json", action="store_true", help="for machines")


def make(given: Namespace, say: Callable[[str], None]) -> tuple[str, int]:
    """The study's answer, or the list of studies, and the exit code. What was simulated before is not simulated again.

    Raises ``InvalidSetting`` for an id that there is not and ``TelemetryError`` where it cannot go on.
    """
    if given.id is None:
        return _list(given.json), WENT_WELL
    study = find(given.id)
    orders = orders_of(study, given.scale)
    out: Path = given.out or given.var / "studies" / study.id / given.scale
    batch = simulate_all(orders, out, given.var, say, with_spark=False)
    done = _done(batch, orders)
    write_json(out / "runs.json", [{"run": one.run, "study": study.id, "scale": given.scale} for one in done])
    code = _code(batch, orders, say)
    if code == STOPPED:
        say(f"Stopped with {len(done):,} of {len(orders):,} runs done; the same command goes on from there")
        return "", code
    result = judging.judge(study, given.scale, _rows(batch, done), len({one.run.split("-")[0] for one in orders}))
    digest = telling.digest_of(str(batch.told(order.run).result["digest"]) for order in done)
    return json.dumps(telling.document(result, digest)) if given.json else telling.text(result, digest), code


def _code(batch: Batch, orders: Sequence[Order], say: Callable[[str], None]) -> int:
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
    return json.dumps([{"study": one.id, "system": one.system, "question": one.question} for one in found])


def find(name: str) -> Study:
    """Raises ``InvalidSetting``."""
    found = studies()
    if name not in found:
        raise InvalidSetting("study", f"there is none with the id {name!r:.40}; there are {', '.join(found)}")
    return found[name]


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
