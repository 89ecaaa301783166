"""Celery tasks of notifications."""

import logging

from celery import shared_task
from django.utils import timezone
from kombu.exceptions import OperationalError

from brokerweb.notices import deliveries, detection

log = logging.getLogger(__name__)


@shared_task(soft_time_limit=20, time_limit=30)
def look_after() -> None:
    """Detects events and queues due deliveries."""
    now = timezone.now()
    detection.look(now)
    detection.forget(now)
    if deliveries.is_due(now):
        try:
            deliver.apply_async(expires=30)
        except OperationalError as error:
            log.warning("deliveries could not be queued; retrying later: %s", error)


@shared_task(soft_time_limit=60, time_limit=90)
def deliver() -> None:
    """Attempts due deliveries."""
    deliveries.deliver_due()
