"""Progress of a report's process for its parent: lines with a prefix, which distinguishes them from Java's output.

Counterparts: ``telemetry.cli.commands`` writes them to standard error; ``brokerweb.reports.job`` reads them from
its log.
"""

from __future__ import annotations

import sys

PROGRESS = "progress: "
"""What is being done, for a person."""
ERROR = "error: "
"""Why there is no report, as a sentence."""


def tell(prefix: str, words: str) -> None:
    """Write one line, at once."""
    sys.stderr.write(f"{prefix}{words}\n")
    sys.stderr.flush()


def last_told(log: str, prefix: str) -> str:
    """The words of the last line of ``log`` that begins with ``prefix``; empty where there is none."""
    told = [line.removeprefix(prefix).strip() for line in log.splitlines() if line.startswith(prefix)]
    return told[-1] if told else ""
