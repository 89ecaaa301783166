"""``manage.py javascriptclient [--check]``: write the JavaScript client, or check that it is up to date."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from drf_spectacular.generators import SchemaGenerator

from brokerweb.api import javascript

WHERE = settings.BASE_DIR / "static" / "js" / "api"


class Command(BaseCommand):
    help = "Write static/js/api from the OpenAPI document."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is out of date")

    def handle(self, *args: Any, check: bool, **options: Any) -> None:
        made = javascript.files(SchemaGenerator().get_schema(public=True))
        stale = [name for name, text in made.items() if not _has(name, text)]
        if check and stale:
            raise CommandError(f"static/js/api is out of date ({', '.join(stale)}): run `make clients`")
        for name in stale:
            (WHERE / name).write_text(made[name])


def _has(name: str, text: str) -> bool:
    path = WHERE / name
    return path.exists() and path.read_text() == text
