"""Celery task of simulated runs."""

from celery import shared_task

from brokerweb.simulations import job


@shared_task
def simulate() -> None:
    """On the queue ``spark``, whose worker runs one task at a time."""
    job.compute()
