"""Holding the queue: by a user's pause, or because the disk is nearly full. Active runs continue."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction

from brokerweb.changelog.recording import say
from brokerweb.experiments import launch_tasks
from brokerweb.experiments.models import QueuePause
from brokerweb.storage import free_space


def current() -> QueuePause | None:
    """The current pause, if any."""
    return QueuePause.objects.select_related("by").order_by("since").first()


def pause(by: User | None = None) -> QueuePause:
    """Pause the queue. An existing pause is not changed."""
    with transaction.atomic():  # IMMEDIATE: two concurrent requests create one pause
        if found := current():
            return found
        say("queue", "queue", "Queue of runs", "pause", by=by)
        return QueuePause.objects.create(by=by)


def resume() -> None:
    """Resume the queue. Idempotent."""
    with transaction.atomic():
        if QueuePause.objects.all().delete()[0]:
            say("queue", "queue", "Queue of runs", "resume")
    transaction.on_commit(launch_tasks.launch_next)


def why_held() -> str:
    """The reason queued runs are held, as a phrase; empty if they are not."""
    if found := current():
        return in_words(found)
    return free_space.refusal()


def in_words(found: QueuePause) -> str:
    """A pause as a phrase."""
    by = f" by {found.by.get_username()}" if found.by else ""
    return f"the queue has been paused since {found.since:%Y-%m-%d %H:%M} UTC{by}"
