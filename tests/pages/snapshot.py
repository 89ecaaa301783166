"""The rows and files that a function made, kept so that other tests get them without calling it again."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management.color import no_style
from django.db import connection
from django.db.models import Model

Rows = dict[type[Model], list[tuple[Any, ...]]]


class Snapshot:
    """The rows that are in the database and not in ``before``, and a copy of ``var`` at ``kept``.

    Rows are read and written in SQL: a model would set the time of creation again.
    """

    def __init__(self, before: Rows, var: Path, kept: Path) -> None:
        self._rows = {
            model: sorted(set(rows) - set(before[model]), key=rows.index) for model, rows in all_rows().items()
        }
        self._kept = kept
        shutil.copytree(var, kept)

    def restore(self, var: Path) -> None:
        """Insert the rows, and copy the files into ``var``."""
        with connection.cursor() as cursor:
            for model, rows in self._rows.items():
                places = ", ".join(["%s"] * len(_columns(model)))
                sql = f"INSERT INTO {_name(model._meta.db_table)} ({', '.join(_columns(model))}) VALUES ({places})"
                if rows:
                    cursor.executemany(sql, rows)
            for statement in connection.ops.sequence_reset_sql(
                no_style(), [m for m, rows in self._rows.items() if rows]
            ):
                cursor.execute(statement)
        shutil.copytree(self._kept, var, dirs_exist_ok=True)


def all_rows() -> Rows:
    """Every row of every model, without generated columns."""
    found: Rows = {}
    with connection.cursor() as cursor:
        for model in apps.get_models(include_auto_created=True):
            cursor.execute(f"SELECT {', '.join(_columns(model))} FROM {_name(model._meta.db_table)}")
            found[model] = cursor.fetchall()
    return found


def _columns(model: type[Model]) -> list[str]:
    return [_name(field.column) for field in model._meta.concrete_fields if not field.generated]


def _name(name: str) -> str:
    return connection.ops.quote_name(name)
