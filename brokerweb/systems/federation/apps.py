from django.apps import AppConfig


class FederationConfig(AppConfig):
    name = "brokerweb.systems.federation"
    label = "federation"

    def ready(self) -> None:
        from brokerweb.systems.federation.web import FederationWeb
        from brokerweb.systems.registry import register
        from overlay.systems.federation.system import SYSTEM

        register(SYSTEM.name, FederationWeb())
