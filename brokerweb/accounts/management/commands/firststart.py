"""``manage.py firststart``: creates the operator and the demo data of a new installation. Idempotent."""

from typing import Any

from django.core.management.base import BaseCommand

from brokerweb.demo import first_start


class Command(BaseCommand):
    help = "Creates the operator, the demo topologies and the demo experiment if they are missing. Prints nothing."

    def handle(self, *args: Any, **options: Any) -> None:
        first_start()
