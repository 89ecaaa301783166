"""``make fuzz``: every property test of the suite, again and again with other seeds, until the time has gone.

::

    python -m tests.fuzz --minutes 10
    python -m tests.fuzz --minutes 10 tests/broker      those of one place alone

They make up datagrams, orders of events, documents, bodies of requests, names and filters. A round is one run of
pytest, which says what fails with the seed and the example that repeat it; that example is tried first from then on.
"""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
import time

from tests.thorough import THOROUGHLY

FRESH = "WAXWING_FUZZ"
"""Set while this runs: those tests that always have the same examples in the suite then have others."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Property tests with fresh seeds.")
    parser.add_argument("--minutes", type=float, default=10.0, help="after which no other round begins (10)")
    parser.add_argument("--processes", default=str(os.cpu_count() or 1), help="at a time (one for each core)")
    parser.add_argument("places", nargs="*", default=["tests"], help="files or directories of tests (all)")
    options = parser.parse_args()
    ends = time.monotonic() + 60 * options.minutes
    rounds = 0
    while True:
        seed = secrets.randbelow(2**32)
        rounds += 1
        print(f"round {rounds}, --hypothesis-seed={seed}", flush=True)
        command = [sys.executable, "-m", "pytest", "-q", "-m", "hypothesis", "-n", options.processes]
        command += [f"--hypothesis-seed={seed}", *options.places]
        environment = {**os.environ, FRESH: "1", THOROUGHLY: "1"}
        if code := subprocess.run(command, env=environment, check=False).returncode:
            return code
        if time.monotonic() >= ends:
            return 0


if __name__ == "__main__":
    sys.exit(main())
