from django.apps import AppConfig


class RadiatorConfig(AppConfig):
    name = "brokerweb.systems.radiator"

    def ready(self) -> None:
        from brokerweb.systems.radiator.web import RadiatorWeb
        from brokerweb.systems.registry import register
        from overlay.systems.radiator.system import SYSTEM

        register(SYSTEM.name, RadiatorWeb())
