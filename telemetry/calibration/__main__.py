"""``python -m telemetry.calibration``: measure what live brokers take on this machine, for simulated ones to take."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from overlay.errors import WaxwingError
from telemetry.calibration.command import add_flags, calibrate
from telemetry.progress import ERROR, PROGRESS, tell


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0 done, 1 failed, 2 wrong usage."""
    top = argparse.ArgumentParser(prog="python -m telemetry.calibration", description=__doc__, allow_abbrev=False)
    top.add_argument("--var", type=Path, default=Path(os.environ.get("WAXWING_VAR", "var")), help="directory for data")
    add_flags(top)
    try:
        print(calibrate(top.parse_args(arguments), partial(tell, PROGRESS), datetime.now(UTC)))
    except WaxwingError as error:
        tell(ERROR, str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
