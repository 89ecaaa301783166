"""``manage.py runs 'topology = ring and p95 < 2ms'``: lists runs in a terminal, for people and scripts.

Exit codes: 0 at least one run matches, 1 none matches, 2 the filter or a column is invalid.
"""

from __future__ import annotations

import csv
import json
import sys
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from brokerweb.experiments.models import Run
from brokerweb.runlist import columns, exports, listing
from brokerweb.runlist.columns import COLUMNS, Column
from overlay.core.errors import InvalidSetting
from telemetry.filters import InvalidFilter, pointed

DEFAULT = ("state", "topology", "clients", "mean", "p95", "passed", "tags", "ended")


class Command(BaseCommand):
    help = "Lists the runs that match a filter; see docs/filters.md for the syntax."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument(
            "filter", nargs="?", default="", help="filter expression, such as 'topology = ring and p95 < 2ms'"
        )
        parser.add_argument(
            "--columns", default=",".join(DEFAULT), help="comma-separated columns (default: %(default)s)"
        )
        parser.add_argument("--sort", default="", help="column to sort by; - sorts the largest first: --sort=-p95")
        parser.add_argument(
            "--limit", type=int, default=exports.MOST_ROWS, help="maximum number of runs (default: all)"
        )
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="JSON objects with full precision")
        form.add_argument("--csv", action="store_true", help="CSV with full precision and units in the names")

    def handle(self, *args: Any, **options: Any) -> None:
        query = {"q": options["filter"], "columns": options["columns"], "sort": options["sort"]}
        asked = listing.read(query)
        try:
            if asked.problems:
                raise asked.problems[0]
            rows = asked.rows(timezone.now())[: max(0, min(options["limit"], exports.MOST_ROWS))]
        except InvalidFilter as error:
            self._refuse(f"{pointed(asked.text, error.position)}\n{error.sentence}")
        except InvalidSetting as error:
            self._refuse(str(error))
        table = exports.table_of(rows, asked.columns)
        if options["json"]:
            self.stdout.write(json.dumps(table.objects(), ensure_ascii=False, indent=1))
        elif options["csv"]:
            writer = csv.writer(self.stdout, lineterminator="\n")
            writer.writerows([table.names, *table.rows])
        else:
            self._table(list(columns.reading(rows, asked.columns)), asked.columns)
        if not table.rows:
            sys.exit(1)

    def _refuse(self, sentence: str) -> None:
        self.stderr.write(sentence)
        sys.exit(2)

    def _table(self, runs: list[Run], shown: Any) -> None:
        heads = ["run", *(column.name for column in shown)]
        lines = [heads, *([run.pk, *(_text(column, run) for column in shown)] for run in runs)]
        widths = [max(len(line[index]) for line in lines) for index in range(len(heads))]
        is_number = [False, *(COLUMNS[name].is_number for name in heads[1:])]
        for line in lines:
            cells = [
                text.rjust(width) if right else text.ljust(width)
                for text, width, right in zip(line, widths, is_number, strict=True)
            ]
            self.stdout.write("  ".join(cells).rstrip())


def _text(column: Column, run: Run) -> str:
    """As on the page; several values in one cell are separated by a slash."""
    if len(column.exported) == 1:
        return column.text(run).replace("\u202f", " ")
    values = [read(run) for _, read in column.exported]
    return "/".join(f"{value:.0f}" if isinstance(value, float) else str(value) for value in values if value is not None)
