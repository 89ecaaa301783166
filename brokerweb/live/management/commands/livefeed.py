"""``manage.py livefeed``: sends snapshots of this host's live runs, probes and announces its networks, and checks their
alarms.
"""

import asyncio
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from brokerweb.alarms.evaluation import Watch
from brokerweb.live.feed import run_for_ever
from brokerweb.networks.probing import Probing


class Command(BaseCommand):
    help = "Sends a snapshot of each live run of this host every second, probes its networks, and checks their alarms."

    def handle(self, *args: Any, **options: Any) -> None:
        watch = Watch()
        Probing(watch.closed, watch.rest).start()
        with _announcing(), suppress(KeyboardInterrupt):
            asyncio.run(run_for_ever())


@contextmanager
def _announcing() -> Iterator[None]:
    """Announce this host's networks meanwhile, if the settings say where."""
    if not settings.ANNOUNCE:
        yield
        return
    from brokerweb.networks.announcing import Announcing  # with its library, which others need not carry

    announcing = Announcing(settings.HOST_NAME, settings.ANNOUNCE)
    announcing.start()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # so that what is announced is withdrawn
    try:
        yield
    finally:
        announcing.close()
