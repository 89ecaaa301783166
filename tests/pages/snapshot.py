"""The rows and files that a function made, kept so that other tests get them without calling it again."""

from __future__ import annotations

import pickle
import re
import shutil
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management.color import no_style
from django.db import connection
from django.db.models import CharField, Model

Rows = dict[type[Model], list[tuple[Any, ...]]]


class Snapshot:
    """The rows that are in the database and not in ``before``, a copy of ``var`` at ``kept``, and ``made``, any value.

    Rows are read and written in SQL: a model would set the time of creation again. All are bytes, in which each restore
    gives new ids of the same length, since the process remembers what it knows of a run or a report by its id.
    """

    def __init__(self, before: Rows, var: Path, kept: Path, made: Any) -> None:
        new = {model: sorted(set(rows) - set(before[model]), key=rows.index) for model, rows in all_rows().items()}
        self._ids = {row[0]: model for model, rows in new.items() if _has_text_id(model) for row in rows}
        self._pattern = re.compile("|".join(self._ids).encode())
        self._bytes = pickle.dumps(({model._meta.label: rows for model, rows in new.items() if rows}, made))
        self._kept = kept
        shutil.copytree(var, kept)

    def restore(self, var: Path) -> Any:
        """Insert the rows, copy the files into ``var``, and return what was made."""
        ids = {old.encode(): model._meta.pk.get_default().encode() for old, model in self._ids.items()}
        rows, made = pickle.loads(self._renamed(self._bytes, ids))
        with connection.cursor() as cursor:
            for label, those in rows.items():
                model = apps.get_model(label)
                places = ", ".join(["%s"] * len(_columns(model)))
                sql = f"INSERT INTO {_name(model._meta.db_table)} ({', '.join(_columns(model))}) VALUES ({places})"
                cursor.executemany(sql, those)
            for statement in connection.ops.sequence_reset_sql(no_style(), [apps.get_model(label) for label in rows]):
                cursor.execute(statement)
        for path in filter(Path.is_file, self._kept.rglob("*")):
            to = var / self._renamed(bytes(path.relative_to(self._kept)), ids).decode()
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(self._renamed(path.read_bytes(), ids) if path.suffix == ".json" else path.read_bytes())
        return made

    def _renamed(self, data: bytes, ids: dict[bytes, bytes]) -> bytes:
        return self._pattern.sub(lambda found: ids[found[0]], data)


def all_rows() -> Rows:
    """Every row of every model, without generated columns."""
    found: Rows = {}
    with connection.cursor() as cursor:
        for model in apps.get_models(include_auto_created=True):
            cursor.execute(f"SELECT {', '.join(_columns(model))} FROM {_name(model._meta.db_table)}")
            found[model] = cursor.fetchall()
    return found


def _has_text_id(model: type[Model]) -> bool:
    pk = model._meta.pk
    return isinstance(pk, CharField) and pk.has_default() and model._meta.concrete_fields[0] is pk


def _columns(model: type[Model]) -> list[str]:
    return [_name(str(field.column)) for field in model._meta.concrete_fields if not field.generated]


def _name(name: str) -> str:
    return connection.ops.quote_name(name)
