from django.apps import AppConfig


class SilbopsConfig(AppConfig):
    name = "brokerweb.systems.silbops"
    label = "silbops"

    def ready(self) -> None:
        from brokerweb.systems.registry import register
        from brokerweb.systems.silbops.web import SilbopsWeb
        from overlay.systems.silbops.system import SYSTEM

        register(SYSTEM.name, SilbopsWeb())
