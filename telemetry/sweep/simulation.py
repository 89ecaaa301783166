"""One run in virtual time: simulated once, cached by everything that determines it, and collected like a live run.

::

    var/simulated/<key>/journal/<process>.journal   the journals of the run
                        outcome.json                its digest and costs
                        simulator                   the version of the simulator
                .<key>/                             the same in progress, by one process at a time

A simulated run is determined by its configuration, its seed, the simulator's code and the service times. Their hash
is the key, and another run with the same key gets links to the same journals. Directories appear atomically, by a
rename; an unfinished one is started again.

Counterparts: ``overlay.sim.engine`` simulates; ``telemetry.sweep`` does many.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import overlay
from overlay.core.engines import SIMULATED
from overlay.core.errors import describe_os_error
from overlay.core.hashes import blake2b, digest_of_code
from overlay.core.service_times import ServiceModel
from overlay.deployment.deployment import Deployment, run_document
from overlay.experiment.sweeps import configuration_hash
from overlay.journal.recording import recordings_in
from overlay.runtime.calibrated import services_of
from overlay.sim.engine import simulate
from overlay.systems.registry import SYSTEMS
from telemetry.collect import collect
from telemetry.errors import StorageError, TelemetryError
from telemetry.lake import repeats
from telemetry.lake.manifest import make_manifest
from telemetry.lake.runs import Lake, RunFiles, read_manifest
from telemetry.lake.storage import whole_file, write_json

MADE_BY = "simulator"


@dataclass(frozen=True, slots=True)
class Places:
    """The directories of runs, of the lake, and of the installation (``var``)."""

    runs: Path
    lake: Path
    var: Path

    @property
    def kept(self) -> Path:
        """The cache of simulated runs."""
        return self.var / "simulated"


@dataclass(frozen=True, slots=True)
class Order:
    """One run to simulate."""

    run: str
    configuration: Mapping[str, Any]
    """Complete, as from ``overlay.experiment.definition.configurations``."""
    seed: int
    replicate: int = 0
    experiment: str = ""
    again: bool = False
    """Simulate it even if it is cached, to compare the results."""
    repeats: Mapping[str, Any] = field(default_factory=dict)
    """``{run, key, digest}`` of the original that this run repeats. Its digest is compared even if its files are
    deleted; empty if it had none or did not complete."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of an order."""

    key: str
    digest: str
    """BLAKE2b over every delivered datagram; for a stopped run up to that point."""
    events: int
    simulated_s: float
    computed_s: float
    """Processor time of the simulation."""
    was_kept: bool
    """Whether it was cached and only linked."""
    was_stopped: bool
    differs_from: str = ""
    """The earlier digest, if simulating it again gave another one; this is a bug."""
    took_s: float = 0.0
    """Elapsed time up to the collected result; 0 if it was cached."""
    repeat: Mapping[str, str] = field(default_factory=dict)
    """For a run that repeats another: ``{run, digest, outcome, why}`` from ``telemetry.lake.repeats``."""
    unmeasured: list[str] = field(default_factory=list)
    """The roles and units of work that had default costs."""


Tell = Callable[[str, float], None]
"""Called with the state of the run and its progress, 0 to 1."""


def simulate_run(
    order: Order,
    places: Places,
    now: datetime,
    tell: Tell = lambda state, share: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Result:
    """Create the manifest, journals and Parquet of ``order``'s run. A complete run is left unchanged.

    Raises ``WaxwingError`` if the run cannot be simulated or files cannot be written.
    """
    files, lake = RunFiles(places.runs / order.run), Lake(places.lake)
    services = services_of(order.configuration, places.var)
    key = content_key(order.configuration, order.seed, services)
    known = read_manifest(lake.manifest_path(order.run)).get("simulated") or {}
    if known.get("key") == key and not known.get("was_stopped") and not order.again:
        return Result(**{**known, "was_kept": True})
    tell("measuring", 0.0)
    began = time.monotonic()
    result = _fetch(order, key, services, places, files, lambda share: tell("measuring", share), should_stop)
    if order.repeats:
        followed = repeats.Followed(
            simulator_version(order.configuration["system"]), services.to_json() if services else None
        )
        result = _held_against(order.repeats, result, followed, lake)
    files.write_manifest(_manifest(order, result, services, now))
    tell("collecting", 1.0)
    collect(files, lake)
    return result if result.was_kept else replace(result, took_s=round(time.monotonic() - began, 3))


def _held_against(original: Mapping[str, Any], result: Result, followed: repeats.Followed, lake: Lake) -> Result:
    repeat = repeats.compare(original, result.key, result.digest, followed, lake, is_whole=not result.was_stopped)
    is_bug = repeat["outcome"] == repeats.DIFFERENT
    return replace(result, repeat=repeat, differs_from=repeat["digest"] if is_bug else result.differs_from)


def content_key(configuration: Mapping[str, Any], seed: int, services: ServiceModel | None) -> str:
    """The hash of everything that determines a simulated run."""
    model = services.to_json() if services else None
    parts = [configuration_hash(configuration), seed, simulator_version(configuration["system"]), model]
    return blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=16).hexdigest()


@cache
def simulator_version(system: str) -> str:
    """A digest of the simulator's code and that of the system, independent of pages and reports."""
    package = Path(overlay.__file__).parent
    others = [path for path in SYSTEMS[system].code if not path.is_relative_to(package)]
    return digest_of_code(package, *others)


def _manifest(order: Order, result: Result, services: ServiceModel | None, now: datetime) -> dict[str, Any]:
    configuration = order.configuration
    return make_manifest(
        order.run,
        seed=order.seed,
        **{name: configuration[name] for name in ("system", "topology", "settings", "workload")},
        engine=SIMULATED,
        now=now,
        faults=configuration["faults"],
        simulation=configuration["simulation"],
        record_mb=configuration.get("record_mb", 0),
        replicate=order.replicate,
        configuration_hash=configuration_hash(configuration),
        experiment=order.experiment,
        simulated=asdict(result),
        simulator=simulator_version(configuration["system"]),
        service_times=services.to_json() if services else None,
    )


# ---- the cache


def _fetch(
    order: Order,
    key: str,
    services: ServiceModel | None,
    places: Places,
    files: RunFiles,
    tell: Callable[[float], None],
    should_stop: Callable[[], bool],
) -> Result:
    """Link the run's journals, and simulate them first if they are not cached."""
    kept = places.kept / key
    if not order.again and (found := _kept_result(kept)):
        _link(kept / "journal", files.journal_directory)
        return found
    with _sole(places.kept / f".{key}") as scratch:
        before = _kept_result(kept)
        if before and not order.again:  # created by another process while this one waited
            _link(kept / "journal", files.journal_directory)
            return before
        result = _simulated(order, key, services, scratch, tell, should_stop)
        _link(scratch / "journal", files.journal_directory)
        if result.was_stopped:
            return result
        if before:
            return replace(result, differs_from="" if before.digest == result.digest else before.digest)
        (scratch / MADE_BY).write_text(simulator_version(order.configuration["system"]))
        write_json(scratch / "outcome.json", asdict(result))
        scratch.rename(kept)
        return result


def _simulated(
    order: Order,
    key: str,
    services: ServiceModel | None,
    directory: Path,
    tell: Callable[[float], None],
    should_stop: Callable[[], bool],
) -> Result:
    document = run_document(order.configuration, run=key, seed=order.seed, directory=str(directory.absolute()))
    deployment = Deployment.from_json(document, SIMULATED)
    began = time.process_time()
    outcome = simulate(deployment, services, on_progress=lambda seen: tell(seen.share), should_stop=should_stop)
    computed_s = round(time.process_time() - began, 3)
    return Result(
        key=key,
        digest=outcome.digest,
        events=outcome.events,
        simulated_s=outcome.simulated_s,
        computed_s=computed_s,
        was_kept=False,
        was_stopped=outcome.was_stopped,
        unmeasured=list(services.unmeasured) if services else [],
    )


def _kept_result(kept: Path) -> Result | None:
    try:
        return Result(**{**json.loads((kept / "outcome.json").read_bytes()), "was_kept": True})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise TelemetryError(
            f"The cached run in {kept} cannot be read: {error}. Delete it to simulate it again."
        ) from None


@contextmanager
def _sole(directory: Path) -> Iterator[Path]:
    """An empty directory for this process only, deleted afterwards unless it was renamed. Waits for other processes.

    The lock is on the directory itself, so the kernel releases that of a killed process.
    """
    held = _lock(directory)
    try:
        for left in directory.iterdir():
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        yield directory
    except OSError as error:
        raise StorageError(describe_os_error(error)) from error
    finally:
        if _is_same(held, directory):
            shutil.rmtree(directory, ignore_errors=True)
        os.close(held)


def _lock(directory: Path) -> int:
    while True:
        directory.mkdir(parents=True, exist_ok=True)
        held = os.open(directory, os.O_RDONLY)
        fcntl.flock(held, fcntl.LOCK_EX)
        if _is_same(held, directory):
            return held
        os.close(held)  # its previous owner has renamed or removed it meanwhile


def _is_same(held: int, directory: Path) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(held), directory.stat())
    return False


def _link(source: Path, target: Path) -> None:
    """Link the journals and recordings of ``source`` into ``target``, replacing others.

    No bytes are copied within one file system.
    """
    try:
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for path in (*source.glob("*.journal"), *recordings_in(source)):
            try:
                os.link(path, target / path.name)
            except OSError:
                with path.open("rb") as read, whole_file(target / path.name) as write:
                    shutil.copyfileobj(read, write)
    except OSError as error:
        raise StorageError(describe_os_error(error)) from error
