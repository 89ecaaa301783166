"""``manage.py livefeed``: sends snapshots of this host's live runs, and probes its networks."""

import asyncio
from contextlib import suppress
from typing import Any

from django.core.management.base import BaseCommand

from brokerweb.live.feed import run_for_ever
from brokerweb.networks.probing import Probing


class Command(BaseCommand):
    help = "Sends a snapshot of each live run of this host every second, and probes its networks."

    def handle(self, *args: Any, **options: Any) -> None:
        Probing().start()
        with suppress(KeyboardInterrupt):
            asyncio.run(run_for_ever())
