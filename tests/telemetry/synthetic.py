"""Runs that never were, from a seed: journals as brokers and generators would write them, or a lake of any size."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hdrh.histogram import HdrHistogram

from overlay.core.chance import Stream, derive_seed
from overlay.journal.facts import Event, Sample, Start, Tick
from overlay.journal.journal import JournalWriter
from overlay.load.response_times import HISTOGRAM_DIGITS, LONGEST_US
from telemetry.collect import BATCH, collect
from telemetry.lake.manifest import make_manifest
from telemetry.lake.records import STORED
from telemetry.lake.runs import Lake, RunFiles, read_manifest
from telemetry.lake.storage import write_json

ZERO_UNIX_US = 1_790_000_000_000_000
SECOND = 1_000_000
MEASURING_FROM = 3 * SECOND
"""Clients begin at 1 s, so that brokers have an idle tick before."""
IDLE_BYTES = 8_000_000
QUIET_US = SECOND // 10
"""No request just before measuring: the window uses the end of requests, a summary their due time."""


@dataclass(frozen=True)
class Script:
    """What happens in the run."""

    seed: int = 1
    brokers: int = 3
    topology: str = "ring"
    consumers: int = 4
    providers: int = 2
    seconds: int = 5
    per_second: int = 10
    """Requests of each consumer."""
    base_us: int = 900
    late_us: int = 40
    cpu_share: float = 0.1
    restarted_broker: int | None = None
    silent_broker: int | None = None
    """Reports nothing more from the fifth second on."""
    lose_samples: int = 0

    @property
    def ends(self) -> int:
        return MEASURING_FROM + self.seconds * SECOND


def write_run(directory: Path, script: Script = Script(), **manifest: object) -> RunFiles:
    """Write the journals and the manifest of one run under ``directory``."""
    files = RunFiles(directory)
    topology = {"name": f"{script.topology} of 3", "kind": script.topology, "brokers": script.brokers, "links": []}
    workload = {"providers": script.providers, "consumers": script.consumers or 1, "update_interval_s": 1.0}
    workload |= {
        "request_interval_s": max(0.01, 1 / script.per_second),
        "duration_s": float(script.seconds),
        "stagger_ms": 1.0,
    }
    described = {
        "seed": script.seed,
        "system": "context-broker",
        "topology": topology,
        "settings": {},
        "workload": workload,
    }
    files.write_manifest(make_manifest(files.run, now=datetime(2026, 11, 20, tzinfo=UTC), **{**described, **manifest}))
    consumers, providers = _samples(script, "consumer"), _samples(script, "provider")
    _write_generator(files, "consumers-0", script, consumers)
    _write_generator(files, "providers-0", script, providers)
    for index in range(script.brokers):
        _write_broker(files, index, script)
    _write_supervisor(files, script)
    return files


def _samples(script: Script, role: str) -> list[Sample]:
    chance = Stream(derive_seed(script.seed, role))
    clients, every = (
        (script.consumers, SECOND // script.per_second) if role == "consumer" else (script.providers, SECOND)
    )
    samples = []
    for client in range(clients):
        for intended in range(SECOND + client * 1_000, script.ends, every):
            if MEASURING_FROM - QUIET_US <= intended < MEASURING_FROM:
                continue
            sent = intended + int(chance.random() * 2 * script.late_us)
            outcome = "answered" if role == "provider" or chance.random() < 0.9 else "not_found"
            took = int(script.base_us * (0.5 + chance.random() ** 4 * 20))
            samples.append(
                Sample(
                    role=role,
                    client=client,
                    broker=client % script.brokers,
                    phase="warming" if intended < MEASURING_FROM else "measuring",
                    outcome=outcome,
                    status=102 if outcome == "answered" else 202,
                    attempts=1,
                    intended_us=intended,
                    sent_us=sent,
                    ended_us=sent + took,
                    entity="room|r0|climate",
                    entry_timestamp_ms=(ZERO_UNIX_US + intended) // 1000 - 500 * (role == "consumer"),
                )
            )
    return sorted(samples, key=lambda sample: sample.ended_us)


def _start(process: str) -> Start:
    return Start(process=process, pid=100, zero_unix_us=ZERO_UNIX_US, version="0.1.0")


def _tick(process: str, at: int, counters: dict[str, int], script: Script, **more: object) -> Tick:
    memory = {"rss_bytes": IDLE_BYTES, "pss_bytes": IDLE_BYTES // 4, "uss_bytes": IDLE_BYTES // 8}
    cpu = {"cpu_us": int(at * script.cpu_share), "histogram": ""}
    return Tick(**{"process": process, "at_us": at, "counters": counters, **memory, **cpu, **more})


def _write_generator(files: RunFiles, process: str, script: Script, samples: list[Sample]) -> None:
    """A tick falls just after the samples of its second; every sample but the lost ones is written."""
    writer = JournalWriter(files.journal(process), _start(process))
    outcomes = {"answered": 0, "not_found": 0, "refused": 0, "timed_out": 0}
    waiting = list(samples)
    due = 0
    for second in range(script.ends // SECOND + 2):
        histogram = HdrHistogram(1, LONGEST_US, HISTOGRAM_DIGITS)
        while waiting and waiting[0].ended_us < second * SECOND:
            sample = waiting.pop(0)
            due += 1
            outcomes[sample.outcome] += 1
            if sample.outcome == "answered":
                histogram.record_value(sample.ended_us - sample.intended_us)
            if sample.role == "provider" or len(waiting) >= script.lose_samples:
                writer.write(sample)
        counters = {"requests": due, "outstanding": 0, **outcomes}
        encoded = histogram.encode().decode()
        writer.write(_tick(process, second * SECOND, counters, script, histogram=encoded))
    writer.close()


def _write_broker(files: RunFiles, index: int, script: Script) -> None:
    process = f"broker-{index}"
    writer = JournalWriter(files.journal(process), _start(process))
    for second in range(script.ends // SECOND + 2):
        busy = max(0, second - 1)
        counters = {"entries": min(busy, 1), "bytes": 1_000 * min(busy, 1), "forwards": 20 * busy}
        counters |= {"in_3": 60 * busy, "out_3": 20 * busy, "in_4": 18 * busy, "in_6": 2 * busy}
        counters |= {"hits": 36 * busy, "hit_hops": 18 * busy, "out_1": 5 * busy}
        grown = 100_000 * min(busy, 2) * (index + 1)
        tick = _tick(process, second * SECOND, counters, script, rss_bytes=IDLE_BYTES + grown)
        tick = replace(tick, uss_bytes=IDLE_BYTES // 8 + grown)
        if index == script.restarted_broker and second >= 6:
            tick = replace(tick, cpu_us=second, counters=dict.fromkeys(counters, 0))
        if index == script.silent_broker and second >= 5:
            break
        writer.write(tick)
    writer.close()


def _write_supervisor(files: RunFiles, script: Script) -> None:
    writer = JournalWriter(files.journal("supervisor"), _start("supervisor"))
    phases = {"launching": 0, "warming": SECOND, "measuring": MEASURING_FROM, "draining": script.ends}
    for phase, at in phases.items():
        writer.write(Event("supervisor", at, "phase", {"phase": phase}))
    writer.close()


REPLICATES = 5
"""Of each configuration in a synthetic lake."""
KINDS = (
    (0.05, "provider", "answered", 102, None, None),
    (0.80, "consumer", "answered", 102, "fresh", True),
    (0.05, "consumer", "answered", 102, "stale", True),
    (0.01, "consumer", "answered", 102, "expired", False),
    (0.07, "consumer", "not_found", 202, "proved_not_found", False),
    (0.01, "consumer", "not_found", 202, "false_not_found", True),
    (0.01, "consumer", "timed_out", 0, "lost", True),
)
"""Samples of a synthetic lake: their share, role, outcome, status, truth, and whether what they asked for existed."""


def write_lake(lake: Lake, samples: int, per_run: int = 100_000, script: Script = Script(seconds=60)) -> list[str]:
    """Runs of ``per_run`` samples, ``REPLICATES`` of each configuration, until there are ``samples``; their ids.

    The files are those that ``collect`` writes; only the samples are drawn as columns, a million in some seconds.
    """
    runs = [f"synthetic-{index}" for index in range(max(1, samples // per_run))]
    with TemporaryDirectory() as directory:
        moulds = Lake(Path(directory) / "lake")
        for index, run in enumerate(runs):
            mould = f"mould-{index // REPLICATES}"
            if not moulds.holds(mould):
                shape = replace(script, consumers=1 + index // REPLICATES, per_second=1)
                collect(write_run(Path(directory) / mould, shape), moulds)
            for name in ("ticks", "events"):
                lake.part(name, run).parent.mkdir(parents=True)
                shutil.copy(moulds.part(name, mould), lake.part(name, run))
            path = lake.part("samples", run)
            path.parent.mkdir(parents=True)
            drawn = draw_samples(replace(script, seed=script.seed + index), min(samples, per_run))
            pq.write_table(drawn, path, compression="zstd", row_group_size=BATCH)
            write_json(lake.manifest_path(run), {**read_manifest(moulds.manifest_path(mould)), "run": run})
    return runs


def draw_samples(script: Script, rows: int) -> pa.Table:
    """``rows`` samples of a run in the order of their ends, with response times of a long tail."""
    chance = np.random.default_rng(script.seed)
    shares, *kinds = zip(*KINDS, strict=True)
    kind = chance.choice(len(KINDS), rows, p=shares)
    role, outcome, status, truth, existed = (pa.array(values).take(pa.array(kind)) for values in kinds)
    is_answer = kind <= 3
    intended = np.sort(chance.integers(SECOND, script.ends, rows))
    sent = intended + chance.exponential(script.late_us, rows).astype(np.int64)
    took = np.where(status.to_numpy() == 0, 2 * SECOND, chance.lognormal(np.log(4 * script.base_us), 1.2, rows))
    ended = sent + took.astype(np.int64)
    client, room = chance.integers(0, 1000, rows), chance.integers(0, 50, rows)
    columns = {
        "role": role,
        "client": client,
        "broker": client % script.brokers,
        "phase": pa.array(["warming", "measuring"]).take(pa.array((intended >= MEASURING_FROM).astype(int))),
        "outcome": outcome,
        "status": status,
        "attempts": np.ones(rows, np.int64),
        "intended_us": intended,
        "sent_us": sent,
        "ended_us": ended,
        "entity": pa.array([f"room|r{number}|climate" for number in range(50)]).take(pa.array(room)),
        "entry_timestamp_ms": np.where(is_answer, (ZERO_UNIX_US + intended) // 1000 - 500, 0),
        "truth": truth,
        "stale_ms": pa.array(np.where(kind == 2, chance.integers(1, 1000, rows), 0), mask=(kind == 0) | ~is_answer),
        "existed": existed,
    }
    return pa.table(columns, schema=STORED["samples"]).take(pa.array(np.argsort(ended)))
