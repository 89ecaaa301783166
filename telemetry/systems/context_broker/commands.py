"""The commands of ``python -m telemetry`` for seed 000."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from datetime import datetime

from telemetry.systems.context_broker.lab import copies_command as copies
from telemetry.systems.context_broker.search_table import command as search_table
from telemetry.systems.contract import Command

Say = Callable[[str], None]


def _search_table(given: Namespace, say: Say, now: datetime) -> Iterator[object]:
    yield search_table.make(given, say, now)


def _copies(given: Namespace, say: Say, now: datetime) -> Iterator[object]:
    yield from copies.table(given)


COMMANDS = (
    Command("search-table", "measure every search strategy on every topology", search_table.add_flags, _search_table),
    Command("copies", "count the copies under each replication strategy", copies.add_flags, _copies),
)
