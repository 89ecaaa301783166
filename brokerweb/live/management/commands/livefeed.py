"""``manage.py livefeed``: sends the snapshots of this host's live runs."""

import asyncio
from contextlib import suppress
from typing import Any

from django.core.management.base import BaseCommand

from brokerweb.live.feed import run_for_ever


class Command(BaseCommand):
    help = "Makes a snapshot of each live run of this host once a second and sends it to whoever watches."

    def handle(self, *args: Any, **options: Any) -> None:
        with suppress(KeyboardInterrupt):
            asyncio.run(run_for_ever())
