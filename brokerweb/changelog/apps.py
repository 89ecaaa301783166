from importlib import import_module

from django.apps import AppConfig


class ChangelogConfig(AppConfig):
    name = "brokerweb.changelog"

    def ready(self) -> None:
        import_module("brokerweb.changelog.edits")  # registers its signal receivers
