"""Export of a list of runs: same columns and order, units in the names, full precision."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import QuerySet

from brokerweb.experiments.models import Run
from brokerweb.kit.tables import Table, checked, written
from brokerweb.runlist import columns
from brokerweb.runlist.columns import Column, Read, change_of
from overlay.core.errors import InvalidSetting

MOST_ROWS = 10_000

_FIRST: tuple[tuple[str, Read], ...] = (
    ("run", lambda run: str(run.pk)),
    ("experiment", lambda run: run.experiment.name),
    ("engine", lambda run: str(run.engine)),
    ("changed", change_of),
)
"""Columns that identify a row, always included."""


def exported(rows: QuerySet[Run], chosen: Sequence[Column], form: str) -> bytes:
    """``rows`` as a file in the format ``form``. Raises ``InvalidSetting``."""
    checked(form)
    count = rows.count()
    if count > MOST_ROWS:
        raise InvalidSetting("q", f"matches {count:,} runs; an export has at most {MOST_ROWS:,}; narrow the filter")
    return written(table_of(rows, chosen), form)


def table_of(rows: QuerySet[Run], chosen: Sequence[Column]) -> Table:
    """One row per run."""
    reads = list(_FIRST)
    for column in chosen:
        reads += [(name, read) for name, read in column.exported if name not in [known for known, _ in reads]]
    found = columns.reading(rows, chosen)
    return Table([name for name, _ in reads], [[read(run) for _, read in reads] for run in found])
