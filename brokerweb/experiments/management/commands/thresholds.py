"""``manage.py thresholds NAME 'p95 < 2ms' 'not_found = 0'``: what each run of an experiment must keep, set and told.

Exit code 0 no run that is done broke one, 1 there is no such experiment, 2 a threshold is wrong, 4 some run broke one.
"""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from brokerweb.experiments import judging
from brokerweb.experiments.models import Experiment
from overlay.core.errors import InvalidSetting
from telemetry.cli.sweep import BROKEN

WRONG = 2


class Command(BaseCommand):
    help = "Tells the thresholds of an experiment and what came of them; with some, or --none, sets them before."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("experiment", help="its id or its name; of several of a name the newest")
        parser.add_argument("thresholds", nargs="*", help="such as 'p95 < 2ms': all that each run must keep")
        parser.add_argument("--none", action="store_true", help="take them all away: its runs are only measured")

    def handle(self, *args: Any, **options: Any) -> None:
        named, texts = options["experiment"], options["thresholds"]
        if texts and options["none"]:
            raise CommandError("give either thresholds or --none")
        rows = Experiment.objects.order_by("-created")
        experiment = rows.filter(pk=named).first() or rows.filter(name=named).first()
        if experiment is None:
            raise CommandError(f"there is no experiment called {named!r:.80}")
        try:
            sets = texts or options["none"]
            came_to = judging.demand(experiment, texts) if sets else self._as_it_is(experiment)
        except InvalidSetting as error:
            self.stderr.write(str(error))
            sys.exit(WRONG)
        self.stdout.write(", ".join(judging.demands(experiment)) or "no thresholds")
        self.stdout.write(f"{came_to.kept} runs kept them, {came_to.broken} did not")
        if came_to.broken:
            sys.exit(BROKEN)

    @staticmethod
    def _as_it_is(experiment: Experiment) -> judging.Outcome:
        return judging.tried(experiment, judging.demands(experiment))
