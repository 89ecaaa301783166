from typing import Any

from django.apps import AppConfig
from django.conf import settings


class ApiConfig(AppConfig):
    name = "brokerweb.api"

    def ready(self) -> None:
        """Name the enumerations of systems in the OpenAPI document."""
        from brokerweb.systems.registry import webs

        names: Any = settings.SPECTACULAR_SETTINGS["ENUM_NAME_OVERRIDES"]
        for web in webs():
            names.update(web.enums)
