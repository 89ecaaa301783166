"""Run an experiment and print its rows as JSON lines: ``python -m telemetry.systems.silbops.in_process E2.3``.

Each row has the settings, the workload and the measures of one cell of a replicate. Times are processor time of this
thread; only arms of one run are to be compared.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from telemetry.studies.study import QUICK, SCALES
from telemetry.systems.silbops.in_process.experiments import EXPERIMENTS

REPLICATES = {QUICK: 3}
MOST_REPLICATES = 10


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m telemetry.systems.silbops.in_process", description=__doc__)
    parser.add_argument("experiment", choices=list(EXPERIMENTS))
    parser.add_argument("--scale", choices=SCALES, default=QUICK)
    parser.add_argument("--replicates", type=int, help="seeds 1, 2, ... (default: 3 at quick, else 10)")
    given = parser.parse_args(arguments)
    replicates = given.replicates or REPLICATES.get(given.scale, MOST_REPLICATES)
    for seed in range(1, replicates + 1):
        for row in EXPERIMENTS[given.experiment](seed, given.scale):
            print(json.dumps({"seed": seed, **row.settings, **row.workload, **row.measures}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
