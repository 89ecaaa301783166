"""Which tests run in one process, in turn, and which begin first.

Tests of one file share what is made for it, so they run in one process. ``TURNS`` has the others: files that share a
house, a browser or Java. They come first, those that take longest before all: they wait more than they compute, so that
the other processes compute meanwhile. Each process takes two turns at once, so short ones follow the first long ones.
"""

from __future__ import annotations

import functools
from pathlib import Path

ROOT = Path(__file__).resolve().parent
TURNS = {
    "house": ("stack/test_bridge.py", "stack/test_deaths.py", "stack/test_network.py", "stack/test_shortage.py"),
    "pages": ("browser",),
    "running pages": (
        "browser/test_compared_sweep.py",
        "browser/test_federation.py",
        "browser/test_networks.py",
        "browser/test_notifications.py",
        "browser/test_operator_journey.py",
        "browser/test_query_walk.py",
        "test_client_journey.py",
        "test_rest_journey.py",
    ),
    "every page": ("browser/test_every_page.py",),
    "supervisor": ("runtime/test_supervisor.py",),
    "spark": (
        "benchmarks/test_report_section.py",
        "telemetry/test_java.py",
        "telemetry/test_report.py",
        "telemetry/test_spark_cluster.py",
        "telemetry/test_sweep.py",
    ),
    "live runs": ("brokerweb/test_runs_live.py",),
    "systems": ("systems",),
    "bad day": ("stack/test_bad_day.py",),
    "setup": ("setup",),
    "postgresql": ("test_on_postgresql.py",),
    "live networks": ("brokerweb/test_networks.py", "brokerweb/test_profiles_live.py"),
    "live": ("runtime",),
    "swarm": ("swarm",),
    "benchmarks": ("benchmarks",),
}
"""By name, files and folders; a file that is named itself is not of its folder's turn."""


@functools.cache
def turn(path: Path) -> tuple[int, str]:
    """The place and the name of the turn that the file at ``path`` belongs to."""
    file = path.relative_to(ROOT).as_posix()
    for wanted in (file, file.partition("/")[0]):
        for place, (name, members) in enumerate(TURNS.items()):
            if wanted in members:
                return place, name
    return len(TURNS), file
