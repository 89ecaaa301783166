"""``manage.py compare 'FILTER' --baseline 'FILTER' --metric p95``: the comparison for scripts and CI.

Exit codes: 0 no group is worse than the baseline, 1 at least one is worse, 2 invalid arguments.
"""

from __future__ import annotations

import json
import sys
from typing import Any
from urllib.parse import urlencode

from django.core.management.base import BaseCommand
from django.http import QueryDict
from django.utils import timezone

from brokerweb.comparison import exports, services
from brokerweb.comparison.query import read
from brokerweb.comparison.services import Comparison, Group
from overlay.core.errors import InvalidSetting
from telemetry.reports.grouping import WORSE, ends

_COLUMNS = "{:>4}  {:>5}  {:>30}  {:>34}  {:<19} {}"


class Command(BaseCommand):
    help = "Compares finished runs by configuration; exits with 1 if a group is worse than the baseline."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("filter", help="filter expression that selects runs")
        parser.add_argument(
            "--baseline", default="", help="configuration hash, or filter expression of the baseline's runs"
        )
        parser.add_argument(
            "--metric", default="", help="figure to compare with the baseline; default: the first of the runs' system"
        )
        parser.add_argument("--by", default="", help="one or two parameters to group by, comma-separated")
        parser.add_argument("--aggregate", default="", help="aggregate over the replicates: mean, median, min or max")
        parser.add_argument("--sort", default="", help="column to sort by; -column reverses the order")
        parser.add_argument("--json", action="store_true", help="print the complete result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        query = {name: options[name] for name in ("baseline", "metric", "by", "aggregate", "sort")}
        try:
            asked = read(QueryDict(urlencode({**query, "q": options["filter"]})))
            found = services.compare(asked, timezone.now())
            groups = services.ordered(found)
        except InvalidSetting as error:
            self.stderr.write(f"{'filter' if error.field == 'q' else error.field}: {error.sentence}")
            sys.exit(2)
        if options["json"]:
            whole = {**exports.summary(found), "results": [exports.entry(found, group) for group in groups]}
            self.stdout.write(json.dumps(whole, indent=2))
        else:
            self._tell(found, groups)
        if found.verdicts.get(WORSE):
            sys.exit(1)

    def _tell(self, found: Comparison, groups: list[Group]) -> None:
        measure = found.asked.measure
        self.stdout.write(f"{measure.title}, {found.asked.aggregate} of the replicates with 95 % interval")
        self.stdout.write(_COLUMNS.format("", "n", measure.name, "difference", "verdict", "configuration"))
        for group in groups:
            one, held = group.estimates[measure.name], group.difference
            word = held.verdict if held else "baseline" if group.is_baseline else ""
            difference = f"{measure.difference(held.value)} {ends(held, measure)}" if held else ""
            figure = f"{measure.text(one.value)} {ends(one, measure)}"
            row = (group.number, one.n, figure.strip(), difference.strip(), word, group.label)
            self.stdout.write(_COLUMNS.format(*row).rstrip())
        if found.baseline:
            verdicts = ", ".join(f"{count} {word}" for word, count in found.verdicts.items() if count)
            self.stdout.write(
                f"Against {found.baseline.label} ({found.baseline.runs} runs): {verdicts or 'no other group'}."
            )
