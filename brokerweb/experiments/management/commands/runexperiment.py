"""``manage.py runexperiment NAME``: runs an experiment without Celery, for debugging.

Under ``make up`` the worker executes the runs and this command only launches and watches. Otherwise this process does
the worker's job in the foreground, and ends the supervisor that it started.

Exit codes: 0 all runs are done and passed their thresholds, 1 some are not done, 4 all are done and some broke a
threshold.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError

from brokerweb.celery import app
from brokerweb.control.reconciler import Reconciler
from brokerweb.experiments import services
from brokerweb.experiments.models import Experiment, Run, RunState
from brokerweb.experiments.states import UNFINISHED
from brokerweb.networks.services import worker_missing
from overlay.core.errors import InvalidSetting
from overlay.runtime.lifeline import LIFELINE_FD
from telemetry.cli.sweep import BROKEN, FAILED, WENT_WELL
from telemetry.systems.registry import measures_of
from telemetry.thresholds import broken


class Command(BaseCommand):
    help = "Launches the latest experiment with this name and runs it to completion, without Celery."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("name")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            experiment = Experiment.objects.filter(name=options["name"]).order_by("-created").first()
        except OperationalError as error:
            raise CommandError(f"the database has no tables ({error}); run manage.py migrate") from None
        if experiment is None:
            raise CommandError(f"no experiment is named {options['name']!r}")
        try:
            launched = services.launch(experiment)
        except InvalidSetting as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{launched.count} runs, about {launched.estimated_s:.0f} s")
        ids = [run.pk for run in launched.runs]
        if worker_missing(settings.HOST_NAME):
            self._work(ids)
        else:
            self._watch(ids, lambda: time.sleep(1))
        if code := _code(ids):
            sys.exit(code)

    def _work(self, ids: list[str]) -> None:
        """Does the worker's job."""
        app.conf.task_always_eager = True
        app.loader.import_default_modules()  # registers tasks, which are called by name
        held, own_end = os.pipe()  # the supervisor exits with this process in any case
        os.environ[LIFELINE_FD] = str(held)
        reconciler = Reconciler()
        try:
            self._watch(ids, reconciler.step)
        finally:
            os.close(own_end)

    def _watch(self, ids: list[str], step: Any) -> None:
        told: dict[str, str] = {}
        while True:
            step()
            runs = list(Run.objects.filter(pk__in=ids).order_by("position"))
            for run in runs:
                if told.get(run.pk) != run.state:
                    told[run.pk] = run.state
                    self.stdout.write(f"{run.position:4}  {run.pk}  {run.state:10}  {self._words(run)}")
            if not any(run.state in UNFINISHED for run in runs):
                return

    @staticmethod
    def _words(run: Run) -> str:
        topology = run.configuration["topology"]["name"]
        mean = run.summary.get("mean_us")
        measured = f", mean {mean:.0f} µs, {run.verdict}" if mean is not None else ""
        broke = f", broke {broken(run.thresholds, measures_of(run.system))}" if run.passed is False else ""
        return f"{topology}, replicate {run.replicate}{measured}{broke} {run.reason}".rstrip()


def _code(ids: list[str]) -> int:
    runs = Run.objects.filter(pk__in=ids)
    if runs.exclude(state=RunState.DONE).exists():
        return FAILED
    return BROKEN if runs.filter(passed=False).exists() else WENT_WELL
