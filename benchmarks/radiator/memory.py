"""Memory of the server per client, and its growth with their number. Counterpart: ``registered`` measures one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator

from benchmarks.figures import Figure
from benchmarks.radiator.timing import make
from benchmarks.record import ROOT

CLIENTS = (6_000, 60_000)
FULL_ROUNDS = 4


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    for clients in CLIENTS if rounds >= FULL_ROUNDS else CLIENTS[:1]:
        say(f"memory of {clients:,} clients")
        command = [sys.executable, "-m", "benchmarks.radiator.registered", str(clients)]
        told = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True).stdout
        yield make(f"memory of the server per client, of {clients:,}", "bytes", [float(told)], "lower")
