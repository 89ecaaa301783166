"""What becomes of subscriptions, counted in memory and added to their rows. Blocking, but for ``Tally``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from channels.db import database_sync_to_async
from django.db.models import F

from brokerweb.hosting.models import Delivered


def in_thread(function: Callable[..., Any]) -> Callable[..., Any]:
    found: Callable[..., Any] = database_sync_to_async(function, thread_sensitive=False)
    return found


@dataclass(slots=True)
class Tally:
    """What became of a subscription since it was stored last."""

    notified: int = 0
    delivered: int = 0
    given_up: int = 0
    last_notified: datetime | None = None
    last_failure: datetime | None = None
    failure: str = ""


def add(subscriptions: type[Delivered], tallies: Iterable[tuple[str, Tally]]) -> None:
    """Those of rows that are gone are not counted."""
    for id, tally in tallies:
        counts = {name: F(name) + getattr(tally, name) for name in ("notified", "delivered", "given_up")}
        times = {name: at for name in ("last_notified", "last_failure") if (at := getattr(tally, name)) is not None}
        failure: dict[str, Any] = {"failure": tally.failure[:500]} if tally.failure else {}
        subscriptions._default_manager.filter(pk=id).update(**counts, **times, **failure)
