"""Celery tasks of experiments: short and idempotent. Return values appear in the worker's log."""

from celery import shared_task
from django.utils import timezone

from brokerweb.control import task_actions
from brokerweb.control.reaping import Reaper
from brokerweb.experiments import collection

_reaper = Reaper()
"""One reaper per worker process; the task runs every few seconds."""


@shared_task(name="runs.launch_run", soft_time_limit=20, time_limit=30)
def launch_run(run_id: str) -> str:
    return task_actions.launch_run(run_id)


@shared_task(name="runs.stop_run", soft_time_limit=20, time_limit=30)
def stop_run(run_id: str) -> str:
    return task_actions.stop_run(run_id)


@shared_task(soft_time_limit=600, time_limit=660)
def collect(run_id: str) -> None:
    collection.collect_run(run_id)


@shared_task(soft_time_limit=20, time_limit=30)
def reconcile() -> None:
    """Ends runs that lost their worker, and queues lost tasks again."""
    from brokerweb.reports import queue as reports
    from brokerweb.simulations import queue as simulations

    _reaper.look(timezone.now())
    reports.ask_due()
    simulations.ask_due()
