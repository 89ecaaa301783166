"""The streams of section (n): many listeners to all changes of one network, and the memory that they take.

A part of ``benchmarks.front``, whose web process, brokers and cores it uses.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import psutil

from benchmarks.figures import Figure, Unavailable, figure
from benchmarks.house import House
from benchmarks.record import ROOT
from overlay.runtime.lifeline import die_with_parent

LISTENERS = 1_000
RATE = 100
"""Changes per second."""
SECONDS = 30.0
WARM_S = 5.0
"""Then the memory is first read: buffers have their size."""
GOAL_GROWTH_KIB = 10_000.0
"""Of the web process while the listeners listen. The view grows by one entry for each change, some 2 kB, and the log of
changes by as much."""
WHAT = f"stream, {LISTENERS:,} listeners, {RATE} changes/s"


def measure(
    here: House, path: str, token: str, brokers: Sequence[int], rounds: int, pin: Callable[[int], None]
) -> Iterator[Figure]:
    """``path``: of the stream; ``pin`` puts the load on the core of clients."""
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\r\n"
    order = {"port": here.port, "request": request, "brokers": list(brokers)}
    order |= {"listeners": LISTENERS, "rate": RATE, "seconds": SECONDS}
    rows = [_round(here, order, pin) for _ in range(rounds)]
    of = {name: [row[name] for row in rows] for name in rows[0]}
    yield figure("front", f"{WHAT}, events", "1/s", of["rate"], "higher")
    yield figure("front", f"{WHAT}, lost events", "", of["lost"], "lower", at_most=0)
    yield figure("front", f"{WHAT}, p50 from sending", "us", of["p50_us"], "lower")
    yield figure("front", f"{WHAT}, p99 from sending", "us", of["p99_us"], "lower")
    yield figure("front", f"{WHAT}, cores used by the web process", "cores", of["cores"], "lower")
    yield figure("front", "stream, memory of a listener (PSS)", "KiB", of["each_kib"], "lower")
    yield figure("front", f"{WHAT}, growth (PSS)", "KiB", of["growth_kib"], "lower", at_most=GOAL_GROWTH_KIB)


def _round(here: House, order: dict[str, Any], pin: Callable[[int], None]) -> dict[str, float]:
    idle = _pss_kib(here)
    with _load() as load:
        pin(load.pid)
        _tell(load, order)
        _answer(load)
        listening, cpu, began = _pss_kib(here), here.cpu_s("web"), time.monotonic()
        _tell(load, "go")
        time.sleep(WARM_S)
        warm = _pss_kib(here)
        told = _answer(load)
        cores = (here.cpu_s("web") - cpu) / (time.monotonic() - began)
        end = _pss_kib(here)
    return {
        "rate": told["heard"] / told["seconds"],
        "lost": told["sent"] * order["listeners"] - told["heard"],
        "p50_us": told["p50_ms"] * 1000,
        "p99_us": told["p99_ms"] * 1000,
        "cores": cores,
        "each_kib": (listening - idle) / order["listeners"],
        "growth_kib": end - warm,
    }


def _pss_kib(here: House) -> float:
    return float(psutil.Process(here.processes["web"].pid).memory_full_info().pss) / 1024


def _tell(load: subprocess.Popen[str], what: Any) -> None:
    assert load.stdin
    load.stdin.write(json.dumps(what) + "\n")
    load.stdin.flush()


def _answer(load: subprocess.Popen[str]) -> dict[str, Any]:
    assert load.stdout
    line = load.stdout.readline()
    if not line:
        raise Unavailable("the listeners of the stream ended")
    answer: dict[str, Any] = json.loads(line)
    return answer


@contextmanager
def _load() -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.stream_load"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=partial(die_with_parent, os.getpid()),
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
