from django.apps import AppConfig


class ContextBrokerConfig(AppConfig):
    name = "brokerweb.systems.context_broker"

    def ready(self) -> None:
        from brokerweb.systems.context_broker.web import ContextBrokerWeb
        from brokerweb.systems.registry import register
        from overlay.systems.context_broker.system import SYSTEM

        register(SYSTEM.name, ContextBrokerWeb())
