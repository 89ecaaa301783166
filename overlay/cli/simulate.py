"""``python -m overlay simulate SPEC``: one configuration in virtual time, without the web.

It is in neither driver, because it uses both: the clock and this machine's calibration from ``overlay.runtime``, and
the simulator from ``overlay.sim``.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from overlay.core.chance import derive_seed
from overlay.core.engines import SIMULATED
from overlay.core.errors import InvalidSetting, describe_os_error
from overlay.core.service_times import ServiceModel, missing_costs
from overlay.deployment.deployment import Deployment, run_document
from overlay.experiment.definition import MAX_REPLICATES
from overlay.experiment.files import MAX_BYTES
from overlay.experiment.inline import simulated
from overlay.experiment.sweeps import configuration_hash
from overlay.journal.journal import read_journal
from overlay.programs.arguments import OneLineParser
from overlay.runtime.calibrated import data_directory, services_of
from overlay.runtime.usage import peak_memory
from overlay.sim.engine import Outcome, Progress, SimulationFailed, journal_path, simulate
from overlay.sim.summary import Summary, summarise
from overlay.systems.contract import System

DONE, FAILED, STOPPED = 0, 1, 130

SHOWN_EVERY_S = 0.2


def make_parser() -> OneLineParser:
    parser = OneLineParser(
        prog="overlay simulate",
        description="Run one configuration in virtual time. SPEC is a body of POST /api/experiments/ as YAML or "
        "JSON, with its topology inline: {kind: ring, brokers: 10}.",
        epilog="Exit codes: 0 done, 1 failed, 2 invalid specification, 130 stopped by Ctrl-C.",
    )
    parser.add_argument("spec", metavar="SPEC", help="a file, or - for standard input")
    parser.add_argument("--seed", type=int, help="override the seed of the specification")
    parser.add_argument("--replicate", type=int, default=0, metavar="R", help="number of the replicate (0)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="keep the journal and the summary in this directory")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--var", type=Path, default=data_directory(), metavar="DIR", help="directory of this machine's calibration"
    )
    return parser


def main(argv: list[str]) -> int:
    """Run SPEC and print the result. Returns the exit code."""
    parser = make_parser()
    options = parser.parse_args(argv)
    try:
        configuration, seed = _configuration(options)
        services = services_of(configuration, options.var)
        name = configuration_hash(configuration)
    except InvalidSetting as error:
        parser.error(f"{options.spec}: {error.sentence if error.field == 'spec' else error}")
    except OSError as error:
        parser.error(f"{options.spec}: {error.strerror}")
    try:
        with _directory(options.out) as directory:
            document = run_document(configuration, run="simulated", seed=seed, directory=str(directory))
            deployment = Deployment.from_json(document, SIMULATED)
            del configuration, document  # 100 MB of a hundred thousand brokers
            found = {
                "configuration": name,
                "system": deployment.system.name,
                "servers": len(deployment.server_names),
                "seed": seed,
                **_run(deployment, services),
            }
            if options.out:
                (directory / "summary.json").write_text(json.dumps(found, indent=2) + "\n")
    except SimulationFailed as error:
        sys.stderr.write(f"{parser.prog}: {error}\n")
        return FAILED
    except OSError as error:
        sys.stderr.write(f"{parser.prog}: {describe_os_error(error)}\n")
        return FAILED
    sys.stdout.write(json.dumps(found) + "\n" if options.json else _lines(found, deployment.system))
    return STOPPED if found["was_stopped"] else DONE


# ---- reading the specification


def _configuration(options: argparse.Namespace) -> tuple[dict[str, Any], int]:
    """The complete configuration in SPEC, and the seed of the run."""
    if not 0 <= options.replicate < MAX_REPLICATES:
        raise InvalidSetting("--replicate", f"must be from 0 to {MAX_REPLICATES - 1}, not {options.replicate}")
    instead = {} if options.seed is None else {"seed": options.seed}
    definition, configurations = simulated(_read(options.spec), options.spec, **instead)
    if len(configurations) > 1:
        raise InvalidSetting(
            "spec", f"is a sweep of {len(configurations)} configurations; run it with python -m telemetry sweep"
        )
    return configurations[0], derive_seed(definition["seed"], options.replicate)


def _read(spec: str) -> bytes:
    if spec == "-":
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    with Path(spec).open("rb") as file:
        return file.read(MAX_BYTES + 1)


@contextmanager
def _directory(out: Path | None) -> Iterator[Path]:
    """The directory of the journal; without ``out`` a temporary one."""
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        yield out.resolve()
        return
    with TemporaryDirectory(prefix="waxwing-simulate-") as scratch:
        yield Path(scratch)


# ---- running


def _run(deployment: Deployment, services: ServiceModel | None) -> dict[str, Any]:
    interrupts: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number))
    shown = _Shown(time.monotonic())
    began, began_on_clock = time.process_time(), time.monotonic()
    try:
        outcome = simulate(deployment, services, on_progress=shown.tell, should_stop=lambda: bool(interrupts))
    finally:
        shown.clear()
        signal.signal(signal.SIGINT, before)
    computed_s, wall_s = time.process_time() - began, time.monotonic() - began_on_clock
    path, system = journal_path(Path(deployment.directory)), deployment.system
    summary = summarise(read_journal(path), system, system.measures(read_journal(path)))
    return _found(outcome, summary, services, computed_s, wall_s)


class _Shown:
    """The progress line on a terminal; nothing elsewhere."""

    def __init__(self, began: float) -> None:
        self._began = began
        self._next = began + SHOWN_EVERY_S
        self._is_shown = sys.stderr.isatty()

    def tell(self, progress: Progress) -> None:
        now = time.monotonic()
        if not self._is_shown or now < self._next:
            return
        self._next = now + SHOWN_EVERY_S
        left = f", {(now - self._began) * (1 / progress.share - 1):.0f} s left" if progress.share > 0.02 else ""
        sys.stderr.write(f"\r{progress.phase} {progress.share:.0%}{left}\033[K")
        sys.stderr.flush()

    def clear(self) -> None:
        if self._is_shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


# ---- output


def _found(
    outcome: Outcome, summary: Summary, services: ServiceModel | None, computed_s: float, wall_s: float
) -> dict[str, Any]:
    return {
        "engine": SIMULATED,
        "service_times": _origin(services) if services else "none",
        **({"unmeasured": list(services.unmeasured)} if services and services.unmeasured else {}),
        **summary.to_json(),
        **asdict(outcome),
        "computed_s": round(computed_s, 3),
        "wall_s": round(wall_s, 3),
        "peak_rss_mib": round(peak_memory() / 2**20),
        "events_per_s": round(outcome.events / computed_s) if computed_s else None,
    }


def _origin(services: ServiceModel) -> str:
    return str(services.measured.get("name", "unnamed")) if services.measured else "default"


_REQUESTS = (
    ("requests", "{requests:,}"),
    ("answered", "{answered:,}"),
    ("share answered", "{answer_ratio:.2%} of the requests"),
    ("throughput", "{per_s:,.2f} answers per second of measuring"),
    ("not found", "{not_found:,}"),
    ("refused", "{refused:,}"),
    ("timed out", "{timed_out:,}"),
    ("response p50", "{p50_us:,.0f} µs"),
    ("response p95", "{p95_us:,.0f} µs"),
    ("response p99", "{p99_us:,.0f} µs"),
)
_REST = (
    ("simulated", "{simulated_s:,.1f} s, in {computed_s:,.1f} s of processor time and {wall_s:,.1f} s elapsed"),
    ("memory", "{peak_rss_mib:,} MiB peak resident, including the interpreter"),
    ("events", "{events:,}; {events_per_s:,} per second of processor"),
    ("service times", "{service_times}"),
    ("seed", "{seed}"),
    ("digest", "{digest}"),
)


def _of_clients(found: Mapping[str, Any], system: System) -> Iterable[tuple[str, str]]:
    """What the clients of a run met: its requests, and those measures of its system that say more and have values; or
    all measures of a system without requests."""
    if not system.asking_roles:
        return _rows(found, system.measure_names)
    own = [name for name, value in found["measures"].items() if value is not None and name not in found]
    return *(_REQUESTS if found["requests"] or not own else ()), *_rows(found, own)


def _rows(found: Mapping[str, Any], measures: Iterable[str]) -> Iterator[tuple[str, str]]:
    return ((name, _plain(found["measures"].get(name))) for name in measures)


def _plain(value: float | None) -> str:
    """A whole number, or four significant figures; ``--json`` has all."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if value == round(value) or abs(value) >= 1_000 else f"{value:.4g}"


def _lines(found: Mapping[str, Any], system: System) -> str:
    lines = ["simulated, not measured live" + ("; stopped before its end" if found["was_stopped"] else "")]
    servers = (system.server_title.in_text.many, "{servers:,}")
    rows = (*_of_clients(found, system), *system.cost_words.values(), servers, *_REST)
    width = max(15, *(len(name) for name, _ in rows))
    for name, template in rows:
        try:
            lines.append(f"{name:<{width}} {template.format(**found)}")
        except (TypeError, ValueError):  # None: not measured
            lines.append(f"{name:<{width}} –")
    if found.get("unmeasured"):
        lines.append(missing_costs(found["unmeasured"]))
    if found["were_introduced"]:
        lines.append("neighbours were assigned at the start: joining is not simulated for so many brokers")
    return "".join(f"{line}\n" for line in lines)
