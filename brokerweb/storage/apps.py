from django.apps import AppConfig
from django.db.backends.signals import connection_created


class StorageConfig(AppConfig):
    name = "brokerweb.storage"

    def ready(self) -> None:
        from brokerweb.storage import reserve

        connection_created.connect(reserve.hold)
        connection_created.connect(reserve.guard)
