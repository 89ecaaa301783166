"""``python -m telemetry.claims``: the claims and how they came out, into ``docs/claims.md``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

from overlay.errors import WaxwingError
from telemetry.claims.page import add_flags, write
from telemetry.progress import ERROR, tell


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0 done, 1 failed, 2 wrong usage."""
    top = argparse.ArgumentParser(prog="python -m telemetry.claims", description=__doc__, allow_abbrev=False)
    add_flags(top)
    try:
        print(write(top.parse_args(arguments), datetime.now(UTC)))
    except WaxwingError as error:
        tell(ERROR, str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
