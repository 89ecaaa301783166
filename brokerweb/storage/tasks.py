"""Celery task of retention."""

from celery import shared_task

from brokerweb.retention import removal


@shared_task(soft_time_limit=300, time_limit=330)
def look_after() -> None:
    """Measures new files and deletes expired ones."""
    removal.turn()
