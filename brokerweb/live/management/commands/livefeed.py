"""``manage.py livefeed``: sends snapshots of this host's live runs, probes its networks, and checks their alarms."""

import asyncio
from contextlib import suppress
from typing import Any

from django.core.management.base import BaseCommand

from brokerweb.alarms.evaluation import Watch
from brokerweb.live.feed import run_for_ever
from brokerweb.networks.probing import Probing


class Command(BaseCommand):
    help = "Sends a snapshot of each live run of this host every second, probes its networks, and checks their alarms."

    def handle(self, *args: Any, **options: Any) -> None:
        Probing(Watch().closed).start()
        with suppress(KeyboardInterrupt):
            asyncio.run(run_for_ever())
