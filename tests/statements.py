"""Which tests run on PostgreSQL: few that together make every statement that any test makes.

A plugin of pytest. ``make test`` notes which statements each test makes to SQLite, as the ORM writes them, without
their values. ``make test-postgresql`` takes tests of these until each statement is made by ``EACH`` of them, further
those that use transactions or threads of their own, and all of which nothing was noted. In complete runs it takes all.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from heapq import heapify, heappop, heappush
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import pytest

from tests.again import selected
from tests.thorough import THOROUGH
from tests.turns import ROOT

RECORD = ROOT.parent / ".pytest_cache" / "statements"
"""A JSON file of each process, with what it noted by the name of the test."""
EACH = 2
ON_ROWS = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")
_LIST = re.compile(r"\(%s(?:, %s)+\)(?:, \(%s(?:, %s)+\))*")
_VALUE = re.compile(r"\b\d+\b|\bs\d+_x\d+\b")


class Noted(NamedTuple):
    """Of one test."""

    statements: frozenset[int]
    is_alone: bool
    """Whether it uses transactions of its own, not one that is rolled back at its end."""


def shape(sql: str) -> int:
    """The same for statements that differ in values, or in how many values a list has."""
    return crc32(_VALUE.sub("0", _LIST.sub("(%s)", sql)).encode())


def chosen(noted: Mapping[str, Noted], each: int = EACH) -> set[str]:
    """Tests that make each statement ``each`` times, or as often as there are tests that make it, and those alone."""
    found = {name for name, one in noted.items() if one.is_alone}
    lacking = Counter(statement for one in noted.values() for statement in one.statements)
    lacking = Counter({statement: min(each, tests) for statement, tests in lacking.items()})
    for name in found:
        lacking.subtract(noted[name].statements)

    def gain(name: str) -> int:
        return sum(lacking[statement] > 0 for statement in noted[name].statements)

    # What a test gains only becomes less, so one that still gains as much as the next did before is the best.
    rest = [(-gain(name), name) for name in noted.keys() - found]
    heapify(rest)
    while rest:
        before, name = heappop(rest)
        now = -gain(name)
        if now > before:
            heappush(rest, (now, name))
        elif now:
            found.add(name)
            lacking.subtract(noted[name].statements)
    return found


def read(record: Path = RECORD) -> dict[str, Noted]:
    noted = {}
    for path in record.glob("*.json"):
        for name, (statements, is_alone) in json.loads(path.read_text()).items():
            noted[name] = Noted(frozenset(statements), is_alone)
    return noted


class Noting:
    """Notes the statements of each test of this process."""

    def __init__(self, process: str) -> None:
        from django.db.backends.signals import connection_created

        self._path = RECORD / f"{process}.json"
        self._noted: dict[str, Noted] = {}
        self._statements: set[int] = set()
        connection_created.connect(self._listen)

    def _listen(self, connection: Any, **_: Any) -> None:
        if self._hear not in connection.execute_wrappers:
            connection.execute_wrappers.append(self._hear)

    def _hear(self, execute: Callable[..., Any], sql: str, *more: Any) -> Any:
        if sql.startswith(ON_ROWS):
            self._statements.add(shape(sql))
        return execute(sql, *more)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._statements.clear()
        try:
            return (yield)
        finally:
            made = self._statements if is_run_there(item) else ()
            self._noted[selected(item.nodeid)] = Noted(frozenset(made), is_alone(item))

    def pytest_sessionfinish(self) -> None:
        RECORD.mkdir(parents=True, exist_ok=True)
        self._path.write_text(json.dumps({name: [sorted(one[0]), one[1]] for name, one in self._noted.items()}))


class Choosing:
    """Leaves out tests whose statements others make, and does not read files that have only such tests."""

    def __init__(self) -> None:
        self._noted = read()
        self._chosen = chosen(self._noted)
        files = {name.partition("::")[0] for name in self._noted}
        self._skipped = files - {name.partition("::")[0] for name in self._chosen}

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        file = collection_path.relative_to(ROOT.parent).as_posix()
        return True if file in self._skipped else None

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        names = {item: selected(item.nodeid) for item in items}
        left_out = [item for item in items if names[item] in self._noted and names[item] not in self._chosen]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]


def is_run_there(item: pytest.Item) -> bool:
    return item.get_closest_marker("database") is not None and item.get_closest_marker("browser") is None


def is_alone(item: pytest.Item) -> bool:
    marker = item.get_closest_marker("django_db")
    return bool(marker and marker.kwargs.get("transaction")) or "transactional_db" in getattr(item, "fixturenames", ())


def pytest_configure(config: pytest.Config) -> None:
    process = getattr(config, "workerinput", {}).get("workerid", "")
    if os.environ.get("DATABASE_URL"):
        if not THOROUGH:
            config.pluginmanager.register(Choosing())
    else:
        if not process:
            shutil.rmtree(RECORD, ignore_errors=True)
        config.pluginmanager.register(Noting(process or "main"))
