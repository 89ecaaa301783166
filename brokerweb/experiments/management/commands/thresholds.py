"""``manage.py thresholds NAME 'p95 < 2ms' 'not_found = 0'``: shows or sets the thresholds of an experiment.

Exit codes: 0 no finished run broke a threshold, 1 unknown experiment, 2 invalid threshold, 4 some run broke one.
"""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from brokerweb.experiments import evaluation
from brokerweb.experiments.models import Experiment
from overlay.core.errors import InvalidSetting
from telemetry.cli.sweep import BROKEN

WRONG = 2


class Command(BaseCommand):
    help = "Shows the thresholds of an experiment and their results; with thresholds or --none, sets them first."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("experiment", help="id or name; if several have the name, the latest")
        parser.add_argument("thresholds", nargs="*", help="complete list of thresholds, such as 'p95 < 2ms'")
        parser.add_argument("--none", action="store_true", help="remove all thresholds")

    def handle(self, *args: Any, **options: Any) -> None:
        named, texts = options["experiment"], options["thresholds"]
        if texts and options["none"]:
            raise CommandError("give either thresholds or --none")
        rows = Experiment.objects.order_by("-created")
        experiment = rows.filter(pk=named).first() or rows.filter(name=named).first()
        if experiment is None:
            raise CommandError(f"no experiment is named {named!r:.80}")
        try:
            sets = texts or options["none"]
            came_to = evaluation.demand(experiment, texts) if sets else self._as_it_is(experiment)
        except InvalidSetting as error:
            self.stderr.write(str(error))
            sys.exit(WRONG)
        self.stdout.write(", ".join(evaluation.demands(experiment)) or "no thresholds")
        self.stdout.write(f"{came_to.kept} runs passed, {came_to.broken} failed")
        if came_to.broken:
            sys.exit(BROKEN)

    @staticmethod
    def _as_it_is(experiment: Experiment) -> evaluation.Outcome:
        return evaluation.tried(experiment, evaluation.demands(experiment))
