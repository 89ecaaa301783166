"""``python -m telemetry sweep SPEC``: simulates all configurations of a definition, without the web."""

from __future__ import annotations

import fcntl
import os
import signal
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

from overlay.core.chance import derive_seed
from overlay.core.errors import InvalidSetting, describe_os_error
from overlay.experiment.files import MAX_BYTES, parse_definition
from overlay.experiment.inline import simulated
from overlay.experiment.sweeps import configuration_hash
from overlay.systems.registry import FIRST
from telemetry import thresholds
from telemetry.errors import TelemetryError
from telemetry.lake.storage import write_json
from telemetry.sweep import costs, page
from telemetry.sweep.batch import DONE, Batch
from telemetry.sweep.processes import PLAIN, in_processes
from telemetry.sweep.simulation import Order, Places
from telemetry.systems.registry import measures_of
from telemetry.thresholds import Threshold

Say = Callable[[str], None]

WENT_WELL, FAILED, BROKEN = 0, 1, 4
"""Exit codes: all completed and met their thresholds; some did not complete; all completed, some broke a threshold."""
SAY_S = 5.0
"""Interval between progress messages."""


def add_flags(sweep: ArgumentParser) -> None:
    """Add the flags of ``python -m telemetry sweep``."""
    sweep.add_argument("spec", metavar="SPEC", type=Path, help="a definition as YAML or JSON, with inline topologies")
    sweep.add_argument("--out", type=Path, help="directory of runs and lake (default: sweeps/NAME below --var)")
    sweep.add_argument("--replicates", type=int, help="override the number of replicates in the definition")
    sweep.add_argument("--plain", action="store_true", help="use processes on this machine instead of Spark")


def make(given: Namespace, say: Say) -> tuple[str, int]:
    """Simulate all runs without a cached result. Returns a text for the terminal and the exit code.

    Raises ``InvalidSetting`` for an invalid definition and ``TelemetryError`` if the sweep cannot continue.
    """
    orders = orders_of(given.spec, given.replicates)
    demanded = _demanded_by(given.spec)
    out: Path = given.out or given.var / "sweeps" / given.spec.stem
    began = time.monotonic()
    batch = simulate_all(orders, out, given.var, say, with_spark=not given.plain and len(orders) > PLAIN)
    rows = page.rows(batch, orders, demanded)
    write_json(out / "sweep.json", rows)
    write_json(out / "runs.json", [{"run": row["run"]} for row in rows if row["state"] == DONE])
    return page.text(rows, out, time.monotonic() - began), _code(rows)


def simulate_all(orders: Sequence[Order], out: Path, var: Path, say: Say, *, with_spark: bool) -> Batch:
    """Simulate what is not simulated yet into ``out``. Raises ``TelemetryError`` where it cannot go on."""
    try:
        places = Places(out / "runs", out / "lake", var)
        expected = [costs.seconds(order.configuration) for order in orders]
        with _alone(out):
            batch = Batch.write(out / "batch", places, orders, expected)
            with _saying(batch, say):
                carry_out(batch, var, with_spark=with_spark)
    except OSError as error:
        raise TelemetryError(describe_os_error(error)) from error
    return batch


def _code(rows: Sequence[page.Row]) -> int:
    if any(row["state"] != DONE for row in rows):
        return FAILED
    return BROKEN if any(row["passed"] is False for row in rows) else WENT_WELL


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """Lock ``out`` against other sweeps. The kernel releases the lock of a killed process."""
    out.mkdir(parents=True, exist_ok=True)
    held = os.open(out, os.O_RDONLY)
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sentence = f"Another sweep is under way in {out}. Wait for its end, or name another --out."
            raise TelemetryError(sentence) from None
        yield
    finally:
        os.close(held)


def orders_of(spec: Path, replicates: int | None = None) -> list[Order]:
    """A run for each configuration and replicate of a definition. Raises ``InvalidSetting``."""
    instead = {} if replicates is None else {"replicates": replicates}
    return orders_for(*simulated(_read(spec), str(spec), **instead))


def orders_for(definition: Mapping[str, Any], configurations: Sequence[Mapping[str, Any]]) -> list[Order]:
    """A run for each configuration and replicate, in the definition's order."""
    return [
        Order(f"{configuration_hash(one)}-{replicate}", one, derive_seed(definition["seed"], replicate), replicate)
        for one in configurations
        for replicate in range(definition["replicates"])
    ]


def _demanded_by(spec: Path) -> list[Threshold]:
    """Raises ``InvalidSetting``."""
    body = parse_definition(_read(spec), is_json=spec.suffix == ".json")
    return thresholds.read_all(body.get("thresholds") or [], measures_of(str(body.get("system") or FIRST)))


def _read(spec: Path) -> bytes:
    try:
        with spec.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InvalidSetting("spec", describe_os_error(error)) from None


def carry_out(batch: Batch, var: Path, *, with_spark: bool) -> None:
    """Every order of ``batch``, by Spark or by plain processes. Raises ``TelemetryError`` where Spark cannot go on."""
    if not with_spark:
        with _stopping(batch):
            in_processes(batch)
        return
    # Spark takes a second to import, which plain processes need not wait for.
    from telemetry.spark.session import spark_session
    from telemetry.spark.sweep import MASTER, on_spark

    with spark_session(var, master=MASTER) as spark, _stopping(batch):
        on_spark(spark, batch)


@contextmanager
def _stopping(batch: Batch) -> Iterator[None]:
    """Ctrl-C and SIGTERM let what is under way end soon and the rest not begin; twice, they end it at once."""
    usual = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def stop(number: int, _: Any) -> None:
        batch.stop()
        signal.signal(number, signal.SIG_DFL)

    for number in usual:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)


@contextmanager
def _saying(batch: Batch, say: Say) -> Iterator[None]:
    """Says every few seconds how far it is, from what the runs tell."""
    ended = Event()
    progress = page.Progress(batch, time.monotonic())

    def tell() -> None:
        while not ended.wait(SAY_S):
            say(progress.words(time.monotonic()))

    teller = Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()
