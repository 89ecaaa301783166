"""What holds the queue: somebody paused it, or the disk is nearly full. What runs goes on meanwhile."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction

from brokerweb.experiments import asking
from brokerweb.experiments.models import QueuePause
from brokerweb.storage import room


def current() -> QueuePause | None:
    """The pause, while there is one."""
    return QueuePause.objects.select_related("by").order_by("since").first()


def pause(by: User | None = None) -> QueuePause:
    """Holds whatever is queued from now on. A pause that is there already stays as it is."""
    with transaction.atomic():  # IMMEDIATE: two who press at once make one pause
        return current() or QueuePause.objects.create(by=by)


def resume() -> None:
    """Lets the queue go on; done twice, the second does nothing."""
    QueuePause.objects.all().delete()
    transaction.on_commit(asking.launch_next)


def why_held() -> str:
    """What keeps every queued run from being launched now, as a phrase; empty where nothing does."""
    if found := current():
        return in_words(found)
    return room.refusal()


def in_words(found: QueuePause) -> str:
    """As a phrase for whoever waits."""
    by = f" by {found.by.get_username()}" if found.by else ""
    return f"the queue is paused since {found.since:%Y-%m-%d %H:%M} UTC{by}"
