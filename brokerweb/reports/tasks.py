"""Celery tasks of reports."""

from celery import shared_task

from brokerweb.reports import job, schedules


@shared_task
def run_report(report_id: str) -> None:
    """On the queue ``spark``, whose worker runs one task at a time."""
    job.compute(report_id)


@shared_task(soft_time_limit=20, time_limit=30)
def make_scheduled_report(schedule_id: str) -> None:
    """The task named in every schedule's row, for all actions."""
    schedules.fire(schedule_id)
