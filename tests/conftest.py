"""What the widest stories share: the whole house, started as a person starts it."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.management.commands import flush
from hypothesis import HealthCheck, settings

from overlay.runtime.lifeline import die_with_parent
from tests.thorough import THOROUGH
from tests.turns import turn
from tests.waiting import BOUND_S

# How long an example takes, and how long it is to draw one, says how busy the machine is.
UNHURRIED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
# Of the examples of a test that says no number, Hypothesis' own 100, a quarter.
settings.register_profile("unhurried", max_examples=100 if THOROUGH else 25, **UNHURRIED)
settings.load_profile("unhurried")

# Hundreds of processes are started: none of them has to compile the sources again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Tests make many objects and few circles: with the collector's own thresholds it takes 6 % of their processor time.
gc.set_threshold(100_000, 50, 50)
# A shell that runs the suite in the background has it ignore SIGINT, and so would everything that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent
LONG_S = 60
"""From which on it is said where the time went."""
MOST_FOLDERS = 12
ROWS = {"db", "transactional_db", "live_server"}


@pytest.hookimpl(tryfirst=True)  # before Django's applications are loaded
def pytest_configure() -> None:
    """No thread writes the operation log into the database of another test; those about it say that they want it.

    The variable is for processes that tests start: this one has read it already.
    """
    os.environ.setdefault("WAXWING_OPERATIONS", "0")
    django_settings.OPERATION_ROWS = 0
    flush.emit_post_migrate_signal = make_content_types


def make_content_types(verbosity: int, interactive: bool, database: str) -> None:
    """After a test with transactions of its own Django empties all tables, and would make its permissions again, too.

    No test asks for them, and making them takes most of 0.2 s.
    """
    from django.apps import apps
    from django.contrib.contenttypes.management import create_contenttypes
    from django.contrib.contenttypes.models import ContentType

    ContentType.objects.clear_cache()
    for app in apps.get_app_configs():
        create_contenttypes(app, verbosity=verbosity, interactive=interactive, using=database)


@pytest.fixture(scope="session")
def django_db_use_migrations() -> bool:
    """On PostgreSQL migrations make the tables.

    On SQLite they are made from the models, in an eighth of the time; ``test_upgrade`` tells that they are the same.
    """
    return "DATABASE_URL" in os.environ


@pytest.hookimpl(tryfirst=True)  # before xdist reads the names of groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that use rows are marked ``database``: ``make test-postgresql`` runs them on PostgreSQL, too.

    Each is given its turn, and those that take longest begin.
    """
    items.sort(key=lambda item: turn(item.path)[0])
    for item in items:
        item.add_marker(pytest.mark.xdist_group(turn(item.path)[1]))
        if item.get_closest_marker("django_db") or ROWS & set(getattr(item, "fixturenames", ())):
            item.add_marker("database")


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Nothing of what was imported and collected is garbage later: no collector looks through it again."""
    gc.freeze()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Where the time went: the folders whose tests took longest, in seconds of all processes together."""
    spent = Counter[str]()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                spent["/".join(report.nodeid.split("/")[:2]).partition("::")[0]] += report.duration
    if spent.total() > LONG_S:
        terminalreporter.section("slowest folders")
        for folder, seconds in spent.most_common(MOST_FOLDERS):
            terminalreporter.write_line(f"{seconds:7.0f} s  {folder}")


@dataclass(frozen=True)
class Stack:
    """A running house."""

    url: str
    username: str
    password: str
    var: Path


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """``python -m brokerweb.up`` with data of its own on a free port, ended as Ctrl-C ends it."""
    var = tmp_path_factory.mktemp("var")
    process = start_house(var)
    try:
        yield announced(process, var)
    finally:
        end_house(process)


def start_house(var: Path, **more: str) -> subprocess.Popen[str]:
    """Start an installation on ``var``; its output other than its two lines goes to ``up.stderr`` there.

    ``more`` is added to its environment.
    """
    # Tests listen, poll every 10 ms, and log in again and again.
    allowed = {"WAXWING_WEBHOOKS": "127.0.0.0/8", "WAXWING_REST_RATE": "0", "WAXWING_LOG_IN_RATE": "0"}
    allowed |= {"WAXWING_CONTEXT_RATE": "0"}
    allowed |= {"WAXWING_LEASE_S": str(BOUND_S // 3)}  # next to the suite, a worker may take a minute to start again
    environment = {**os.environ, **allowed, "WAXWING_VAR": str(var), **more}
    for name in ("REDIS_URL", "DJANGO_SETTINGS_MODULE"):
        environment.pop(name, None)
    with (var / "up.stderr").open("ab") as errors:
        return subprocess.Popen(
            [sys.executable, "-m", "brokerweb.up", "--port", "0"],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            preexec_fn=partial(die_with_parent, os.getpid()),  # a suite that is interrupted leaves no house behind
        )


def end_house(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGINT)
    try:
        process.wait(BOUND_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def announced(process: subprocess.Popen[str], var: Path) -> Stack:
    """The address and the log-in from its two lines; a failure shows what it said instead."""
    lines: Queue[str] = Queue()
    assert process.stdout is not None
    threading.Thread(target=lambda out: [lines.put(line) for line in out], args=[process.stdout], daemon=True).start()
    found: dict[str, list[str]] = {}
    while not {"ready", "login"} <= set(found):
        try:
            word, *rest = lines.get(timeout=BOUND_S).split()
        except Empty:
            pytest.fail(f"The house is not ready: {(var / 'up.stderr').read_text()[-3000:]}")
        found[word] = rest
        if process.poll() is not None:
            pytest.fail(f"The house ended: {(var / 'up.stderr').read_text()[-3000:]}")
    return Stack(found["ready"][0], *found["login"], var)
