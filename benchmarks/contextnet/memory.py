"""Memory of a gateway per idle connection, and its growth with their number. ``connected`` measures one number."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial

from benchmarks.figures import Figure, figure
from benchmarks.record import ROOT

NODES = (2_000, 10_000)
FULL_ROUNDS = 4
GOAL_BYTES = 600
make = partial(figure, "contextnet")


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    for nodes in NODES if rounds >= FULL_ROUNDS else NODES[:1]:
        say(f"memory of {nodes:,} idle connections")
        command = [sys.executable, "-m", "benchmarks.contextnet.connected", str(nodes)]
        told = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True).stdout
        what = f"memory of a gateway per idle connection, of {nodes:,}"
        yield make(what, "bytes", [float(told)], "lower", at_most=GOAL_BYTES)
