from django.apps import AppConfig


class ContextNetConfig(AppConfig):
    name = "brokerweb.systems.contextnet"
    label = "contextnet"

    def ready(self) -> None:
        from brokerweb.systems.contextnet.web import ContextNetWeb
        from brokerweb.systems.registry import register
        from overlay.systems.contextnet.system import SYSTEM

        register(SYSTEM.name, ContextNetWeb())
