"""Celery's doors to notifications."""

import logging

from celery import shared_task
from django.utils import timezone
from kombu.exceptions import OperationalError

from brokerweb.notices import delivering, watching

log = logging.getLogger(__name__)


@shared_task(soft_time_limit=20, time_limit=30)
def look_after() -> None:
    """Sees what happened, and has what is due delivered."""
    now = timezone.now()
    watching.look(now)
    watching.forget(now)
    if delivering.is_due(now):
        try:
            deliver.apply_async(expires=30)
        except OperationalError as error:
            log.warning("deliveries could not be queued and will be asked for again: %s", error)


@shared_task(soft_time_limit=60, time_limit=90)
def deliver() -> None:
    """Tries what is due."""
    delivering.deliver_due()
