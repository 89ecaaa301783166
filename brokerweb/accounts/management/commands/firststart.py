"""``manage.py firststart``: what a fresh house needs and shows; harmless when done again."""

from typing import Any

from django.core.management.base import BaseCommand

from brokerweb.demo import first_start


class Command(BaseCommand):
    help = "Makes the operator, the demo topologies and the demo experiment where they are missing. Prints nothing."

    def handle(self, *args: Any, **options: Any) -> None:
        first_start()
