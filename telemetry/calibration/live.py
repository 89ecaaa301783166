"""Real brokers and clients under a supervisor: complete runs, and idle brokers.

Counterparts: ``overlay.runtime.own_supervisor`` is that supervisor; runs are the same as those launched by
the web.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from overlay.core.addresses import Address, parse_address
from overlay.core.engines import LIVE
from overlay.core.processes import role_of
from overlay.deployment.phases import ENDED, FINISHED, MEASURING, WARMING
from overlay.experiment.definition import estimate_s
from overlay.runtime.own_supervisor import document_of
from overlay.runtime.supervisor_client import (
    Status,
    SupervisorClient,
    SupervisorRefused,
    SupervisorUnavailable,
    is_gone,
    reason_of,
)
from overlay.runtime.usage import sizes_in
from overlay.systems.registry import FIRST
from telemetry.errors import TelemetryError
from telemetry.lake.manifest import make_manifest
from telemetry.lake.runs import RunFiles

START_S = 20.0
POLL_S = 0.05
LATE_S = 60.0
"""A run that takes this much longer than expected hangs."""
_runs = count()
"""For unique ids: a supervisor remembers ended runs and refuses a second run with the same id."""


@dataclass(frozen=True, slots=True)
class Running:
    """A process of a run."""

    pid: int

    def processor_ns(self) -> int:
        """Processor time so far, user and system. Raises ``TelemetryError`` if the system does not report it."""
        try:
            return int(Path(f"/proc/{self.pid}/schedstat").read_text(encoding="ascii").split()[0])
        except OSError as error:
            raise TelemetryError(f"Calibrating needs Linux and its /proc/PID/schedstat: {error}.") from None

    def each_us(self, act: Callable[[], object], times: int) -> float:
        """Processor time while ``act`` is called so many times, for each of them. Raises as ``processor_ns``."""
        before = self.processor_ns()
        for _ in range(times):
            act()
        return (self.processor_ns() - before) / times / 1_000

    def cheapest_us(self, act: Callable[[], object], times: int, *, warming: int, portions: int) -> float:
        """As ``each_us``, after ``warming`` others, of the cheapest of ``portions``, because other load only adds.
        Raises ``TelemetryError``, too, if the process did nothing in all of them: nothing reached it."""
        for _ in range(warming):
            act()
        each = max(1, times // portions)
        found = [self.each_us(act, each) for _ in range(portions)]
        if not any(found):
            raise TelemetryError(f"Process {self.pid} took no processor time for what was to be measured.")
        return min(found)

    def memory(self) -> tuple[int, int, int]:
        """RSS, PSS and USS in bytes."""
        return sizes_in(Path(f"/proc/{self.pid}/smaps_rollup").read_bytes())

    @contextmanager
    def halted(self) -> Iterator[None]:
        """The process is stopped during the block, so that datagrams queue up and are received together."""
        os.kill(self.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGCONT)


@dataclass(frozen=True, slots=True)
class Standing(Running):
    """An idle server."""

    address: Address
    run: str
    """The id of its run."""


def files_of(document: Mapping[str, Any], engine: str = LIVE) -> RunFiles:
    """The files of a run that is about to begin: its manifest."""
    files = RunFiles(Path(document["directory"]))
    topology = {"name": document["id"], "kind": "", **document["topology"]}
    manifest = make_manifest(
        document["id"],
        seed=document["seed"],
        system=document["system"],
        topology=topology,
        settings=document["settings"],
        workload=document["workload"],
        now=datetime.now(UTC),
        engine=engine,
    )
    files.directory.mkdir(parents=True, exist_ok=True)
    files.write_manifest(manifest)
    return files


def run(client: SupervisorClient, document: Mapping[str, Any]) -> RunFiles:
    """Execute a run. Returns its files, with a manifest. Raises ``TelemetryError`` if it fails."""
    files = files_of(document)
    limit_s = estimate_s(document) + LATE_S
    status = _until(client, document, _is_over, limit_s)
    if status["phase"] != FINISHED:
        raise TelemetryError(f"{document['id']}: {reason_of(status) or status['phase']}")
    return files


@contextmanager
def standing(
    client: SupervisorClient,
    id: str,
    count: int,
    settings: Mapping[str, Any],
    workload: Mapping[str, Any],
    system: str = FIRST,
    links: Sequence[Mapping[str, Any]] = (),
) -> Iterator[list[Standing]]:
    """Servers with journals, in a run whose ``workload`` sends hardly any requests. They end with the block.

    ``count`` is the number of brokers in the topology; servers of other roles come after them.
    """
    id = f"{id}-{next(_runs)}"
    with tempfile.TemporaryDirectory(prefix="waxwing-", ignore_cleanup_errors=True) as directory:
        document = document_of(
            id,
            Path(directory),
            brokers=count,
            links=links,
            settings=settings,
            workload=workload,
            seed=1,
            system=system,
        )
        status = _until(client, document, lambda status: status["phase"] in (WARMING, MEASURING, *ENDED), START_S)
        if status["phase"] in ENDED:
            raise TelemetryError(f"{id}: {reason_of(status) or status['phase']}")
        try:
            yield [Standing(one["pid"], parse_address(one["address"]), id) for one in status["brokers"]]
        finally:
            client.stop(id, 1, "measured")
            _until(client, document, _is_over, START_S, is_deployed=True)


def clients_of_run(client: SupervisorClient, run: str, role: str) -> list[Running]:
    """The processes of a group of clients. Raises ``TelemetryError``."""
    try:
        return [Running(one["pid"]) for one in client.status(run)["clients"] if role_of(one["name"]) == role]
    except (SupervisorRefused, SupervisorUnavailable) as refusal:
        raise TelemetryError(f"{run}: {refusal}") from None


def _until(
    client: SupervisorClient,
    document: Mapping[str, Any],
    is_it: Callable[[Status], bool],
    limit_s: float,
    *,
    is_deployed: bool = False,
) -> Status:
    """Deploy a document and wait for the expected status."""
    deadline = time.monotonic() + limit_s
    try:
        status = client.status(document["id"]) if is_deployed else client.deploy(dict(document))
        while not is_it(status):
            if time.monotonic() > deadline:
                raise TelemetryError(f"{document['id']} is still {status['phase']} after {limit_s:.0f} s")
            time.sleep(POLL_S)
            status = client.status(document["id"])
    except (SupervisorRefused, SupervisorUnavailable) as refusal:
        raise TelemetryError(f"{document['id']}: {refusal}") from None
    return status


def _is_over(status: Status) -> bool:
    """A run may have finished while its brokers are still writing."""
    return status["phase"] in ENDED and is_gone(status)
